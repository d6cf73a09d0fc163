import SatchelCore
import Foundation
import NIOCore
import NIOSSL
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import S3

/// A real server behind a proxy that breaks things.
@Suite(.needs(.ceph), .timeLimit(.minutes(5))) struct S3FaultTests {
    /// Faults that come one after the other, to requests that look so; then none.
    private final class Faults: Sendable {
        private let left: Mutex<[FaultProxy.Fault]>
        private let isMeant: @Sendable (String) -> Bool

        init(_ faults: [FaultProxy.Fault], where isMeant: @escaping @Sendable (String) -> Bool = { _ in true }) {
            left = Mutex(faults)
            self.isMeant = isMeant
        }

        func next(_ line: String) -> FaultProxy.Fault? {
            isMeant(line) ? left.withLock { $0.isEmpty ? nil : $0.removeFirst() } : nil
        }
    }

    private static func error(_ status: Int, _ code: String, _ more: String = "", headers: String = "")
        -> FaultProxy.Fault
    {
        let body = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code>\(more)</Error>"
        return .answer(
            "HTTP/1.1 \(status) Answer\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\(headers)\r\n\(body)"
        )
    }

    private static let passing: [(String, FaultProxy.Fault)] = [
        ("the request is reset", .resetRequest(after: 10)),
        ("the request is reset in its body", .resetRequest(after: 50_000)),
        ("the answer is reset", .resetAnswer(after: 10)),
        ("500", error(500, "InternalError")), ("502", error(502, "")), ("503", error(503, "ServiceUnavailable")),
        ("SlowDown", error(503, "SlowDown")), ("RequestTimeout", error(400, "RequestTimeout")),
        ("no answer", .silence),
    ]

    @Test(arguments: passing.map(\.0))
    func `what fails twice for a passing reason succeeds at the third try, writing and reading`(name: String)
        async throws
    {
        let fault = try #require(Self.passing.first { $0.0 == name }?.1)
        let gateway = try S3Gateway.shared()
        let data = Data.random(100_000)
        let writing = Faults([fault, fault]) { $0.hasPrefix("PUT") }
        let reading = Faults([fault, fault]) { $0.hasPrefix("GET") }
        let proxy = try await FaultProxy(to: gateway.port) { writing.next($0) ?? reading.next($0) }
        // Nobody answers: then a try is over when nothing came for a while.
        let bucket = try TestBucket(at: proxy.port) { if case .silence = fault { $0.idleTime = .seconds(3) } }
        try await bucket.client.put(try .holding(data), as: bucket.key("a"))
        #expect(proxy.requests.count == 3)
        if case .resetRequest(after: 50_000) = fault { return }
        #expect(Data(try await bucket.client.get(bucket.key("a"), 0..<100_000)) == data)
        #expect(proxy.requests.count == 6)
    }

    @Test func `an answer that is cut in its body is asked for again`() async throws {
        let gateway = try S3Gateway.shared()
        let data = Data.random(1_000_000)
        let faults = Faults([.resetAnswer(after: 500_000), .resetAnswer(after: 900_000)]) { $0.hasPrefix("GET") }
        let proxy = try await FaultProxy(to: gateway.port, faults.next)
        let bucket = try TestBucket(at: proxy.port)
        try await bucket.client.put(try .holding(data), as: bucket.key("a"))
        let directory = try TemporaryDirectory(inMemory: true)
        let copy = try ScratchCopy(in: directory.url.path(percentEncoded: false))
        #expect(try await bucket.client.fetch(bucket.key("a"), into: copy.writer.number) == 1_000_000)
        let reader = try FileHandle(fileDescriptor: copy.takeReader().release(), closeOnDealloc: true)
        #expect(try reader.readToEnd() == data)
        #expect(proxy.requests.count { $0.hasPrefix("GET") } == 3)
    }

    @Test func `what goes on failing is an error after three tries`() async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { _ in Self.error(503, "SlowDown") }
        let bucket = try TestBucket(at: proxy.port)
        await #expect(throws: S3Error.unavailable(status: 503, code: "SlowDown")) {
            try await bucket.client.put([1], as: bucket.key("a"))
        }
        #expect(proxy.requests.count == 3)
    }

    @Test(arguments: [
        (400, "InvalidArgument", S3Error.refused(status: 400, code: "InvalidArgument")),
        (403, "AccessDenied", S3Error.accessDenied(operation: "writing")),
        (403, "ExpiredToken", S3Error.expiredCredentials),
        (403, "QuotaExceeded", S3Error.full),
        (404, "NoSuchBucket", S3Error.noSuchBucket("satchel")),
        (409, "<script>", S3Error.refused(status: 409, code: "")),
    ])
    func `a refusal is final`(status: Int, code: String, expected: S3Error) async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { _ in Self.error(status, code) }
        let bucket = try TestBucket(at: proxy.port)
        await #expect(throws: expected) { try await bucket.client.put([1], as: bucket.key("a")) }
        #expect(proxy.requests.count == 1)
    }

    /// The gateway takes any region, so the answers are AWS's: "Error responses" of the Amazon S3 API Reference.
    @Test func `another region is named`() async throws {
        let faults = Faults([
            Self.error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"),
            Self.error(
                301, "PermanentRedirect", headers: "x-amz-bucket-region: eu-west-2\r\nLocation: http://127.0.0.1:1/\r\n"
            ),
            Self.error(301, "PermanentRedirect"),
        ])
        let proxy = try await FaultProxy(to: S3Gateway.shared().port, faults.next)
        let bucket = try TestBucket(at: proxy.port)
        for right in ["eu-west-1", "eu-west-2", nil] {
            await #expect(throws: S3Error.wrongRegion("us-east-1", right: right)) {
                try await bucket.client.put([1], as: bucket.key("a"))
            }
        }
        #expect(
            S3Error.wrongRegion("us-east-1", right: "eu-west-1").description
                == "The bucket is in the region 'eu-west-1', not in 'us-east-1': set s3.region to it.")
    }

    @Test func `tries end with the time that there is, also while nothing is said or an answer doesn't go on`()
        async throws
    {
        let gateway = try S3Gateway.shared()
        let silent = try await FaultProxy(to: gateway.port) { _ in .silence }
        // Half of an answer, and no end of it.
        let stuck = try await FaultProxy(to: gateway.port) { _ in
            .answer("HTTP/1.1 206 Partial\r\nContent-Length: 10\r\nContent-Range: bytes 0-9/10\r\n\r\n12345")
        }
        for proxy in [silent, stuck] {
            let bucket = try TestBucket(at: proxy.port) { configuration in
                configuration.time = .seconds(1)
                configuration.idleTime = .seconds(3600)
            }
            let start = ContinuousClock.now
            await #expect(throws: S3Error.timedOut(host: "127.0.0.1")) { try await bucket.client.get("a", 0..<10) }
            #expect(ContinuousClock.now - start < .seconds(30), "an hour would be")
            #expect(proxy.requests.count <= 1)
        }
        // No wait goes beyond the end: with no time left there is no other try.
        let busy = try await FaultProxy(to: gateway.port) { _ in Self.error(503, "SlowDown") }
        let bucket = try TestBucket(at: busy.port) { $0.time = .zero }
        await #expect(throws: S3Error.self) { try await bucket.client.get("a", 0..<10) }
        #expect(busy.requests.count <= 1)
    }

    @Test func `nobody waits longer than the task has time for, and of what was begun nothing is left`() async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { line in
            line.hasPrefix("GET") || line.contains("partNumber=2") ? .silence : nil
        }
        let bucket = try TestBucket(at: proxy.port) { configuration in
            Self.parts(&configuration)
            (configuration.time, configuration.idleTime) = (.seconds(3600), .seconds(3600))
        }
        let file = try HashedFile.holding(Data.random(16 << 20))
        await StoreTime.$current.withValue(StoreTime(reading: .now + .seconds(3), writing: .now)) {
            await #expect(throws: S3Error.timedOut(host: "127.0.0.1")) {
                try await bucket.client.get(bucket.key("a"), 0..<10)
            }
        }
        // None, where the time was over before there was a connection.
        #expect(proxy.requests.count <= 1)
        await StoreTime.$current.withValue(StoreTime(reading: .now, writing: .now + .seconds(6))) {
            await #expect(throws: S3Error.timedOut(host: "127.0.0.1")) {
                try await bucket.client.put(file, as: bucket.key("a"))
            }
        }
        let direct = try TestBucket { $0.prefix = bucket.configuration.prefix }
        #expect(try await direct.uploads() == [])
        #expect(try await direct.keys() == [])
    }

    @Test func `a cancelled task asks no more`() async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { _ in .silence }
        let bucket = try TestBucket(at: proxy.port)
        let task = Task { try await bucket.client.get("a", 0..<10) }
        try await eventually("it asks") { proxy.requests.count == 1 }
        task.cancel()
        await #expect(throws: S3Error.cancelled) { try await task.value }
        #expect(proxy.requests.count == 1)
    }

    private static let parts: @Sendable (inout S3Configuration) -> Void = { configuration in
        configuration.largestPut = 6 << 20
        configuration.partSize = 5 << 20
    }

    @Test func `of an upload in parts that fails in the middle nothing is left`() async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { line in
            line.contains("partNumber=3") ? Self.error(403, "AccessDenied") : nil
        }
        let bucket = try TestBucket(at: proxy.port, Self.parts)
        let file = try HashedFile.holding(Data.random(31 << 20))
        await #expect(throws: S3Error.accessDenied(operation: "writing")) {
            try await bucket.client.put(file, as: bucket.key("a"))
        }
        #expect(try await bucket.uploads() == [])
        #expect(try await bucket.keys() == [])
        #expect(proxy.requests.contains { $0.hasPrefix("DELETE") && $0.contains("uploadId") })
    }

    @Test func `of an upload in parts whose task is cancelled nothing is left`() async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { line in
            line.contains("partNumber=2") ? .silence : nil
        }
        let bucket = try TestBucket(at: proxy.port, Self.parts)
        let file = try HashedFile.holding(Data.random(16 << 20))
        let task = Task { try await bucket.client.put(file, as: bucket.key("a")) }
        try await eventually("the second part is under way") { proxy.requests.contains { $0.contains("partNumber=2") } }
        task.cancel()
        await #expect(throws: S3Error.cancelled) { try await task.value }
        #expect(try await bucket.uploads() == [])
        #expect(try await bucket.keys() == [])
    }

    @Test func `parts that fail for a passing reason are sent again, and the whole is the same`() async throws {
        let faults = Faults([.resetRequest(after: 100_000), Self.error(503, "SlowDown"), .resetAnswer(after: 20)]) {
            $0.contains("partNumber")
        }
        let proxy = try await FaultProxy(to: S3Gateway.shared().port, faults.next)
        let bucket = try TestBucket(at: proxy.port, Self.parts)
        let data = Data.random(23 << 20)
        try await bucket.client.put(try .holding(data), as: bucket.key("a"))
        #expect(try await bucket.uploads() == [])
        #expect(Data(try await bucket.client.get(bucket.key("a"), 0..<Int64(data.count))) == data)
        #expect(proxy.requests.count { $0.contains("partNumber") } == 8)
    }

    @Test func `an upload whose last answer was lost is whole all the same`() async throws {
        let faults = Faults([.resetAnswer(after: 20)]) { $0.hasPrefix("POST") && $0.contains("uploadId") }
        let proxy = try await FaultProxy(to: S3Gateway.shared().port, faults.next)
        let bucket = try TestBucket(at: proxy.port, Self.parts)
        let data = Data.random(11 << 20)
        try await bucket.client.put(try .holding(data), as: bucket.key("a"))
        #expect(try await bucket.client.head(bucket.key("a")).bytes == Int64(data.count))
    }

    @Test func `an answer of 200 that says in the end that it failed is asked for again`() async throws {
        let body = "<?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>"
        let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let faults = Faults([.answer(answer)]) { $0.hasPrefix("PUT") && $0.contains("copy") }
        let proxy = try await FaultProxy(to: S3Gateway.shared().port, faults.next)
        let bucket = try TestBucket(at: proxy.port)
        try await bucket.client.put([1], as: bucket.key("a"))
        try await bucket.client.copy(bucket.key("a"), to: bucket.key("copy"))
        #expect(try await bucket.client.get(bucket.key("copy"), 0..<1) == [1])
    }

    @Test(arguments: [
        "HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\n123",
        "HTTP/1.1 206 Partial\r\nContent-Length: 3\r\nContent-Range: bytes 5-7/10\r\n\r\n123",
        "HTTP/1.1 206 Partial\r\nContent-Length: 20\r\nContent-Range: bytes 0-9/10\r\n\r\n12345678901234567890",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n123",
    ])
    func `an answer that isn't what was asked for is an error`(answer: String) async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { _ in .answer(answer) }
        let bucket = try TestBucket(at: proxy.port)
        let error = await #expect(throws: S3Error.self) { try await bucket.client.get("a", 0..<10) }
        guard case .malformedAnswer? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(proxy.requests.count == 1)
    }

    @Test func `a certificate that isn't trusted is told, and one of the configured authority is taken`() async throws {
        let gateway = try S3Gateway.shared()
        let directory = try TemporaryDirectory()
        let path = directory.url.path(percentEncoded: false)
        try Program.makeCertificate("s3", certificate: path + "/certificate.pem", key: path + "/key.pem")
        try Program.makeCertificate(
            "other", for: "DNS:elsewhere", certificate: path + "/other.pem", key: path + "/other-key.pem")
        func context(_ name: String) throws -> NIOSSLContext {
            let key = name == "other" ? "/other-key.pem" : "/key.pem"
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMFile("\(path)/\(name).pem").map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: path + key, format: .pem))))
        }
        let proxy = try await FaultProxy(to: gateway.port, tls: context("certificate"))
        let unknown = try TestBucket(at: proxy.port, scheme: "https")
        await #expect(throws: S3Error.certificate(host: "127.0.0.1")) {
            try await unknown.client.put([1], as: unknown.key("a"))
        }
        let known = try TestBucket(at: proxy.port, scheme: "https") {
            $0.certificateAuthorities = path + "/certificate.pem"
        }
        try await known.client.put([1], as: known.key("a"))
        #expect(try await known.client.get(known.key("a"), 0..<1) == [1])
        // Signed by the authority, but for another host.
        let elsewhere = try await FaultProxy(to: gateway.port, tls: context("other"))
        let wrong = try TestBucket(at: elsewhere.port, scheme: "https") {
            $0.certificateAuthorities = path + "/other.pem"
        }
        await #expect(throws: S3Error.certificate(host: "127.0.0.1")) {
            try await wrong.client.put([1], as: wrong.key("a"))
        }
        #expect(proxy.requests.count == 2 && elsewhere.requests.isEmpty, "nothing is told to a stranger")
    }

    @Test func `a server that isn't there, and a name that leads nowhere, are told`() async throws {
        let gone = try TestBucket(at: FreePort.find())
        let error = await #expect(throws: S3Error.self) { try await gone.client.put([1], as: "a") }
        #expect(error == .unreachable(host: "127.0.0.1", reason: "the connection was refused"))
        let nowhere = try TestBucket { $0.endpoint = "http://nowhere.invalid" }
        let other = await #expect(throws: S3Error.self) { try await nowhere.client.put([1], as: "a") }
        #expect(other == .unreachable(host: "nowhere.invalid", reason: "the host name can't be resolved"))
    }

    @Test func `a gateway whose storage stands still is an error in time, and used again when it goes on`() async throws
    {
        let gateway = try S3Gateway()
        let credentials = S3Credentials(accessKey: gateway.accessKey, secretKey: gateway.secretKey)
        var configuration = try S3Configuration("s3://satchel", endpoint: gateway.endpoint, usesPathStyle: true)
        let client = try S3Client(configuration, credentials: credentials)
        configuration.time = .seconds(1)
        let hasty = try S3Client(configuration, credentials: credentials)
        try await client.put([1], as: "a")
        try gateway.pause()
        await #expect(throws: S3Error.timedOut(host: "127.0.0.1")) { try await hasty.put([2], as: "a") }
        try gateway.resume()
        try await eventually("it goes on") { (try? await client.put([3], as: "b")) != nil }
        #expect(try await client.get("b", 0..<1) == [3])
    }

    @Test func `each error is one sentence`() {
        let errors: [S3Error] = [
            .invalidSetting(name: "blobs", value: "x", need: "it is none"), .noCredentials(reason: "there are none"),
            .noSuchObject, .noSuchBucket("b"), .wrongRegion("a", right: "b"), .wrongRegion("a", right: nil),
            .unknownAccessKey("k"), .wrongSecret(accessKey: "k"), .expiredCredentials,
            .accessDenied(operation: "reading"),
            .clockSkewed, .hashMismatch, .certificate(host: "h"),
            .unreachable(host: "h", reason: "the connection was refused"),
            .timedOut(host: "h"), .brokenConnection(host: "h"), .unavailable(status: 503, code: "SlowDown"), .full,
            .malformedAnswer(reason: "it isn't HTTP"), .refused(status: 400, code: ""),
            .file(reason: "cannot read a file: no", isOutOfSpace: false), .cancelled,
        ]
        for error in errors {
            #expect(error.description.first?.isUppercase == true || error.description.first == "'", "\(error)")
            #expect(error.description.hasSuffix(".") && !error.description.contains(". "), "\(error)")
        }
    }
}
