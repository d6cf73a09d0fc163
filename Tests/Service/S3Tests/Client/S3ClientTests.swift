import AsyncHTTPClient
import SatchelCore
import Foundation
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@testable import S3

/// Against a real server.
@Suite(.needs(.ceph), .timeLimit(.minutes(5))) struct S3ClientTests {
    @Test(arguments: [
        "plain", "a/b/c.d", "with space", "plus+and%20percent", "ä/漢/😀", "q?uery#fragment&amp;=x", "a//b",
        "~'()*!@,;:$",
        "[brackets]{braces}", "back\\slash\"quote|pipe^", "trailing/", "<xml>&amp;", "é\u{0301}",
    ])
    func `an object of any key is written, read, listed and removed`(name: String) async throws {
        let bucket = try TestBucket()
        let key = bucket.key(name)
        try await bucket.client.put(Array("some bytes".utf8), as: key)
        #expect(try await bucket.client.get(key, 0..<100) == Array("some bytes".utf8))
        #expect(try await bucket.client.head(key).bytes == 10)
        #expect(try await bucket.keys() == [name])
        try await bucket.client.copy(key, to: key + ".copy")
        #expect(try await bucket.client.get(key + ".copy", 5..<10) == Array("bytes".utf8))
        try await bucket.client.delete(key)
        try await bucket.client.delete([key + ".copy", key])
        #expect(try await bucket.keys() == [])
    }

    @Test func `ranges end where the object does`() async throws {
        let bucket = try TestBucket()
        let data = Data.random(100_000)
        try await bucket.client.put(Array(data), as: bucket.key("a"))
        for range in [0..<0, 0..<1, 99_999..<100_000, 10..<70_000, 99_000..<300_000, 0..<1 << 40] as [Range<Int64>] {
            let part = data[Int(range.lowerBound)..<Int(min(range.upperBound, 100_000))]
            #expect(Data(try await bucket.client.get(bucket.key("a"), range)) == part)
        }
        #expect(try await bucket.client.get(bucket.key("a"), 100_000..<100_001) == [])
        try await bucket.client.put([], as: bucket.key("empty"))
        #expect(try await bucket.client.get(bucket.key("empty"), 0..<10) == [])
        #expect(try await bucket.client.head(bucket.key("empty")).bytes == 0)
    }

    @Test func `what isn't there is said to be so, and removing it is no error`() async throws {
        let bucket = try TestBucket()
        let key = bucket.key("nothing")
        await #expect(throws: S3Error.noSuchObject) { try await bucket.client.get(key, 0..<1) }
        await #expect(throws: S3Error.noSuchObject) { try await bucket.client.head(key) }
        await #expect(throws: S3Error.noSuchObject) { try await bucket.client.copy(key, to: key + "2") }
        try await bucket.client.delete(key)
        try await bucket.client.delete([key])
        try await bucket.client.delete([])
    }

    @Test func `a list goes on over any number of requests, in order, from any key`() async throws {
        let bucket = try TestBucket()
        let names = (0..<2300).map { String(format: "%05d", $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, name) in names.enumerated() {
                if index >= 32 { try await group.next() }
                group.addTask { try await bucket.client.put([1], as: bucket.key(name)) }
            }
            try await group.waitForAll()
        }
        #expect(try await bucket.keys() == names)
        let first = try await bucket.client.list(bucket.configuration.prefix, limit: 1500)
        #expect(first.elements.count == 1500 && first.next == bucket.key("01499"))
        let rest = try await bucket.client.list(bucket.configuration.prefix, after: first.next, limit: 1500)
        #expect(rest.elements.count == 800 && rest.next == nil)
        #expect(rest.elements.first?.key == bucket.key("01500"))
        let ages = rest.elements.compactMap(\.modifiedAt).map { Instant.wallClock() - $0 }
        #expect(ages.count == 800 && ages.allSatisfy { $0 > .seconds(-10) && $0 < .seconds(600) })
        // More than one request takes.
        try await bucket.client.delete(names.map(bucket.key))
        #expect(try await bucket.keys() == [])
    }

    @Test(arguments: [1, 2, 1000])
    func `versions of an object are listed, the latest first, also of one that was removed`(atOnce: Int) async throws {
        let bucket = try TestBucket(bucket: S3Gateway.versionedBucket)
        let key = bucket.key("a")
        #expect(try await bucket.client.versions(of: key, atOnce: atOnce) == [])
        // It begins the other, which has versions of its own.
        for text in ["one", "two", "three"] {
            for name in ["a", "a b"] { try await bucket.client.put(Array((name + text).utf8), as: bucket.key(name)) }
            try await bucket.client.delete(key)
        }
        let versions = try await bucket.client.versions(of: key, atOnce: atOnce)
        var texts: [String] = []
        for version in versions {
            texts.append(
                String(decoding: try await bucket.client.get(key, version: version, 0..<100), as: UTF8.self))
        }
        #expect(texts == ["athree", "atwo", "aone"])
        await #expect(throws: S3Error.noSuchObject) { try await bucket.client.get(key, 0..<100) }
        try await bucket.client.copy(key, version: versions.last, to: key)
        #expect(try await bucket.client.get(key, 0..<100) == Array("aone".utf8))
        #expect(try await bucket.client.versions(of: bucket.key("a b"), atOnce: atOnce).count == 3)
    }

    @Test func `a large file goes up in parts and comes down in ranges, the same to the byte`() async throws {
        let bucket = try TestBucket()
        let data = Data.random((64 << 20) + 5_000_001)
        let file = try HashedFile.holding(data)
        try await bucket.client.put(file, as: bucket.key("large"))
        #expect(try await bucket.client.head(bucket.key("large")).bytes == file.bytes)
        #expect(try await bucket.uploads() == [])
        let directory = try TemporaryDirectory(inMemory: true)
        let copy = try ScratchCopy(in: directory.url.path(percentEncoded: false))
        #expect(try await bucket.client.fetch(bucket.key("large"), into: copy.writer.number) == file.bytes)
        let reader = try FileHandle(fileDescriptor: copy.takeReader().release(), closeOnDealloc: true)
        #expect(try reader.readToEnd()?.sha256 == file.sha256)
    }

    @Test(arguments: [0, 1, 8 << 10, (8 << 10) + 1, 40 << 10, (100 << 10) - 1])
    func `a file of any size is the same when it is fetched`(count: Int) async throws {
        let bucket = try TestBucket { configuration in
            configuration.partSize = 8 << 10
            configuration.largestPut = 8 << 20
        }
        let data = Data.random(count)
        try await bucket.client.put(try .holding(data), as: bucket.key("a"))
        let directory = try TemporaryDirectory(inMemory: true)
        let copy = try ScratchCopy(in: directory.url.path(percentEncoded: false))
        #expect(try await bucket.client.fetch(bucket.key("a"), into: copy.writer.number) == count)
        let reader = try FileHandle(fileDescriptor: copy.takeReader().release(), closeOnDealloc: true)
        #expect(try reader.readToEnd() ?? Data() == data)
    }

    @Test func `bytes that aren't those of their hash are refused, and nothing is kept`() async throws {
        let bucket = try TestBucket()
        let file = try HashedFile.holding(Data("real".utf8), sha256: Data("other".utf8).sha256)
        await #expect(throws: S3Error.hashMismatch) { try await bucket.client.put(file, as: bucket.key("a")) }
        #expect(try await bucket.keys() == [])
    }

    @Test func `a file that was cut meanwhile is told, and nothing is kept`() async throws {
        let bucket = try TestBucket()
        var file = try HashedFile.holding(Data("real".utf8))
        file.bytes = 5
        let wrong = file
        await #expect(throws: S3Error.file(reason: "a file that is to be stored was cut", isOutOfSpace: false)) {
            try await bucket.client.put(wrong, as: bucket.key("a"))
        }
        #expect(try await bucket.keys() == [])
    }

    @Test func `a wrong secret, an unknown key and a missing bucket are told apart`() async throws {
        let wrong = try TestBucket(secretKey: "wrong")
        let secret = await #expect(throws: S3Error.self) { try await wrong.client.put([1], as: wrong.key("a")) }
        #expect(secret == .wrongSecret(accessKey: wrong.gateway.accessKey))
        let stranger = try S3Client(
            wrong.configuration, credentials: S3Credentials(accessKey: "NOBODY", secretKey: "none"))
        await #expect(throws: S3Error.unknownAccessKey("NOBODY")) { try await stranger.get("a", 0..<1) }
        let nowhere = try TestBucket(bucket: "no-such-bucket")
        await #expect(throws: S3Error.noSuchBucket("no-such-bucket")) { try await nowhere.client.put([1], as: "a") }
        await #expect(throws: S3Error.noSuchBucket("no-such-bucket")) { try await nowhere.client.list("", limit: 1) }
    }

    @Test(arguments: [-3600, 3600])
    func `a skewed clock is set by the server's once, and requests go on`(seconds: Int) async throws {
        let bucket = try TestBucket(clock: { Instant.wallClock() + .seconds(seconds) })
        try await bucket.client.put([1], as: bucket.key("a"))
        #expect(abs((bucket.client.clockOffset + .seconds(seconds)).inSeconds) < 5)
        #expect(try await bucket.client.get(bucket.key("a"), 0..<1) == [1])
        let list = try await bucket.client.stored(in: "", after: nil, limit: 1) { $0 }
        #expect(list.elements.allSatisfy { $0.age < .seconds(600) }, "ages are by the server's clock")
    }

    @Test func `a clock that can't be set is an error of its own, after one more request`() async throws {
        // Each look at it is an hour later than the last.
        let looks = Atomic(0)
        let bucket = try TestBucket(clock: {
            Instant.wallClock() + .seconds(3600 * looks.add(1, ordering: .relaxed).newValue)
        })
        await #expect(throws: S3Error.clockSkewed) { try await bucket.client.put([1], as: bucket.key("a")) }
    }

    @Test func `a presigned URL reads one object, for anybody, until it runs out`() async throws {
        let bucket = try TestBucket()
        try await bucket.client.put(Array("text".utf8), as: bucket.key("a b/ä"))
        func get(_ url: String, _ more: [String] = []) throws -> String {
            try Program.tool("curl").run(["-s", "-w", " %{http_code}"] + more + [url]).outputText
        }
        let url = try await bucket.client.presignedURL(of: bucket.key("a b/ä"), for: .seconds(60))
        #expect(try get(url) == "text 200")
        #expect(try get(url, ["-r", "1-2"]) == "ex 206")
        #expect(try get(url.replacing("%20", with: "")).hasSuffix(" 403"))
        let past = try TestBucket(clock: { Instant.wallClock() - .seconds(120) })
        let old = try await past.client.presignedURL(of: bucket.key("a b/ä"), for: .seconds(60))
        #expect(try get(old).hasSuffix(" 403"))
    }

    @Test func `a bucket in the host's name is the same bucket`() async throws {
        let bucket = try TestBucket()
        try await bucket.client.put([7], as: bucket.key("a"))
        var configuration = bucket.configuration
        configuration.usesPathStyle = false
        configuration.endpoint = "http://s3.test:\(bucket.gateway.port)"
        configuration.addresses = ["satchel.s3.test": "127.0.0.1"]
        let client = try S3Client(
            configuration,
            credentials: S3Credentials(accessKey: bucket.gateway.accessKey, secretKey: bucket.gateway.secretKey))
        #expect(try await client.get(bucket.key("a"), 0..<1) == [7])
        #expect(try await client.list(configuration.prefix, limit: 10).elements.map(\.key) == [bucket.key("a")])
    }

    @Test
    func `objects are encrypted with a managed key where that is wished, in one piece or in parts`()
        async throws
    {
        let bucket = try TestBucket { configuration in
            configuration.encryption = .managed(key: "test-key")
            configuration.storageClass = "STANDARD"
            configuration.largestPut = 6 << 20
            configuration.partSize = 5 << 20
        }
        let data = Data.random(11 << 20)
        try await bucket.client.put([1], as: bucket.key("small"))
        try await bucket.client.put(try .holding(data), as: bucket.key("parts"))
        for name in ["small", "parts"] {
            let request = S3Request(operation: "reading", method: "HEAD", key: bucket.key(name))
            let used = try await bucket.client.send(request) {
                $0.headers.first(name: "x-amz-server-side-encryption-aws-kms-key-id")
            }
            #expect(used == "test-key", "\(name)")
        }
        #expect(Data(try await bucket.client.get(bucket.key("parts"), 0..<Int64(data.count))) == data)
    }

    @Test func `an upload that is given up leaves nothing, and giving it up again is no error`() async throws {
        let bucket = try TestBucket()
        let upload = try await bucket.client.beginUpload(of: bucket.key("a"))
        let file = try HashedFile.holding(Data.random(1000))
        _ = try await bucket.client.put(
            FileRegion(file: file.file, range: 0..<1000), part: 1, of: upload, as: bucket.key("a"))
        #expect(try await bucket.uploads() == [bucket.key("a")])
        try await bucket.client.abort(upload, of: bucket.key("a"))
        try await bucket.client.abort(upload, of: bucket.key("a"))
        #expect(try await bucket.uploads() == [])
        #expect(try await bucket.keys() == [])
    }
}
