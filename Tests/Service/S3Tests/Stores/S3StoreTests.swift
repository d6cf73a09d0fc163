import SatchelCore
import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

@testable import S3

/// What the stores in a bucket have beside what all stores have, for which see `StoresTests`.
@Suite(.needs(.ceph), .timeLimit(.minutes(5))) struct S3StoreTests {
    @Test func `a blob's key says under which claim it was made, and no two have one`() async throws {
        let bucket = try TestBucket()
        let blobs = S3BlobStore(bucket.client)
        let claim = ClaimID.generate()
        var names: Set<BlobName> = []
        for text in ["a", "a", "b"] {
            names.insert(try await blobs.put(.holding(Data(text.utf8)), under: claim).name)
        }
        #expect(names.count == 3)
        let start = "blobs/\(claim.rawValue.suffix(2))/\(claim.rawValue)/"
        #expect(names.allSatisfy { $0.rawValue.hasPrefix(start) && UInt64($0.rawValue.dropFirst(start.count)) != nil })
        #expect(Set(try await bucket.keys()) == Set(names.map(\.rawValue)))
    }

    @Test func `a blob's URL gives it to anybody, by the name and as the type that it has`() async throws {
        let blobs = S3BlobStore(try TestBucket().client)
        let blob = try await blobs.put(.holding(Data("text".utf8)), under: .generate())
        let url = try #require(
            try await blobs.url(of: blob.name, as: .jpeg, disposition: #"inline; filename="main.jpg""#))
        let answer = try Program.tool("curl").run(["-s", "-i", url]).outputText.lowercased()
        #expect(answer.contains(" 200 ") && answer.hasSuffix("\r\n\r\ntext"))
        #expect(answer.contains("\r\ncontent-type: image/jpeg\r\n"))
        #expect(answer.contains("\r\ncontent-disposition: inline; filename=\"main.jpg\"\r\n"))
        await #expect(throws: AttachmentError.self) {
            try await blobs.url(of: BlobName(rawValue: "../x"), as: .jpeg, disposition: "inline")
        }
    }

    @Test func `all that was written under a claim is removed, and nothing else`() async throws {
        let bucket = try TestBucket()
        let blobs = S3BlobStore(bucket.client)
        let (lost, kept) = (ClaimID.generate(), ClaimID.generate())
        for _ in 0..<5 { _ = try await blobs.put(.holding(Data("a".utf8)), under: lost) }
        let other = try await blobs.put(.holding(Data("b".utf8)), under: kept)
        try await blobs.removeAll(under: lost)
        try await blobs.removeAll(under: lost)
        #expect(try await bucket.keys() == [other.name.rawValue])
    }

    /// Ceph's gateway doesn't.
    @Test func `what a server keeps encrypted and can't copy has no second name, and is read all the same`()
        async throws
    {
        let bucket = try TestBucket { $0.encryption = .managed(key: "test-key") }
        let blobs = S3BlobStore(bucket.client)
        let blob = try await blobs.put(.holding(Data("a".utf8)), under: .generate())
        #expect(try await blobs.copy(blob, under: .generate()) == nil)
        #expect(try await blobs.read(0..<1, of: blob.name) == Array("a".utf8))
    }

    @Test func `an object is read as it was listed, or not at all`() async throws {
        let bucket = try TestBucket { $0.partSize = 5 }
        let reader = S3ObjectReader(bucket.client, scratch: NSTemporaryDirectory())
        let key = bucket.key("a")
        try await bucket.client.put(Array("twelve bytes".utf8), as: key)
        let object = try #require(try await bucket.client.list(bucket.configuration.prefix, limit: 1).elements.first)
        let state = ObjectState(etag: object.etag, bytes: object.bytes)
        #expect(!object.etag.isEmpty)
        let copy = try await reader.open(key, of: S3Gateway.bucket, in: state)
        #expect(
            try FileHandle(fileDescriptor: copy.release(), closeOnDealloc: true).readToEnd()
                == Data("twelve bytes".utf8))
        func refusal() async -> String? {
            do {
                _ = try await reader.open(key, of: S3Gateway.bucket, in: state)
                return nil
            } catch {
                return error.code == .invalidSource ? error.message : nil
            }
        }
        try await bucket.client.put(Array("other bytes".utf8), as: key)
        #expect(await refusal()?.contains("it changed after it was found") == true)
        try await bucket.client.delete(key)
        #expect(await refusal()?.contains("it is no longer in the bucket") == true)
    }

    @Test func `more than a thousand blobs are removed at once`() async throws {
        let bucket = try TestBucket()
        let blobs = S3BlobStore(bucket.client)
        let claim = ClaimID.generate()
        let names = try await withThrowingTaskGroup(of: BlobName.self) { group in
            var names: [BlobName] = []
            for index in 0..<1100 {
                if index >= 32, let name = try await group.next() { names.append(name) }
                group.addTask { try await blobs.put(.holding(Data("\(index)".utf8)), under: claim).name }
            }
            for try await name in group { names.append(name) }
            return names
        }
        try await blobs.remove(names + [BlobName(rawValue: "../other"), BlobName(rawValue: "")])
        #expect(try await bucket.keys() == [])
    }

    @Test(arguments: [
        "", "blobs", "blobs/ab/x/1", "sources/00/00000000-0000-0000-0000-000000000000",
        "blobs/00/00000000-0000-0000-0000-000000000000/", "blobs/00/00000000-0000-0000-0000-000000000000/01",
        "blobs/01/00000000-0000-0000-0000-000000000000/1", "blobs/00/00000000-0000-0000-0000-000000000000/1/2",
        "blobs//00000000-0000-0000-0000-000000000000/1", "/blobs/00/00000000-0000-0000-0000-000000000000/1",
        "blobs/00/0000000000000000000000000000000000-0/1", "blobs/00/00000000-0000-0000-0000-000000000000/-1",
    ])
    func `what is no name of the store's own is asked of nobody`(name: String) async throws {
        let proxy = try await FaultProxy(to: S3Gateway.shared().port)
        let bucket = try TestBucket(at: proxy.port)
        let blobs = S3BlobStore(bucket.client)
        let name = BlobName(rawValue: name)
        let error = await #expect(throws: AttachmentError.self) { try await blobs.read(0..<1, of: name) }
        #expect(error?.code == .notInStore)
        #expect(try await blobs.copy(CommittedBlob(name: name, sha256: "", bytes: 1), under: .generate()) == nil)
        try await blobs.remove([name])
        let sources = S3SourceStore(bucket.client, scratch: "/tmp")
        if !name.rawValue.hasPrefix("sources") {
            _ = await #expect(throws: AttachmentError.self) {
                try await sources.open(SourceName(rawValue: name.rawValue)).release()
            }
            try await sources.remove([SourceName(rawValue: name.rawValue)])
        }
        #expect(proxy.requests.isEmpty)
    }

    @Test func `a large source is received whole, read-only, and leaves no name behind`() async throws {
        let bucket = try TestBucket { configuration in
            configuration.largestPut = 8 << 20
            configuration.partSize = 5 << 20
        }
        let directory = try TemporaryDirectory(inMemory: true)
        let sources = S3SourceStore(bucket.client, scratch: directory.url.path(percentEncoded: false))
        let data = Data.random(21_000_007)
        let name = try await sources.put(.holding(data))
        let source = try await sources.open(name)
        #expect(fcntl(source.number, F_GETFL) & O_ACCMODE == O_RDONLY)
        #expect(try FileManager.default.contentsOfDirectory(at: directory.url, includingPropertiesForKeys: nil) == [])
        try await sources.remove([name])
        let file = FileHandle(fileDescriptor: source.release(), closeOnDealloc: true)
        #expect(try file.readToEnd() == data)
        let gone = await #expect(throws: AttachmentError.self) { try await sources.open(name).release() }
        #expect(gone?.code == .notInStore)
    }

    @Test func `a scratch that isn't there is a store that failed`() async throws {
        let bucket = try TestBucket()
        let sources = S3SourceStore(bucket.client, scratch: "/nonexistent")
        let name = try await sources.put(.holding(Data("a".utf8)))
        let error = await #expect(throws: AttachmentError.self) { try await sources.open(name).release() }
        #expect(error?.code == .storeFailed)
    }

    @Test func `a bucket that refuses is a store that failed, one that is full is full`() async throws {
        let wrong = try TestBucket(secretKey: "wrong")
        let error = await #expect(throws: AttachmentError.self) {
            try await S3BlobStore(wrong.client).put(.holding(Data("a".utf8)), under: .generate())
        }
        #expect(error?.code == .storeFailed && error?.isRetryable == true)
        let body = "<Error><Code>QuotaExceeded</Code></Error>"
        let proxy = try await FaultProxy(to: S3Gateway.shared().port) { _ in
            .answer("HTTP/1.1 403 Forbidden\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let full = try TestBucket(at: proxy.port)
        let other = await #expect(throws: AttachmentError.self) {
            try await S3BlobStore(full.client).put(.holding(Data("a".utf8)), under: .generate())
        }
        #expect(other == .storeFull)
    }

    @Test func `content is a stream, and behind a proxy a location that it reads by itself`() async throws {
        let bucket = try TestBucket()
        let blobs = S3BlobStore(bucket.client)
        let blob = try await blobs.put(.holding(Data("the rendition".utf8)), under: .generate())
        guard case .stream = try await blobs.content(of: blob.name, behind: nil) else {
            Issue.record("another way")
            return
        }
        guard case .redirect(let location) = try await blobs.content(of: blob.name, behind: "/bytes/") else {
            Issue.record("no location")
            return
        }
        // nginx, told the location by a server behind it.
        let answer: LocalOrigin.Script = { _ in LocalOrigin.Answer(headers: ["X-Accel-Redirect": location]) }
        try await LocalOrigin.run(answer) { origin in
            let directory = try TemporaryDirectory()
            let root = directory.url.path(percentEncoded: false)
            let port = try FreePort.find()
            try """
            user root root; daemon off; master_process off; pid \(root)/pid; error_log \(root)/error.log; events {}
            http {
                access_log off; client_body_temp_path \(root)/a; proxy_temp_path \(root)/b; fastcgi_temp_path \(root)/c;
                uwsgi_temp_path \(root)/d; scgi_temp_path \(root)/e;
                server {
                    listen 127.0.0.1:\(port);
                    location / { proxy_pass \(origin.url("")); }
                    location /bytes/ { internal; proxy_pass \(bucket.gateway.endpoint)/; }
                }
            }
            """.write(toFile: root + "/nginx.conf", atomically: true, encoding: .utf8)
            let nginx = try Program.tool("/usr/sbin/nginx").start([
                "-c", root + "/nginx.conf", "-e", root + "/error.log",
            ])
            defer { nginx.process.terminate() }
            func get(_ more: [String]) throws -> String {
                try Program.tool("curl").run(["-s", "-w", " %{http_code}"] + more + ["http://127.0.0.1:\(port)/x"])
                    .outputText
            }
            try await eventually("nginx answers") { try get([]) == "the rendition 200" }
            #expect(try get(["-r", "4-6"]) == "ren 206")
        }
    }
}
