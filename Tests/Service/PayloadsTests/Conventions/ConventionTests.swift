import SatchelCore
import Foundation
import Testing

@testable import Payloads

@Suite struct ConventionTests {
    @Test(arguments: ConventionExample.all) func `the media of each convention are found`(example: ConventionExample)
        throws
    {
        let payload = try PushPayload(example.payload)
        #expect(payload.media.map { "\($0.identifier) \($0.pointer) \($0.url)" } == example.media)
    }

    @Test(arguments: ConventionExample.all)
    func `delivered media are replaced in place, with their types, and all else stays`(example: ConventionExample)
        throws
    {
        let payload = try PushPayload(example.payload)
        let enriched = try payload.enriched(payload.delivered)
        let satchel = try #require(enriched.range(of: #","satchel":{"v":1,"#))
        #expect(enriched[..<satchel.lowerBound] + "}" == example.shown)
    }

    @Test(arguments: ConventionExample.all)
    func `failed media are removed, and the text stays`(example: ConventionExample) throws {
        let payload = try PushPayload(example.payload)
        #expect(try payload.enriched(payload.failed) == example.dropped)
    }

    @Test(arguments: ConventionExample.all)
    func `failed media that are to be kept leave the payload as it came`(example: ConventionExample) throws {
        let payload = try PushPayload(example.payload)
        #expect(try payload.enriched(payload.failed, .keep) == example.payload)
    }

