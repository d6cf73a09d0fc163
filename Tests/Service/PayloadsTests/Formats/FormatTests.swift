import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Payloads

/// Payloads as back ends send them to FCM, OneSignal, Expo and a push service for the web.
@Suite struct FormatTests {
    static let sent: [PayloadFormat] = PayloadFormat.allCases.filter { $0 != .apns }

    private static let expiry = Instant(milliseconds: 1_795_342_500_999)

    private func value(at pointer: String, of text: String) throws -> JSONValue? {
        let document = try JSONDocument.read(Array(text.utf8), .passedOn)
        return document.paths(to: try #require(JSONPointer(pointer))).first.map { document[$0] }
    }

    /// The key satchel of a message, whatever it is written as.
    private func satchel(_ format: PayloadFormat, in text: String, prefix: String = "") throws -> JSONValue? {
        let value = try value(at: prefix + FormatField.satchel(format), of: text)
        guard format == .fcm, let value else { return value }
        return try JSONDocument.read(Array(try #require(value.text).utf8), .passedOn).root
    }

    private func photo(_ bytes: Int64 = 1000) -> DeliveredMedium {
        DeliveredMedium(url: "https://m/c/1/main.jpg", type: .jpeg, bytes: bytes)
    }

    private func film(_ poster: Int64? = 2000) -> DeliveredMedium {
        DeliveredMedium(
            url: "https://m/c/1/main.mp4", type: .mp4, bytes: 5_000_000,
            standIns: [poster.map { .init(url: "https://m/c/1/poster.jpg", type: .jpeg, bytes: $0) }]
                .compactMap(\.self))
    }

    // MARK: Fields

    @Test(arguments: FormatField.all)
    func `each field is found, and its link takes its place, in a message and in an array of them`(field: FormatField)
        throws
    {
        let text = try field.message(naming: "https://o/1")
        for isMany in field.format == .expo ? [false, true] : [false] {
            let whole = isMany ? "[\(FormatField.message(field.format)),\(text)]" : text
            let prefix = isMany ? "/1" : ""
            let payload = try PushPayload(whole, format: field.format)
            #expect(payload.media.map(\.url) == ["https://o/1"])
            #expect(payload.media.map(\.pointer.description) == [prefix + field.pointer])
            let enriched = try payload.enriched(payload.delivered)
            #expect(try value(at: prefix + field.pointer, of: enriched)?.text == "https://m/c/1/main.jpg")
            let key = try #require(try satchel(field.format, in: enriched, prefix: prefix))
            #expect(key["v"]?.number == 1 && key["expires_at"]?.text == "2026-11-22T10:15:00Z")
            #expect(key["attachments"]?.elements.map { $0["url"]?.text } == ["https://m/c/1/main.jpg"])
            if let (pointer, expected) = FormatField.mutability(field.format) {
                #expect(try value(at: prefix + pointer, of: enriched) == expected)
            }
            // The message beside it is none of its business.
            if isMany { #expect(enriched.hasPrefix("[\(FormatField.message(field.format)),")) }

            let dropped = try payload.enriched(payload.failed)
            #expect(try value(at: prefix + field.pointer, of: dropped) == nil)
            #expect(!dropped.contains("satchel") && !dropped.contains("utable"))
            #expect(try payload.enriched(payload.failed, .keep) == whole)
            #expect(throws: PayloadError.self) { try payload.enriched(payload.failed, .error) }
        }
    }

    @Test(arguments: FormatField.all)
    func `a place for pictures shows the picture of a film, and others the film`(field: FormatField) throws {
        let payload = try PushPayload(try field.message(naming: "https://o/1"), format: field.format)
        let shown = try value(at: field.pointer, of: try payload.enriched([.success(film())]))?.text
        #expect(shown == (field.viewer == .anybody ? "https://m/c/1/main.mp4" : "https://m/c/1/poster.jpg"))
        // The extension gets the film.
        let key = try satchel(field.format, in: try payload.enriched([.success(film())]))
        #expect(key?["attachments"]?.elements.first?["url"]?.text == "https://m/c/1/main.mp4")
        guard field.viewer != .anybody else { return }
        let unfit = try payload.enriched(with: [.success(film(nil))], onFailure: .drop, expiresAt: Self.expiry)
        #expect(unfit.unfit.map(\.failure.code) == ["not_an_image"])
        #expect(unfit.unfit.map(\.pointer.description) == [field.pointer])
        #expect(try value(at: field.pointer, of: String(decoding: unfit.bytes, as: UTF8.self)) == nil)
    }

    @Test(arguments: FormatField.all, [1_000_000, 1_000_001] as [Int64])
    func `Android shows pictures of at most a million bytes`(field: FormatField, bytes: Int64) throws {
        let payload = try PushPayload(try field.message(naming: "https://o/1"), format: field.format)
        let isFit = field.viewer != .android || bytes <= 1_000_000
        for outcome in [photo(bytes), film(bytes)] {
            func enriched(_ mode: FailureMode) throws -> EnrichedPayload {
                try payload.enriched(with: [.success(outcome)], onFailure: mode, expiresAt: Self.expiry)
            }
            let dropped = try enriched(.drop)
            #expect(dropped.unfit.isEmpty == isFit)
            let text = String(decoding: dropped.bytes, as: UTF8.self)
            #expect(try (value(at: field.pointer, of: text) != nil) == isFit)
            // What the place can't show the app may.
            #expect(try satchel(field.format, in: text)?["attachments"]?.elements.count == 1)
            guard !isFit else { continue }
            #expect(dropped.unfit.map(\.failure.code) == ["image_too_large"])
            let message = try #require(dropped.unfit.first?.failure.message)
            #expect(message.contains("1000001") && message.contains("1000000") && message.contains("profile"))
            let kept = String(decoding: try enriched(.keep).bytes, as: UTF8.self)
            #expect(try value(at: field.pointer, of: kept)?.text == "https://o/1")
            #expect {
                try enriched(.error)
            } throws: { error in
                guard case .mediumFailed(let medium, let failure)? = error as? PayloadError else { return false }
                return medium.pointer.description == field.pointer && failure.code == "image_too_large"
            }
        }
    }

    @Test func `of one medium in several places each shows what it can`() throws {
        let payload = try PushPayload(
            #"{"contents":{"en":"T"},"ios_attachments":{"film":"https://o/1"},"big_picture":"https://o/1","chrome_web_image":"https://o/1"}"#,
            format: .onesignal)
        #expect(payload.media.map(\.identifier) == ["film"])
        #expect(
            try payload.enriched([.success(film(2_000_000))]).hasPrefix(
                #"{"contents":{"en":"T"},"ios_attachments":{"film":"https://m/c/1/main.mp4"},"chrome_web_image":"https://m/c/1/poster.jpg","data":{"satchel":{"#
            ))
        #expect(
            payload.places.map { "\($0.pointer) \($0.viewer ?? "–") \($0.limit ?? 0)" } == [
                "/ios_attachments/film – 0", "/big_picture Android 1000000", "/chrome_web_image a browser 0",
            ])
    }

    // MARK: Bytes

    @Test(arguments: FormatField.all, 0..<8 as Range<UInt64>)
    func `bytes outside what is replaced are the same`(field: FormatField, seed: UInt64) throws {
        var random = RandomJSON(seed: seed)
        let others = (0..<3).map { "\"x\($0)\"\(random.space()):\(random.value(depth: 3))\(random.space())," }.joined()
        let message = try field.message(naming: "https://o/1", text: "\\u0041 \\/", random.space() + others)
        let isMany = field.format == .expo && seed % 2 == 0
        let text = isMany ? " [\(message) ,\n\(message)]\t" : " \(message)\n"
        let payload = try PushPayload(text, format: field.format)
        #expect(try payload.enriched(payload.failed, .keep) == text)
        // What was added is taken out again, and what was replaced put back.
        let enriched = try payload.enriched(payload.delivered)
        var document = try JSONDocument.read(Array(enriched.utf8), .passedOn)
        for prefix in isMany ? ["/0", "/1"] : [""] {
            let added = [FormatField.satchel(field.format), FormatField.mutability(field.format)?.pointer]
                .compactMap(\.self)
            for path in document.paths(to: try #require(JSONPointer(prefix + field.pointer))) {
                document[path] = JSONValue("https://o/1")
            }
            for pointer in added {
                document.remove(document.paths(to: try #require(JSONPointer(prefix + pointer))))
            }
        }
        #expect(String(decoding: document.bytes, as: UTF8.self) == text)
    }

    // MARK: Size

    @Test(arguments: sent)
    func `a message may be as long as its service says, and who gets it doesn't count`(format: PayloadFormat) throws {
        let limit = format == .webpush ? 3993 : 4096
        let addressing: [PayloadFormat: String] = [
            .fcm: #""topic":"\#(String(repeating: "t", count: 3000))","#,
            .onesignal: #""include_aliases":{"external_id":["\#(String(repeating: "t", count: 30_000))"]},"#,
            .expo: #""to":["\#(String(repeating: "t", count: 30_000))"],"#,
        ]
        func text(_ size: Int) throws -> String {
            let bare = try PushPayload(FormatField.message(format), format: format).size
            return FormatField.message(
                format, text: String(repeating: "x", count: size - bare + 1), addressing[format] ?? "")
        }
        #expect(try PushPayload(text(limit), format: format).size == limit)
        #expect(throws: PayloadError.tooLarge(format, at: .root, bytes: limit + 1, limit: limit)) {
            try PushPayload(text(limit + 1), format: format)
        }
        let message = PayloadError.tooLarge(format, at: .root, bytes: limit + 1, limit: limit).message
        #expect(message.contains("\(format.service) accepts at most \(limit)") && message.contains("by 1 bytes"))
    }

    @Test func `each message of an array has the whole length, and one that is too long is named`() throws {
        let long = FormatField.message(.expo, text: String(repeating: "x", count: 4000))
        #expect(try PushPayload("[\(long),\(long),\(long)]", format: .expo).messageCount == 3)
        let tooLong = FormatField.message(.expo, text: String(repeating: "x", count: 4090))
        #expect {
            try PushPayload("[\(long),\(tooLong)]", format: .expo)
        } throws: { error in
            (error as? PayloadError)?.message.hasPrefix("The message at '/1' has ") ?? false
        }
        // What doesn't fit into one is left out of that alone.
        let url = #""richContent":{"image":"https://o/1"},"#
        func text(_ count: Int) -> String {
            FormatField.message(.expo, text: String(repeating: "x", count: count), url)
        }
        let payload = try PushPayload("[\(text(3980)),\(text(10))]", format: .expo)
        let enriched = try payload.enriched(
            with: payload.delivered, onFailure: .drop, expiresAt: Self.expiry)
        #expect(enriched.dropped.map(\.text) == ["satchel"])
        let whole = String(decoding: enriched.bytes, as: UTF8.self)
        #expect(try value(at: "/0/richContent/image", of: whole)?.text == "https://m/c/1/main.jpg")
        #expect(try satchel(.expo, in: whole, prefix: "/0") == nil)
        #expect(try satchel(.expo, in: whole, prefix: "/1") != nil)
    }

    @Test(arguments: FormatField.all)
    func `at every size an enriched message is as long as its service takes`(field: FormatField) throws {
        let limit = field.format.limit(.alert)
        let bare = try PushPayload(try field.message(naming: "https://o/1", text: ""), format: field.format).size
        let medium = DeliveredMedium(
            url: "https://media.example.com/c/satn_x/main.jpg", type: .jpeg, bytes: 184_302, width: 1038, height: 779,
            previewURL: "https://media.example.com/c/satn_x/thumbnail.jpg", thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI")
        var last = 0
        for size in stride(from: limit - 700, through: limit, by: 23) {
            let text = try field.message(
                naming: "https://o/1", text: String(repeating: "x", count: size - bare))
            for mode in [FailureMode.drop, .keep] {
                let payload = try PushPayload(text, format: field.format)
                let enriched = try payload.enriched(with: [.success(medium)], onFailure: mode, expiresAt: Self.expiry)
                #expect(try PushPayload(enriched.bytes, format: field.format).size <= limit)
                #expect(try JSONSerialization.jsonObject(with: Data(enriched.bytes)) is [String: Any])
                let order = ["preview_url", "thumbhash", "satchel", "medium"]
                #expect(enriched.dropped.map(\.kind.rawValue) == Array(order.prefix(enriched.dropped.count)))
                guard mode == .drop else { continue }
                #expect(enriched.dropped.count >= last)
                last = enriched.dropped.count
            }
        }
        #expect(last == 4)
    }

    @Test func `OneSignal's data have at most 2048 bytes`() throws {
        func enriched(_ count: Int) throws -> EnrichedPayload {
            let text =
                #"{"contents":{"en":"T"},"big_picture":"https://o/1","data":{"x":"\#(String(repeating: "x", count: count))"}}"#
            let payload = try PushPayload(text, format: .onesignal)
            return try payload.enriched(with: payload.delivered, onFailure: .drop, expiresAt: Self.expiry)
        }
        var seen: Set<Bool> = []
        for count in stride(from: 1700, through: 2100, by: 3) {
            let payload = try enriched(count)
            let text = String(decoding: payload.bytes, as: UTF8.self)
            let data = try #require(try value(at: "/data", of: text))
            let hasKey = data["satchel"] != nil
            #expect(!hasKey || data.bytes.count <= 2048)
            #expect(payload.dropped.map(\.text) == (hasKey ? [] : ["satchel"]))
            // The place itself is another matter.
            #expect(try value(at: "/big_picture", of: text)?.text == "https://m/c/1/main.jpg")
            seen.insert(hasKey)
        }
        #expect(seen == [true, false])
    }

    // MARK: An app's own

    @Test(arguments: [
        (#""data":{"k":"v"},"#, true), (#""data":null,"#, true), (#""data":"mine","#, false),
        (#""data":["mine"],"#, false),
    ])
    func `what an app has in data stays, and where it is no object nothing is added`(data: String, hasRoom: Bool) throws
    {
        for format in [PayloadFormat.fcm, .onesignal, .expo] {
            let field = try #require(FormatField.all.first { $0.format == format })
            let text = try field.message(naming: "https://o/1", data)
            let payload = try PushPayload(text, format: format)
            let enriched = try payload.enriched(
                with: payload.delivered, onFailure: .drop, expiresAt: Self.expiry, respond: "https://m/r/1")
            let whole = String(decoding: enriched.bytes, as: UTF8.self)
            #expect(enriched.takesResponses == hasRoom)
            #expect(enriched.dropped.map(\.text) == (hasRoom ? [] : ["respond", "satchel"]))
            #expect(try value(at: field.pointer, of: whole)?.text == "https://m/c/1/main.jpg")
            if hasRoom {
                #expect(try satchel(format, in: whole)?["respond"]?.text == "https://m/r/1")
            }
            if !data.contains("null") { #expect(whole.contains(data.dropLast(hasRoom ? 2 : 1))) }
        }
    }

    @Test func `FCM's data are strings, whatever they say`() throws {
        let payload = try PushPayload(
            Array(#"{"message":{"data":{"photo":"cid:photo"}}}"#.utf8), format: .fcm, attachments: ["photo"])
        #expect(payload.media.map { "\($0.identifier) \($0.pointer)" } == ["photo /message/data/photo"])
        let object = try JSONSerialization.jsonObject(with: Data(try payload.enriched(payload.delivered).utf8))
        let data = try #require(
            ((object as? [String: Any])?["message"] as? [String: Any])?["data"] as? [String: String])
        #expect(data["photo"] == "https://m/c/1/main.jpg")
        let inner = try JSONSerialization.jsonObject(with: Data(try #require(data["satchel"]).utf8))
        #expect(((inner as? [String: Any])?["attachments"] as? [Any])?.count == 1)
    }

    @Test func `a declarative message has its key where the notification's data are`() throws {
        let payload = try PushPayload(
            #"{"web_push":8030,"notification":{"title":"T","navigate":"https://example.com","image":"https://o/1"}}"#,
            format: .webpush)
        let enriched = try payload.enriched(payload.delivered)
        #expect(try value(at: "/satchel", of: enriched) == nil)
        #expect(try value(at: "/notification/data/satchel/attachments/0/identifier", of: enriched)?.text == "image")
        #expect(try value(at: "/mutable", of: enriched) == nil)
    }

    @Test func `an extension is asked for only where a message is for iOS`() throws {
        func isAsked(_ message: String) throws -> Bool {
            let payload = try PushPayload(#"{"message":{\#(message)}}"#, format: .fcm)
            #expect(payload.media.count == 1)
            let enriched = try PushPayload(try payload.enriched(payload.delivered), format: .fcm)
            #expect(enriched.isMutable)
            return try value(
                at: "/message/apns/payload/aps/mutable-content", of: String(decoding: enriched.bytes, as: UTF8.self))
                != nil
        }
        #expect(try isAsked(#""notification":{"image":"https://o/1"}"#))
        #expect(try isAsked(#""apns":{"payload":{"aps":{"alert":"A"}},"fcm_options":{"image":"https://o/1"}}"#))
        #expect(try !isAsked(#""android":{"notification":{"image":"https://o/1"}}"#))
        #expect(try !isAsked(#""webpush":{"notification":{"icon":"https://o/1"}}"#))
    }

    // MARK: Media that come along

    @Test(arguments: sent)
    func `a medium that no string stands for is under the key alone, in each message`(format: PayloadFormat) throws {
        let text = FormatField.message(format)
        let whole = format == .expo ? "[\(text),\(text)]" : text
        let payload = try PushPayload(Array(whole.utf8), format: format, attachments: ["photo"])
        let enriched = try payload.enriched(payload.delivered)
        for prefix in format == .expo ? ["/0", "/1"] : [""] {
            let entries = try satchel(format, in: enriched, prefix: prefix)?["attachments"]?.elements
            #expect(entries?.map { $0["identifier"]?.text } == ["photo"])
        }
        #expect(try payload.enriched(payload.failed) == whole)
    }

    @Test func `a message of an array has the entries of its own media`() throws {
        let texts = (1...3).map {
            #"{"title":"T","richContent":{"image":"https://o/\#($0 == 3 ? 1 : $0)"}}"#
        }
        let payload = try PushPayload("[\(texts.joined(separator: ","))]", format: .expo)
        #expect(payload.media.map(\.identifier) == ["image", "image-2"])
        let enriched = try payload.enriched(payload.delivered)
        let entries = try (0..<3).map { index in
            try satchel(.expo, in: enriched, prefix: "/\(index)")?["attachments"]?.elements.map { $0["url"]?.text }
        }
        #expect(entries == [["https://m/c/1/main.jpg"], ["https://m/c/2/main.jpg"], ["https://m/c/1/main.jpg"]])
        let half = try payload.enriched([payload.failed[0], payload.delivered[1]])
        #expect(half.hasPrefix(#"[{"title":"T"},{"title":"T","richContent":{"image":"https://m/c/2/main.jpg"}"#))
        #expect(half.hasSuffix(#",{"title":"T"}]"#))
    }

    // MARK: What is shown

    @Test(
        arguments: [
            (.fcm, #"{"message":{"token":"t","apns":{"fcm_options":{"image":"https://o/1"}}}}"#),
            (.onesignal, #"{"content_available":true,"big_picture":"https://o/1"}"#),
            (.expo, #"{"to":"t","_contentAvailable":true,"richContent":{"image":"https://o/1"}}"#),
            (.expo, #"[{"to":"t","richContent":{"image":"https://o/1"}}]"#), (.expo, "[]"), (.webpush, "{}"),
        ] as [(PayloadFormat, String)])
    func `what shows nothing stays as it is`(format: PayloadFormat, text: String) throws {
        let payload = try PushPayload(text, format: format)
        #expect(payload.media.isEmpty)
        #expect(try payload.enriched([]) == text)
    }

    @Test(
        arguments: [
            (.fcm, "{}", "messages:send"), (.fcm, #"{"message":"A"}"#, "'message'"), (.fcm, "[]", "FCM"),
            (.onesignal, "[]", "OneSignal"), (.expo, "3", "an array of at most 100"),
            (.expo, "[{},3]", "each an object"),
            (.expo, "[\(Array(repeating: "{}", count: 101).joined(separator: ","))]", "at most 100"),
            (.webpush, #""text""#, "service worker"),
        ] as [(PayloadFormat, String, String)])
    func `what is no message is refused with what would be one`(format: PayloadFormat, text: String, word: String) {
        #expect(throws: PayloadError.notAMessage(format)) { try PushPayload(text, format: format) }
        #expect(PayloadError.notAMessage(format).message.contains(word))
    }

    @Test(
        arguments: [
            (
                .fcm,
                #"{"message":{"notification":{"title":"T","body":"B"},"apns":{"payload":{"aps":{"category":"c"}}}}}"#,
                "c", ["T", nil, "B"]
            ),
            (.fcm, #"{"message":{"apns":{"payload":{"aps":{"alert":"B"}}}}}"#, nil, [nil, nil, "B"]),
            (
                .onesignal,
                #"{"headings":{"en":"T"},"subtitle":{"en":"S"},"contents":{"de":"b","en":"B"},"ios_category":"c"}"#,
                "c",
                ["T", "S", "B"]
            ),
            (.expo, #"[{"to":"t"},{"title":"T","subtitle":"S","body":"B","categoryId":"c"}]"#, "c", ["T", "S", "B"]),
            (.webpush, #"{"title":"T","body":"B"}"#, nil, ["T", nil, "B"]),
            (.webpush, #"{"web_push":8030,"notification":{"title":"T","body":"B"}}"#, nil, ["T", nil, "B"]),
        ] as [(PayloadFormat, String, String?, [String?])])
    func `texts and category are where each service has them`(
        format: PayloadFormat, text: String, category: String?, texts: [String?]
    ) throws {
        let payload = try PushPayload(text, format: format)
        #expect(payload.category == category)
        #expect(["title", "subtitle", "body"].map { payload.alert?[$0]?.text } == texts)
        #expect(payload.isShown)
    }

    @Test func `configured places are looked for in each message`() throws {
        let text = #"[{"title":"T","data":{"photo":"https://o/1"}},{"title":"T","data":{"photo":"https://o/2"}}]"#
        let payload = try PushPayload(
            Array(text.utf8), format: .expo, pointers: [JSONPointer(tokens: ["data", "photo"])])
        #expect(payload.media.map(\.pointer.description) == ["/0/data/photo", "/1/data/photo"])
    }
}
