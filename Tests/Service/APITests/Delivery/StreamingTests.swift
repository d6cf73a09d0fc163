import SatchelCore
import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import API
@testable import Stores

/// Blobs whose bytes have to be asked for piece by piece, as an object store's have.
private final class StreamedBlobs: BlobStore {
    private struct State {
        var isBroken = false
        var reads: [Range<Int64>] = []
    }

    private let base: any BlobStore
    private let state = Mutex(State())

    init(_ base: any BlobStore) {
        self.base = base
    }

    var reads: [Range<Int64>] { state.withLock(\.reads) }

    /// No byte is to be had from now on.
    func breakDown() { state.withLock { $0.isBroken = true } }

    func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        try await base.put(file, under: claim)
    }

    func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        try await base.copy(blob, under: claim)
    }

    func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        let isBroken = state.withLock { state in
            state.reads.append(range)
            return state.isBroken
        }
        if isBroken { throw .storeFailed(reason: "the origin is gone") }
        return try await base.read(range, of: name)
    }

    func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        _ = try await base.read(0..<0, of: name)
        return .stream
    }

    func url(of name: BlobName, as type: MediaType, disposition: String) async throws(AttachmentError) -> String? {
        "https://bucket.example/\(name.rawValue)?\(type.rawValue)&\(disposition)"
    }

    func remove(_ names: [BlobName]) async throws(AttachmentError) {
        try await base.remove(names)
    }

    func list(after cursor: String?, limit: Int) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
        try await base.list(after: cursor, limit: limit)
    }
}