    @Test(arguments: ConventionExample.all)
    func `failed media that are to be errors are named`(example: ConventionExample) throws {
        let payload = try PushPayload(example.payload)
        #expect {
            try payload.enriched(payload.failed, .error)
        } throws: { error in
            guard case .mediumFailed(let medium, let failure)? = error as? PayloadError else { return false }
            return medium == payload.media.first && failure.code == "fetch_failed"
        }
    }

    @Test(arguments: ConventionExample.all)
    func `without an alert nothing is found, and nothing changes`(example: ConventionExample) throws {
        for text in [
            example.payload.replacingOccurrences(of: #""alert""#, with: #""content-available""#),
            example.payload.replacingOccurrences(of: #""aps""#, with: #""sap""#),
        ] {
            let payload = try PushPayload(text)
            #expect(payload.media.isEmpty)
            #expect(try payload.enriched([]) == text)
        }
        #expect(try PushPayload(example.payload, type: .background).media.isEmpty)
    }

    // MARK: What is a medium

    @Test(arguments: [
        #""ftp://o.example/a.jpg""#, #""a.jpg""#, #""""#, #""https://""#, #""https:/o""#, "null", "true", "17", "{}",
        "[]",
        #""file:///etc/passwd""#, #""data:image/png;base64,AAAA""#, #""\ud83d""#, #"[[]]"#,
        #"{"url":"https://o.example/a.jpg"}"#,
    ])
    func `what is no http or https URL is no medium`(value: String) throws {
        let text = #"{"aps":{"alert":"A"},"my-attachment":\#(value)}"#
        let payload = try PushPayload(text)
        #expect(payload.media.isEmpty)
        #expect(try payload.enriched([]) == text)
    }

    @Test func `schemes are read whatever their case, and keys whatever their escapes`() throws {
        let payload = try PushPayload(
            #"{"\u0061ps":{"\u0061lert":"A"},"my\u002dattachment":"HTTPS:\/\/o.example\/\u0061.jpg"}"#)
        #expect(payload.media.map(\.url) == ["HTTPS://o.example/a.jpg"])
        #expect(
            try payload.enriched(payload.failed) == #"{"\u0061ps":{"\u0061lert":"A"}}"#)
    }

    @Test func `configured keys and pointers are places of media too`() throws {
        let text = #"{"aps":{"alert":"A"},"image":"https://o.example/a.jpg","x":{"y/z":["https://o.example/b.jpg",3]}}"#
        #expect(try PushPayload(text).media.isEmpty)
        let payload = try PushPayload(text, pointers: ["image", "/x/y~1z", "/nowhere", "/image"])
        #expect(payload.media.map(\.pointer.description) == ["/image", "/x/y~1z/0"])
        #expect(payload.media.map(\.identifier) == ["image", "y/z"])
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"alert":"A"},"x":{"y/z":[3]}}"#)
    }

    @Test func `the same URL in two places is one medium, and both places get it`() throws {
        let payload = try PushPayload(
            #"{"aps":{"alert":"A","mutable-content":1},"fcm_options":{"image":"https://o.example/a.jpg"},"my-attachment":"https:\/\/o.example\/a.jpg"}"#
        )
        #expect(payload.media.map(\.identifier) == ["my-attachment"])
        let enriched = try payload.enriched(payload.delivered)
        #expect(
            enriched.hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"fcm_options":{"image":"https://m/c/1/main.jpg"},"my-attachment":"https://m/c/1/main.jpg","#
            ))
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"alert":"A","mutable-content":1}}"#)
    }

    @Test func `at most ten media are found; what is beyond stays`() throws {
        let urls = (1...12).map { #""id\#($0)":"https://o.example/\#($0).jpg""# }.joined(separator: ",")
        let payload = try PushPayload(#"{"aps":{"alert":"A"},"att":{\#(urls)}}"#)
        #expect(payload.media.count == 10)
        #expect(
            try payload.enriched(payload.failed)
                == #"{"aps":{"alert":"A"},"att":{"id11":"https://o.example/11.jpg","id12":"https://o.example/12.jpg"}}"#
        )
    }

    @Test func `identifiers are unique in their payload`() throws {
        let payload = try PushPayload(
            #"{"aps":{"alert":"A"},"att":{"image":"https://o/1","image-2":"https://o/2","":"https://o/3"},"fcm_options":{"image":"https://o/4"},"_richContent":{"image":"https://o/5"}}"#
        )
        #expect(
            payload.media.map(\.identifier) == ["image", "image-2", "image-3", "media", "image-4"]
                || payload.media.map(\.identifier) == ["image", "image-2", "image-2-2", "media", "image-3"])
        #expect(Set(payload.media.map(\.identifier)).count == 5)
    }

    @Test func `a key that occurs twice is a medium twice`() throws {
        let payload = try PushPayload(
            #"{"aps":{"alert":"A"},"my-attachment":"https://o/1","my-attachment":"https://o/2","aps":{"badge":1}}"#)
        #expect(payload.media.map(\.url) == ["https://o/1", "https://o/2"])
        #expect(try payload.enriched(payload.failed) == #"{"aps":{"alert":"A"},"aps":{"badge":1}}"#)
    }

    // MARK: Types and options

    @Test(
        arguments: [
            ("jpg", .jpeg, "jpg"), ("jpeg", .jpeg, "jpeg"), ("JPG", .jpeg, "JPG"), (".png", .jpeg, ".jpg"),
            ("heic", .png, "png"),
            ("image", .gif, "image"), ("gif", .mp4, "mp4"), ("video", .mp4, "video"), ("image", .mp4, "video"),
            ("audio", .m4a, "audio"), ("image/webp", .jpeg, "image/jpeg"), ("video/mp4", .mp4, "video/mp4"),
            ("audio/x-caf", .m4a, "audio/mp4"), ("public.heic", .jpeg, "public.jpeg"), ("whatever", .png, "png"),
            ("image/jpg", .jpeg, "image/jpg"), ("mov", .mp4, "mp4"), ("", .jpeg, "jpg"), ("PNG", .jpeg, "JPG"),
            (".HEIC", .png, ".PNG"),
            ("IMAGE/PNG", .jpeg, "IMAGE/JPEG"), ("public.png", .mp4, "public.mpeg-4"),
        ] as [(String, MediaType, String)])
    func `types are said in the vocabulary they were said in`(old: String, type: MediaType, new: String) {
        #expect(TypeWord.rewrite(old, as: type) == new)
    }

    @Test(
        arguments: [
            "content-type", "contentType", "content_type", "type", "mimeType", "mime_type", "mime-type", "format",
            "uti",
        ],
        [
            ("heic", "jpg", nil), (".png", ".jpg", nil), ("PNG", "JPG", nil), ("image/png", "image/jpeg", nil),
            ("public.png", "public.jpeg", nil), ("image", "image", nil), ("video", "image", nil),
            // Words of the application's own.
            ("promo", "promo", "promo"), ("", "", ""), ("png, small", "png, small", "png, small"),
        ] as [(old: String, shown: String, dropped: String?)])
    func `the type beside a URL at a configured pointer is corrected, and other words are left alone`(
        key: String, word: (old: String, shown: String, dropped: String?)
    ) throws {
        let payload = try PushPayload(
            #"{"aps":{"alert":"A"},"attachment":{"url":"https://o/1","\#(key)":"\#(word.old)"}}"#,
            pointers: ["/attachment/url"])
        #expect(
            try payload.enriched(payload.delivered).hasPrefix(
                #"{"aps":{"alert":"A","mutable-content":1},"attachment":{"url":"https://m/c/1/main.jpg","\#(key)":"\#(word.shown)"},"#
            ))
        let left = word.dropped.map { #"{"\#(key)":"\#($0)"}"# }
        #expect(
            try payload.enriched(payload.failed)
                == #"{"aps":{"alert":"A"}\#(left.map { #","attachment":\#($0)"# } ?? "")}"#)
    }

    @Test func `declared types are read where they are types`() throws {
        func declared(_ word: String) throws -> MediaType? {
            try PushPayload(#"{"aps":{"alert":"A"},"ab":{"att":{"url":"https://o/1","type":\#(word)}}}"#).media.first?
                .declaredType
        }
        #expect(try declared(#""jpg""#) == .jpeg)
        #expect(try declared(#""video\/mp4""#) == .mp4)
        #expect(try declared(#""image""#) == nil)
        #expect(try declared("3") == nil)
    }

    @Test func `Airship's options are display options`() throws {
        func options(_ json: String) throws -> DisplayOptions? {
            try PushPayload(
                #"{"aps":{"alert":"A"},"com.urbanairship.media_attachment":{"url":"https://o/1","options":\#(json)}}"#
            )
            .media.first?.options
        }
        #expect(
            try options(#"{"crop":{"x":0.1,"y":0,"width":0.8,"height":1},"time":2.5,"hidden":true}"#)
                == DisplayOptions(
                    thumbnailHidden: true, thumbnailClippingRect: UnitRect(x: 0.1, y: 0, width: 0.8, height: 1),
                    thumbnailTime: 2.5))
        #expect(
            try options(#"{"crop":{"x":0.5,"y":0,"width":0.8,"height":1},"time":-1,"hidden":"yes"}"#)
                == DisplayOptions())
        #expect(try options(#"{"crop":{"x":0,"y":0,"width":1e400,"height":1},"time":1e400}"#) == DisplayOptions())
        #expect(try options("[]") == DisplayOptions())
    }

    @Test func `of Airship's media only the thumbnail's shows its thumbnail`() throws {
        let payload = try PushPayload(
            #"{"aps":{"alert":"A"},"com.urbanairship.media_attachment":{"urls":[{"url":"https://o/1","url_id":"a"},{"url":"https://o/2","url_id":"b"}],"thumbnail_id":"b","options":{"time":1}}}"#
        )
        #expect(payload.media.map(\.options.thumbnailHidden) == [true, false])
        // When the thumbnail's medium fails, the others may show theirs.
        let outcomes = [payload.delivered[0], payload.failed[1]]
        #expect(
            try payload.enriched(outcomes).contains(
                #""com.urbanairship.media_attachment":{"urls":[{"url":"https://m/c/1/main.jpg","url_id":"a"}],"options":{"time":1}},"satchel""#
            ))
    }
}
