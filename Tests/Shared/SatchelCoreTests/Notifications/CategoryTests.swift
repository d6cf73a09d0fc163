import SatchelCore
import Foundation
import TestSupport
import Testing

/// A category over the wire.
@Suite struct CategoryTests {
    @Test func `what is absent is null, and the names are those of the interface`() throws {
        #expect(
            try JSON.text(Category(id: "plain")) == """
                {"actions":[],"extension":null,"hidden_body":null,"id":"plain","intents":[],"options":[],"profile":null,\
                "responses":null,"summary_format":null}
                """)
        let text = try JSON.text(Category.sample())
        for piece in [
            #""hidden_previews_show_title""#, #""icon":{"system":"arrow.clockwise"}"#, #""icon":{"template":"Pen"}"#,
            #""text_input":{"button_title":"Send","placeholder":"Message"}"#, #""overrides_default_title":null"#,
            #"{"does":"open","title":"Launch App","type":"button"}"#,
            #"{"maximum":1,"minimum":0,"sets":"opacity","title":"Opacity","type":"slider","value":0.5}"#,
            #""record_text":false"#, #""forward":{"url":"https://api.example.com/hooks/app"}"#,
        ] {
            #expect(text.contains(piece), "\(piece) in \(text)")
        }
    }

    @Test(arguments: [Category.sample(), Category(id: "plain")] + Category.hostile)
    func `a category is read as it was written`(category: Category) throws {
        #expect(try JSON.decode(Category.self, from: JSON.encode(category)) == category)
        #expect(try JSONDecoder().decode(Category.self, from: JSONEncoder().encode(category)) == category)
    }
}
