import Foundation
import TestSupport
import Testing

@testable import S3

@Suite struct XMLTreeTests {
    private func read(_ text: String) throws -> XMLTree { try XMLTree(Array(text.utf8)) }

    @Test func `elements, text and references are read as they stand`() throws {
        let tree = try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- an answer -->
            <List xmlns="http://s3.amazonaws.com/doc/2006-03-01/" a='1>2'>
              <Key>a &amp; b &lt;&gt;&quot;&apos; &#228;&#x1F600; ä</Key ><Empty/><Empty />
              <Owner><ID>1</ID></Owner><Key></Key>
            </List>

            """)
        #expect(tree.name == "List")
        #expect(tree.all("Key").map(\.text) == ["a & b <>\"' ä😀 ä", ""])
        #expect(tree["Owner"]?["ID"]?.text == "1")
        #expect(tree["Empty"]?.text == "" && tree.all("Empty").count == 2)
        #expect(tree["Missing"] == nil)
    }

    @Test(arguments: [
        "", " ", "text", "<a>", "<a></b>", "<a/><b/>", "<a/>text", "<a><b></a></b>", "<a b></a>", "<a b=c/>",
        "<a b='c/>",
        "<a b='1'c='2'/>", "<a>&nbsp;</a>", "<a>&#xD800;</a>", "<a>&#+65;</a>", "<a>&amp</a>", "<a>&</a>", "< a/>",
        "<a", "<a>&#;</a>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a><![CDATA[b]]></a>", "<a><?b?></a>", "<a><!-- </a>",
        String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
    ])
    func `what isn't well-formed, or no answer has, is refused`(text: String) {
        #expect(throws: XMLTree.Malformed.self) { try read(text) }
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        #expect(throws: XMLTree.Malformed.self) { try XMLTree(Array("<a>".utf8) + [0xFF] + Array("</a>".utf8)) }
    }

    @Test func `an answer that was changed anywhere ends in a tree or a refusal`() throws {
        let answer = Array(
            "<?xml version=\"1.0\"?><L a=\"b\"><!-- c --><K>&amp;&#x41;</K><E/></L>".utf8)
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<20_000 {
            var changed = answer
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<changed.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: changed.removeSubrange(place..<min(place + 3, changed.count))
                default:
                    changed.insert(
                        contentsOf: answer[place % answer.count..<min(place % answer.count + 5, answer.count)],
                        at: place)
                }
                if changed.isEmpty { changed = answer }
            }
            _ = try? XMLTree(changed)
        }
    }

    @Test func `what is escaped is read as it was`() throws {
        let text = "a&b<c>d\r\n\te\"f'ä😀]]>"
        #expect(try read("<a>\(XMLTree.escaped(text))</a>").text == text)
    }
}
