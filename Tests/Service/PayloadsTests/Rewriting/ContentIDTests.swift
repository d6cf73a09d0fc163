import SatchelCore
import Foundation
import Testing

@testable import Payloads

/// Media that come with a payload, which it names by `cid:`.
@Suite struct ContentIDTests {
    private func payload(_ text: String, _ attachments: String...) throws -> PushPayload {
        try PushPayload(Array(text.utf8), attachments: attachments)
    }

    private func media(_ payload: PushPayload) -> [String] {
        payload.media.map { "\($0.identifier) \($0.pointer) \($0.url)" }
    }

    @Test func `any string may stand for a medium, and gets its link`() throws {
        let payload = try payload(
            #"{"aps":{"alert":"A","mutable-content":1},"a":{"b":["x","cid:clip"]},"again":"CID:cl%69p","my-attachment":"https://o/1"}"#,
            "clip")
        #expect(
            media(payload) == ["clip /a/b/1 cid:clip", "my-attachment /my-attachment https://o/1"])
        #expect(
            try payload.enriched(payload.delivered).hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"a":{"b":["x","https://m/c/1/main.jpg"]},"again":"https://m/c/1/main.jpg","my-attachment":"https://m/c/2/main.jpg","satchel":"#
            ))
        #expect(
            try payload.enriched([payload.failed[0], payload.delivered[1]]).hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"a":{"b":["x"]},"my-attachment":"https://m/c/2/main.jpg","#))
    }

    @Test func `in a convention's place what describes the medium goes with it`() throws {
        let payload = try payload(
            #"{"aps":{"alert":"A"},"ab":{"att":{"url":"cid:photo","type":"heic"}}}"#, "photo")
        #expect(media(payload) == ["photo /ab/att/url cid:photo"])
        #expect(
            try payload.enriched(payload.delivered).hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"ab":{"att":{"url":"https://m/c/1/main.jpg","type":"jpg"}},"#
            ))
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"alert":"A"}}"#)
    }

    @Test func `one that no string stands for is under the key satchel alone`() throws {
        let payload = try payload(#"{"aps":{"alert":"A"}}"#, "photo")
        #expect(media(payload) == ["photo  cid:photo"])
        let enriched = try payload.enriched(payload.delivered)
        #expect(enriched.contains(#""attachments":[{"identifier":"photo","url":"https://m/c/1/main.jpg""#))
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"alert":"A"}}"#)
    }

    @Test(arguments: ["cid:other", "cid:", "cid:%zz", "xcid:photo", " cid:photo"])
    func `what stands for nothing that came along is text`(text: String) throws {
        let whole = #"{"aps":{"alert":"A"},"my-attachment":"\#(text)","x":"\#(text)"}"#
        #expect(media(try payload(whole, "photo")) == ["photo  cid:photo"])
        #expect(try payload(whole).media.isEmpty)
        #expect(try PushPayload(Array(#"{"aps":{"alert":"A"},"my-attachment":"cid:photo"}"#.utf8)).media.isEmpty)
    }

    @Test func `a key that is called as one that came along gets another name`() throws {
        let payload = try payload(
            #"{"aps":{"alert":"A"},"att":{"photo":"https://o/1"},"x":"cid:photo"}"#, "photo")
        #expect(media(payload) == ["photo /x cid:photo", "photo-2 /att/photo https://o/1"])
    }

    @Test func `without an alert nothing is looked for`() throws {
        #expect(try payload(#"{"aps":{"content-available":1},"x":"cid:photo"}"#, "photo").media.isEmpty)
    }
}
