import SatchelCore
import Foundation
import Testing

/// What a terminal would act on instead of showing it.
@Suite struct InvisibleTests {
    private static let name = "a\u{202E}gpj.\u{1B}[31m\u{200B}\u{E0041}\u{2028}é東👍\u{FE0F}\n"

    @Test func `what is invisible is escaped for people`() {
        #expect(
            Self.name.showingInvisible(but: "\n")
                == "a\\u{202E}gpj.\\u{1B}[31m\\u{200B}\\u{000E0041}\\u{2028}é東👍\u{FE0F}\n")
        #expect("IMG_0042 Größe 東京.jpg".showingInvisible() == "IMG_0042 Größe 東京.jpg")
    }

    @Test func `JSON for people escapes it too, and is read as the same; a line of it is exact`() throws {
        let pretty = try JSON.text([Self.name], pretty: true)
        #expect(pretty.lowercased().contains("a\\u202egpj.\\u001b[31m\\u200b\\udb40\\udc41"), "\(pretty)")
        #expect(!pretty.unicodeScalars.contains { $0.isInvisible && $0 != "\n" })
        #expect(try JSON.decode([String].self, from: Data(pretty.utf8)) == [Self.name])
        #expect(try JSON.text([Self.name]).contains("\u{202E}"))
    }
}
