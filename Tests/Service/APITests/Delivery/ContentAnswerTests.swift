import SatchelCore
import Testing

@testable import API

/// The decision about a request for content, without a wire.
@Suite struct ContentAnswerTests {
    private static let hash = String(repeating: "ab", count: 32)
    private static let tag = "\"\(hash)\""

    private static func access(
        size: Int64 = 1000, role: RenditionRole = .main, delivery: DeliveryMode = .private
    ) -> ContentAccess {
        ContentAccess(
            id: "a", tenant: .local, attachment: .generate(), role: role,
            rendition: Rendition(mediaType: .jpeg, width: 1, height: 1, duration: nil, bytes: size, sha256: hash),
            blob: BlobName(rawValue: hash + ".x"), delivery: delivery, expiresAt: Instant(milliseconds: 0),
            at: Instant(milliseconds: 0))
    }

    private static func answer(
        _ request: ContentRequest, _ access: ContentAccess = access(), redirect: String? = nil
    ) -> ContentAnswer {
        ContentAnswer(to: request, for: access, remaining: .seconds(90), redirect: redirect)
    }

    private static func field(_ name: String, _ answer: ContentAnswer) -> String? {
        answer.fields.first { $0.name == name }?.value
    }

    @Test(
        arguments: [
            ("bytes=0-99", 0..<100), ("bytes=0-0", 0..<1), ("bytes=999-", 999..<1000), ("bytes=-1", 999..<1000),
            ("bytes=-5000", 0..<1000), ("bytes=10-99999999999999999999", 10..<1000), ("BYTES=1-2", 1..<3),
            ("bytes= 1-2 ", 1..<3), ("bytes=0-", 0..<1000), ("bytes=-1000", 0..<1000),
        ] as [(String, Range<Int64>)])
    func `a range is answered with its bytes`(header: String, bytes: Range<Int64>) {
        let answer = Self.answer(ContentRequest(range: header))
        #expect(answer.status == 206)
        #expect(answer.body == bytes && answer.length == Int64(bytes.count))
        #expect(
            Self.field("Content-Range", answer) == "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/1000")
    }

    @Test(arguments: ["bytes=1000-", "bytes=1000-1001", "bytes=-0", "bytes=99999999999999999999-"])
    func `a range of which nothing is there is not satisfiable`(header: String) {
        let answer = Self.answer(ContentRequest(range: header))
        #expect(answer.status == 416 && answer.body == nil && answer.length == 0)
        #expect(Self.field("Content-Range", answer) == "bytes */1000")
    }

    @Test(arguments: [
        "bytes=5-3", "bytes=a-b", "bytes=", "bytes=-", "bytes", "lines=0-1", "bytes=0-1,5-6", "bytes=--1",
        "bytes=+1-2", "bytes=0x1-2", "bytes=1-2-3", "",
    ])
    func `what is no single range is passed over`(header: String) {
        let answer = Self.answer(ContentRequest(range: header))
        #expect(answer.status == 200 && answer.body == 0..<1000)
    }

    @Test func `every range of every small size gives what it says`() {
        for size in Int64(0)...6 {
            let access = Self.access(size: size)
            for first in Int64(0)...7 {
                for last in Int64(0)...7 {
                    let answer = Self.answer(ContentRequest(range: "bytes=\(first)-\(last)"), access)
                    let expected = (0..<size).filter { $0 >= first && $0 <= last }
                    if first > last {
                        #expect(answer.status == 200 && answer.length == size)
                    } else if let start = expected.first, let end = expected.last {
                        #expect(answer.status == 206 && answer.body == start..<end + 1)
                    } else {
                        #expect(answer.status == 416 && answer.body == nil)
                    }
                }
                let suffix = Self.answer(ContentRequest(range: "bytes=-\(first)"), access)
                if first > 0, size > 0 {
                    #expect(suffix.status == 206 && suffix.body == max(size - first, 0)..<size)
                } else {
                    #expect(suffix.status == 416)
                }
            }
        }
    }

    @Test func `conditions are weighed in the order of RFC 9110`() {
        let tag = Self.tag
        let cases: [(ContentRequest, Int)] = [
            (ContentRequest(ifNoneMatch: tag), 304), (ContentRequest(ifNoneMatch: "W/\(tag)"), 304),
            (ContentRequest(ifNoneMatch: "*"), 304), (ContentRequest(ifNoneMatch: "\"x\", \(tag)"), 304),
            (ContentRequest(ifNoneMatch: "\"x\""), 200), (ContentRequest(ifNoneMatch: "rubbish"), 200),
            (ContentRequest(ifMatch: tag), 200), (ContentRequest(ifMatch: "*"), 200),
            (ContentRequest(ifMatch: "W/\(tag)"), 412), (ContentRequest(ifMatch: "\"x\""), 412),
            (ContentRequest(ifMatch: "\"x\"", ifNoneMatch: tag), 412),
            (ContentRequest(range: "bytes=0-1", ifNoneMatch: tag), 304),
            (ContentRequest(range: "bytes=0-1", ifRange: tag), 206),
            (ContentRequest(range: "bytes=0-1", ifRange: "W/\(tag)"), 200),
            (ContentRequest(range: "bytes=0-1", ifRange: "\"x\""), 200),
            (ContentRequest(range: "bytes=0-1", ifRange: "Sat, 21 Nov 2026 10:00:00 GMT"), 200),
            (ContentRequest(range: "bytes=5000-", ifRange: "\"x\""), 200),
            (ContentRequest(isHead: true, range: "bytes=0-1"), 200),
            (ContentRequest(isHead: true, ifMatch: "\"x\""), 412),
        ]
        for (request, status) in cases {
            let answer = Self.answer(request)
            #expect(answer.status == status, "\(request)")
            #expect(Self.field("ETag", answer) == tag)
            #expect((answer.body != nil) == ((status == 200 || status == 206) && !request.isHead), "\(request)")
        }
    }

    @Test func `how long others may keep it depends on what it is and whom it is for`() {
        func caching(_ role: RenditionRole, _ delivery: DeliveryMode) -> String? {
            Self.field("Cache-Control", Self.answer(ContentRequest(), Self.access(role: role, delivery: delivery)))
        }
        #expect(caching(.main, .private) == "private, no-cache")
        #expect(caching(.original, .private) == "no-store")
        #expect(caching(.main, .shared) == "public, max-age=90")
    }

    @Test func `with a server in front, it is told where the bytes are, and sends them itself`() {
        let answer = Self.answer(ContentRequest(range: "bytes=0-1"), redirect: "/satchel-blobs/ab/\(Self.hash).x")
        #expect(answer.status == 200 && answer.body == nil && answer.length == 0)
        #expect(Self.field("X-Accel-Redirect", answer) == "/satchel-blobs/ab/\(Self.hash).x")
        #expect(Self.field("Content-Type", answer) == "image/jpeg")
        #expect(
            Self.answer(ContentRequest(ifNoneMatch: Self.tag), redirect: "/satchel-blobs/ab/\(Self.hash).x").status
                == 304)
    }
}
