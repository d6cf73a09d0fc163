import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ingest

@Suite struct FittingNameTests {
    private static let limit = 60

    @Test func `a name that fits stays, and a longer one keeps its beginning, in whole characters`() {
        let fits = Data(String(repeating: "n", count: Self.limit).utf8)
        #expect(FittingName.of(fits, atMost: Self.limit) == fits)
        for character in ["n", "é", "€", "😀"] {
            for start in 0..<4 {
                let text = String(repeating: "n", count: start) + String(repeating: character, count: 90)
                let name = FittingName.of(Data(text.utf8), atMost: Self.limit)
                #expect(name.count <= Self.limit && name.count > Self.limit - 4)
                #expect(String(validating: name, as: UTF8.self).map { text.hasPrefix($0.prefix { $0 != "~" }) } == true)
            }
        }
    }

    @Test func `two names never become one, also not one that was shortened before`() {
        var generator = SeededGenerator(seed: 11)
        var names: Set<Data> = []
        for _ in 0..<500 {
            let length = Int.random(in: 1...120, using: &generator)
            // Few bytes, so that beginnings agree; some are no UTF-8.
            names.insert(Data((0..<length).map { _ in [0x61, 0xC3, 0xA9, 0xFF].randomElement(using: &generator)! }))
            names.insert(Data(String(repeating: "a", count: length).utf8))
        }
        let shortened = names.map { FittingName.of($0, atMost: Self.limit) }
        names.formUnion(shortened)
        let all = names.map { FittingName.of($0, atMost: Self.limit) }
        #expect(Set(all).count == names.count)
        #expect(all.allSatisfy { $0.count <= Self.limit })
    }
}
