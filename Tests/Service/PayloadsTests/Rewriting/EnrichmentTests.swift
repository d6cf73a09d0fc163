import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Payloads

@Suite struct EnrichmentTests {
    private let photo = DeliveredMedium(
        url: "https://media.example.com/c/satn_x/main.jpg", type: .jpeg, bytes: 184302, width: 1038, height: 779,
        previewURL: "https://media.example.com/c/satn_x/thumbnail.jpg", thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
        options: DisplayOptions(
            typeHint: "public.jpeg", thumbnailClippingRect: UnitRect(x: 0.1, y: 0, width: 0.8, height: 1)))

    @Test func `the key satchel holds what an extension needs, and only what there is`() throws {
        let payload = try PushPayload(#"{"aps":{"alert":"A"},"my-attachment":"https://o/1"}"#)
        #expect(
            try payload.enriched([.success(photo)])
                == #"{"aps":{"alert":"A","mutable-content":1},"my-attachment":"https://media.example.com/c/satn_x/main.jpg","satchel":{"v":1,"expires_at":"2026-11-22T10:15:00Z","attachments":[{"identifier":"my-attachment","url":"https://media.example.com/c/satn_x/main.jpg","preview_url":"https://media.example.com/c/satn_x/thumbnail.jpg","bytes":184302,"width":1038,"height":779,"thumbhash":"1QcSHQRnh493V4dIh4eXh1h4kJUI","options":{"type_hint":"public.jpeg","thumbnail_clipping_rect":{"x":0.1,"y":0,"width":0.8,"height":1}}}]}}"#
        )
        let bare = DeliveredMedium(
            url: "https://m/a.m4a", type: .m4a, bytes: 9,
            options: DisplayOptions(thumbnailHidden: true, thumbnailTime: 1.5))
        #expect(
            try payload.enriched([.success(bare)]).hasSuffix(
                #""attachments":[{"identifier":"my-attachment","url":"https://m/a.m4a","bytes":9,"options":{"type_hint":"com.apple.m4a-audio","thumbnail_hidden":true,"thumbnail_time":1.5}}]}}"#
            ))
    }

    @Test func `a key satchel that came along is replaced where it is`() throws {
        let payload = try PushPayload(
            #"{"satchel":{"v":0,"old":[1]},"aps":{"alert":"A"},"my-attachment":"https://o/1"}"#)
        let enriched = try payload.enriched(payload.delivered)
        #expect(enriched.hasPrefix(#"{"satchel":{"v":1,"#))
        #expect(!enriched.contains("old"))
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"alert":"A"}}"#)
    }

    @Test(arguments: ["0", "true", #""1""#, "1.0", "null"])
    func `mutable-content becomes 1 whatever it was`(value: String) throws {
        let payload = try PushPayload(
            #"{"aps":{"mutable-content" : \#(value), "alert":"A"},"my-attachment":"https://o/1"}"#)
        #expect(try payload.enriched(payload.delivered).hasPrefix(#"{"aps":{"mutable-content" : 1, "alert":"A"},"#))
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"mutable-content" : \#(value), "alert":"A"}}"#)
    }

    @Test func `what is not touched stays byte for byte`() throws {
        let payload = try PushPayload(
            "{ \"aps\" : {\t\"alert\" : {\"body\":\"\\u0041\\/é\"}, \"badge\":1.50e0 },\r\n  \"my-attachment\":  \"https://o/1\" ,\n  \"encrypted-content\" : \"AA\\/==\", \"x\":[ 1 ,2.00, null ] }\n"
        )
        #expect(
            try payload.enriched(payload.failed)
                == "{ \"aps\" : {\t\"alert\" : {\"body\":\"\\u0041\\/é\"}, \"badge\":1.50e0 },\n  \"encrypted-content\" : \"AA\\/==\", \"x\":[ 1 ,2.00, null ] }\n"
        )
        let enriched = try payload.enriched(payload.delivered)
        #expect(
            enriched.hasPrefix(
                "{ \"aps\" : {\t\"alert\" : {\"body\":\"\\u0041\\/é\"}, \"badge\":1.50e0, \"mutable-content\":1 },\r\n  \"my-attachment\":  \"https://m/c/1/main.jpg\" ,\n  \"encrypted-content\" : \"AA\\/==\", \"x\":[ 1 ,2.00, null ], \"satchel\":{"
            ))
        #expect(enriched.hasSuffix(" }\n"))
    }

    @Test func `one medium may fail beside another`() throws {
        let payload = try PushPayload(
            #"{"aps":{"alert":"A","mutable-content":1},"att":{"a":"https://o/1","b":"https://o/2","c":"https://o/3"}}"#)
        let outcomes = [payload.failed[0], payload.delivered[1], payload.failed[2]]
        let dropped = try payload.enriched(outcomes, .drop)
        #expect(
            dropped.hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"att":{"b":"https://m/c/2/main.jpg"},"satchel""#))
        let kept = try payload.enriched(outcomes, .keep)
        #expect(
            kept.hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"att":{"a":"https://o/1","b":"https://m/c/2/main.jpg","c":"https://o/3"},"satchel""#
            ))
        #expect(kept.components(separatedBy: "identifier").count == 2)
    }

    // MARK: What is refused

    @Test func `a payload that is too long as it came is refused with what is too much`() throws {
        func text(_ size: Int) -> String {
            let start = #"{"aps":{"alert":""#
            let end = #""},"my-attachment":"https://o/1"}"#
            return start + String(repeating: "x", count: size - start.utf8.count - end.utf8.count) + end
        }
        #expect(try PushPayload(text(4096)).bytes.count == 4096)
        #expect(throws: PayloadError.tooLarge(.apns, at: .root, bytes: 4097, limit: 4096)) {
            try PushPayload(text(4097))
        }
        #expect(try PushPayload(text(5120), type: .voip).bytes.count == 5120)
        #expect(throws: PayloadError.tooLarge(.apns, at: .root, bytes: 5121, limit: 5120)) {
            try PushPayload(text(5121), type: .voip)
        }
    }

    @Test(arguments: ["[]", "3", "null", #""aps""#]) func `what is no object is refused`(text: String) {
        #expect(throws: PayloadError.notAMessage(.apns)) { try PushPayload(text) }
    }

    // MARK: Size

    /// A payload of `size` bytes with three media.
    private func payload(of size: Int, type: PushType = .alert) throws -> PushPayload {
        let start = #"{"aps":{"alert":""#
        let end = #""},"att":{"a":"https://o/1","b":"https://o/2","c":"https://o/3"}}"#
        return try PushPayload(
            start + String(repeating: "é", count: (size - start.utf8.count - end.utf8.count) / 2) + end, type: type)
    }

    private func names(_ dropped: [DroppedPart]) -> [String] {
        dropped.map { [$0.kind.rawValue, $0.medium].compactMap(\.self).joined(separator: " ") }
    }

    @Test(arguments: [PushType.alert, .voip])
    func `at every size what is least missed goes first, and no more than needed`(type: PushType) throws {
        let order = [
            "preview_url c", "preview_url b", "preview_url a", "thumbhash c", "thumbhash b", "thumbhash a",
            "attachment c",
            "attachment b", "satchel", "medium c", "medium b", "medium a",
        ]
        var last = 0
        for size in stride(from: type.limit - 1600, through: type.limit, by: 4) {
            let payload = try payload(of: size, type: type)
            let expiry = Instant(milliseconds: 1_795_342_500_999)
            let outcomes = [MediumOutcome](repeating: .success(photo), count: 3)
            for mode in [FailureMode.drop, .keep] {
                let enriched = try payload.enriched(with: outcomes, onFailure: mode, expiresAt: expiry)
                #expect(enriched.bytes.count <= type.limit)
                #expect(try JSONSerialization.jsonObject(with: Data(enriched.bytes)) is [String: Any])
                let dropped = names(enriched.dropped)
                #expect(dropped == Array(order.prefix(dropped.count)))
                if mode == .drop {
                    #expect(dropped.count >= last)
                    last = dropped.count
                }
            }
        }
        // The longest of them has no room for anything.
        #expect(last == order.count || last == order.count - 1 || last == order.count - 2)
        #expect(last > 9)
    }

    @Test func `a payload without room loses its media, or keeps what it had, or is refused`() throws {
        let payload = try payload(of: 4096)
        let long = DeliveredMedium(url: "https://m/" + String(repeating: "x", count: 4000), type: .jpeg, bytes: 1)
        let outcomes = [MediumOutcome](repeating: .success(long), count: 3)
        let dropped = try payload.enriched(outcomes, .drop)
        #expect(!dropped.contains("att"))
        #expect(try payload.enriched(outcomes, .keep) == String(decoding: payload.bytes, as: UTF8.self))
        #expect {
            try payload.enriched(outcomes, .error)
        } throws: { error in
            guard case .mediumFailed(let medium, let failure)? = error as? PayloadError else { return false }
            return medium.identifier == "c" && failure.code == "payload_too_large" && failure.message.contains("4096")
        }
    }

    @Test func `an alternative text never makes a payload too long`() throws {
        let start = #"{"aps":{"alert":{}},"_mediaUrl":"https://o/1","_mediaAlt":""#
        let payload = try PushPayload(start + String(repeating: "x", count: 4096 - start.utf8.count - 2) + #""}"#)
        let enriched = try payload.enriched(payload.failed)
        #expect(enriched.utf8.count <= 4096)
        #expect(enriched.hasPrefix(#"{"aps":{"alert":{"body":"xxx"#))
    }

    // MARK: Fuzzing

    @Test(arguments: 0..<20) func `mutated payloads are enriched within the limit or refused, and never trap`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let seeds = ConventionExample.all.map { Array($0.payload.utf8) }
        let words = [
            #""aps""#, #""alert""#, #""my-attachment""#, #""att""#, #""url""#, #""urls""#, #""https://o/1""#,
            #""satchel""#, "{", "}",
            "[", "]", ",", ":", "null", "1", #"\u0061"#, "\"", " ", #""com.urbanairship.media_attachment""#, "é",
            #""_mediaAlt""#,
        ].map { Array($0.utf8) }
        var accepted = 0
        for _ in 0..<400 {
            var bytes = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.insert(contentsOf: words.randomElement(using: &random) ?? [], at: place)
                case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 2:
                    let end = min(bytes.count, place + Int.random(in: 0...40, using: &random))
                    bytes.removeSubrange(place..<end)
                default:
                    // A part of another payload.
                    let other = seeds.randomElement(using: &random) ?? []
                    let start = Int.random(in: 0..<other.count, using: &random)
                    bytes.insert(contentsOf: other[start..<min(other.count, start + 60)], at: place)
                }
            }
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
            guard let payload = try? PushPayload(bytes, pointers: [JSONPointer(tokens: ["x"])]) else {
                continue
            }
            accepted += 1
            let outcomes = payload.media.map { _ in
                Bool.random(using: &random) ? MediumOutcome.success(photo) : payload.failed.first ?? .success(photo)
            }
            for mode in [FailureMode.drop, .keep] {
                let enriched = try payload.enriched(
                    with: outcomes, onFailure: mode, expiresAt: Instant(milliseconds: 0))
                #expect(enriched.bytes.count <= payload.type.limit)
                // Foundation refuses what says no Unicode text; such a text is passed on as it came.
                if isJSON { _ = try JSONSerialization.jsonObject(with: Data(enriched.bytes)) }
                #expect(try JSONDocument.read(enriched.bytes, .passedOn).bytes == enriched.bytes)
            }
        }
        // Most edits break the JSON; these don't.
        #expect(accepted > 60)
    }
}
