import Foundation
import TestSupport
import Testing

@testable import satchel

@Suite struct TableTests {
    private static let table = Table(columns: [
        .init(title: "ONE", width: 4, weight: 2), .init(title: "TWO", width: 10, isNumber: true, weight: 1),
        .init(title: "THREE", width: 8, weight: 2), .init(title: "FILE", width: 0),
    ])

    @Test func `columns go by their weight, from the right among equals`() {
        let shown = [nil, 60, 48, 47, 36, 35, 26, 25, 1].map { Self.table.shown(in: $0) }
        #expect(
            shown == [
                [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 2, 3], [0, 2, 3], [0, 3], [0, 3], [3], [3],
            ])
    }

    @Test func `a row is never wider than it may be, whatever is in it`() {
        let cells = [
            ["image", "1234567890123", "x", "日本語のとても長い名前の写真.jpg"],
            ["a", "b", "c", "a very long name, and longer than any terminal is wide.jpg"],
            ["👨‍👩‍👧‍👦", "e\u{301}e\u{301}", "❤️", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦"],
        ]
        for width in 1...150 {
            for cells in cells {
                let row = Self.table.row(cells, in: width)
                #expect(row.columns <= width, "\(width): \(row)")
            }
        }
        #expect(
            Self.table.row(cells[1], in: nil).hasSuffix(
                "c         a very long name, and longer than any terminal is wide.jpg"))
    }

    @Test func `a long name loses its middle, and keeps its ending`() {
        #expect("holiday-2024-07-31.jpg".shortened(to: 22) == "holiday-2024-07-31.jpg")
        #expect("holiday-2024-07-31.jpg".shortened(to: 13) == "holida…31.jpg")
        #expect("日本語の写真.jpg".shortened(to: 10) == "日本….jpg")
        #expect("abc".shortened(to: 1) == "…" && "abc".shortened(to: 0).isEmpty)
    }

    @Test func `wide characters take two columns, accents none, and emoji what they may take at most`() {
        #expect("日本".columns == 4 && "한국".columns == 4 && "ｆ".columns == 2 && "ｱ".columns == 1)
        #expect("e\u{301}".columns == 1 && "a\u{200B}b".columns == 2)
        #expect("🏖️".columns == 2 && "❤️".columns == 2 && "☎".columns == 1 && "🎉".columns == 2)
    }

    @Test func `sentences are continued beneath themselves`() {
        let table = Table(columns: [.init(title: "A", width: 3), .init(title: "B", width: 0)], isProse: true)
        #expect(
            table.row(["one", "sentences are continued beneath"], in: 25)
                == "one  sentences are\n     continued beneath")
        #expect("".wrapped(to: 5) == [""] && "aaaaaaaaaa bb".wrapped(to: 5) == ["aaaaa", "aaaaa", "bb"])
    }
}