/// Content whose bytes a store streams, and whose revocation has to be asked for, as with a store of several machines.
@Suite(.timeLimit(.minutes(10))) struct StreamingTests {
    private static func run(
        countingRevocations: Bool = false, _ change: (inout ServiceSettings) -> Void = { _ in },
        _ body: (LiveService, StreamedBlobs) async throws -> Void
    ) async throws {
        let memory = try StoreMemory(countsRevocations: countingRevocations)
        let blobs = StreamedBlobs(memory.blobs)
        try await LiveService.run({
            $0.memory = memory
            $0.blobs = blobs
            change(&$0.settings)
        }) { live in try await body(live, blobs) }
    }

    private static let large = Data((0..<5_000_011).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    @Test(arguments: [false, true])
    func `content comes whole, in parts and not at all, as it is asked for`(countingRevocations: Bool) async throws {
        try await Self.run(countingRevocations: countingRevocations) { live, blobs in
            for data in [Data(), Data("x".utf8), Self.large.prefix(65_537), Self.large.prefix(1 << 20), Self.large] {
                let content = try await live.deliver([.main: Data(data)])
                let path = try await live.leasePath(to: content, .main)
                let before = blobs.reads.count
                let head = try await RawClient.ask(live.port, "HEAD", path)
                #expect(head.status == 200 && head.headers["content-length"] == "\(data.count)")
                #expect(blobs.reads.count == before, "a HEAD reads nothing")
                for _ in 0..<2 {
                    let reply = try await RawClient.ask(live.port, "GET", path)
                    #expect(reply.status == 200 && reply.body == Data(data))
                }
                let tag = try #require(head.headers["etag"])
                let same = try await RawClient.ask(live.port, "GET", path, ["If-None-Match: \(tag)"])
                #expect(same.status == 304 && same.body.isEmpty)
            }
            let content = try await live.deliver([.main: Self.large])
            let path = try await live.leasePath(to: content, .main)
            for range in [0..<1, 999_999..<3_500_000, 5_000_010..<5_000_011] as [Range<Int>] {
                let before = blobs.reads.count
                let reply = try await RawClient.ask(
                    live.port, "GET", path, ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
                #expect(reply.status == 206 && reply.body == Self.large[range])
                let reads = blobs.reads[before...]
                #expect(reads.first?.lowerBound == Int64(range.lowerBound))
                #expect(reads.reduce(0) { $0 + $1.count } == range.count, "no byte more than was asked for")
            }
        }
    }

    @Test func `small blobs are read once, and access is asked for each time`() async throws {
        try await Self.run { live, blobs in
            let (small, large) = (Data(Self.large.prefix(65_536)), Data(Self.large.prefix(65_537)))
            let content = try await live.deliver([.main: small, .thumbnail: large])
            let (id, path) = try await live.lease(to: content, .main)
            let other = try await live.leasePath(to: content, .main)
            for path in [path, other, path] {
                #expect(try await RawClient.ask(live.port, "GET", path).body == small)
                let part = try await RawClient.ask(live.port, "GET", path, ["Range: bytes=10-19"])
                #expect(part.status == 206 && part.body == small[10..<20])
            }
            #expect(blobs.reads == [0..<65_536])
            _ = try await live.store.records.revoke(id, in: .owner(live.tenant))
            #expect(try await RawClient.ask(live.port, "GET", path).status == 404)
            let thumbnail = try await live.leasePath(to: content, .thumbnail)
            for _ in 0..<2 { #expect(try await RawClient.ask(live.port, "GET", thumbnail).body == large) }
            #expect(blobs.reads.count == 3)
        }
        try await Self.run({ $0.cacheBytes = 0 }) { live, blobs in
            let path = try await live.leasePath(to: live.deliver([.main: Data("bytes".utf8)]), .main)
            for _ in 0..<2 { #expect(try await RawClient.ask(live.port, "GET", path).status == 200) }
            #expect(blobs.reads.count == 2)
        }
    }

    @Test func `of small blobs those that were used last are kept, within what they may take`() {
        let cache = BlobCache(capacity: 20_000)
        func name(_ number: Int) -> BlobName { BlobName(rawValue: "\(number)") }
        cache.keep(ByteBuffer(repeating: 0, count: 1000), as: name(0))
        for number in 1...100 {
            cache.keep(ByteBuffer(repeating: UInt8(number), count: 1000), as: name(number))
            #expect(cache.bytes(of: name(number)) == ByteBuffer(repeating: UInt8(number), count: 1000))
            #expect(cache.bytes(of: name(0)) != nil, "used all the time")
        }
        let kept = (0...100).count { cache.bytes(of: name($0)) != nil }
        #expect((5...15).contains(kept))
        #expect(cache.bytes(of: name(50)) == nil && cache.bytes(of: name(100)) != nil)
        cache.keep(ByteBuffer(repeating: 0, count: 10_001), as: name(101))
        #expect(cache.bytes(of: name(101)) == nil)
    }

    @Test func `content of a broadcast is to be had from the bucket where that is set, and no other`() async throws {
        try await Self.run({ $0.contentRedirect = .shared }) { live, blobs in
            let content = try await live.deliver([.main: Data("bytes".utf8)])
            let (link, token) = try #require(
                try await live.store.records.link(
                    to: content, of: live.tenant, renditions: nil, for: .seconds(600), delivery: .shared))
            let path = "/c/\(token.secretText)/main.jpg"
            let sent = try await RawClient.ask(live.port, "GET", path)
            #expect(sent.status == 307 && sent.body.isEmpty)
            let location = try #require(sent.headers["location"])
            #expect(location.hasPrefix("https://bucket.example/"))
            #expect(location.hasSuffix("?image/jpeg&inline; filename=\"main.jpg\""))
            #expect(sent.headers["cache-control"] == "public, max-age=30")
            let tag = try #require(sent.headers["etag"])
            #expect(try await RawClient.ask(live.port, "GET", path, ["If-None-Match: \(tag)"]).status == 304)
            let head = try await RawClient.ask(live.port, "HEAD", path)
            #expect(head.status == 200 && head.headers["content-length"] == "5")
            let own = try await RawClient.ask(live.port, "GET", live.leasePath(to: content, .main))
            #expect(own.status == 200 && own.body == Data("bytes".utf8))
            _ = try await live.store.records.revoke(link.id, in: .owner(live.tenant))
            #expect(try await RawClient.ask(live.port, "GET", path).status == 404)
        }
        try await Self.run { live, _ in
            let content = try await live.deliver([.main: Data("bytes".utf8)])
            let (_, token) = try #require(
                try await live.store.records.link(
                    to: content, of: live.tenant, renditions: nil, for: .seconds(600), delivery: .shared))
            #expect(try await RawClient.ask(live.port, "GET", "/c/\(token.secretText)/main.jpg").status == 200)
        }
    }

    @Test func `no more is read than a client is about to take`() async throws {
        try await Self.run { live, blobs in
            let content = try await live.deliver([.main: Data(repeating: 1, count: 60_000_000)])
            let path = try await live.leasePath(to: content, .main)
            let port = live.port
            let read = try await onThread {
                let client = try RawClient(port: port, receiveBuffer: 65_536)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.receive(upTo: 20_000)
                // Whoever read without being asked would be through by now: it takes milliseconds.
                usleep(500_000)
                return blobs.reads.reduce(0) { $0 + $1.count }
            }
            #expect(read < 30_000_000)
        }
    }

    @Test(arguments: [false, true])
    func `a stream ends when its access is taken back, another's doesn't`(countingRevocations: Bool) async throws {
        try await Self.run(countingRevocations: countingRevocations) { live, _ in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 60_000_000)])
            let (id, path) = try await live.lease(to: content, .main)
            let reader = SlowReader(port: port)
            let whole = Task { try await reader.read(path, pause: 5_000) }
            try await eventually { reader.bytes > 100_000 }
            let (other, _) = try await live.lease(to: content, .main)
            _ = try await live.store.records.revoke(other, in: .owner(live.tenant))
            let before = reader.bytes
            try await eventually { reader.bytes > before + 1_000_000 }
            _ = try await live.store.records.revoke(id, in: .owner(live.tenant))
            #expect(try await whole.value < 60_000_000)
            #expect(try await RawClient.ask(port, "GET", path).status == 404)
        }
    }

    @Test func `a stream ends where nobody can say for a second that its access wasn't taken back`() async throws {
        let memory = try StoreMemory(countsRevocations: false)
        try await LiveService.run({ $0.memory = memory }) { live in
            let records = live.store.records
            func rename(_ table: String, to name: String) async throws {
                try await records.write { work in _ = try work.run("ALTER TABLE \(table) RENAME TO \(name)") }
            }
            let content = try await live.deliver([.main: Data(repeating: 1, count: 60_000_000)])
            let path = try await live.leasePath(to: content, .main)
            let reader = SlowReader(port: live.port)
            let whole = Task { try await reader.read(path, pause: 5_000) }
            try await eventually { reader.bytes > 1_000_000 }
            try await rename("access", to: "hidden")
            #expect(try await whole.value < 60_000_000)
            // Nothing was taken back.
            try await rename("hidden", to: "access")
            #expect(try await RawClient.ask(live.port, "HEAD", path).status == 200)
        }
    }

    @Test func `no read starts after access was taken back, where nobody counts that`() async throws {
        try await Self.run { live, _ in
            let content = try await live.deliver([.main: Data(repeating: 1, count: 5000)])
            for _ in 0..<10 {
                let (id, path) = try await live.lease(to: content, .main)
                for _ in 0..<3 { #expect(try await RawClient.ask(live.port, "GET", path).status == 200) }
                _ = try await live.store.records.revoke(id, in: .owner(live.tenant))
                #expect(try await RawClient.ask(live.port, "GET", path).status == 404)
            }
        }
    }

    @Test func `where the origin breaks the answer is cut, never padded, and what is gone is not found`() async throws {
        try await Self.run { live, blobs in
            let port = live.port
            let content = try await live.deliver([.main: Data(repeating: 1, count: 60_000_000)])
            let path = try await live.leasePath(to: content, .main)
            let (bytes, _) = try await onThread {
                let client = try RawClient(port: port, receiveBuffer: 65_536)
                client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                let first = try client.receive(upTo: 20_000).count
                blobs.breakDown()
                let rest = try client.end()
                return (first + rest.bytes, rest.wasReset)
            }
            #expect(bytes < 60_000_000)
            let blob = try #require(try await live.store.records.blob(of: .main, of: content, tenant: live.tenant))
            try await live.store.blobs.remove([blob])
            #expect(try await RawClient.ask(port, "GET", path).status == 404)
        }
    }
}
