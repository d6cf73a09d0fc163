import Foundation
import SatchelClient
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Uploads by the client, as an app sends them: with the URL alone.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientUploadTests {
    /// A file of so many bytes.
    private func file(_ count: Int, in directory: borrowing TemporaryDirectory) throws -> URL {
        let url = directory.url.appending(path: "IMG_0042.MOV")
        try Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: url)
        return url
    }

    @Test func `a file is sent in pieces, tells how far it is, and is a source afterwards`() async throws {
        let service = try await RunningService()
        let directory = try TemporaryDirectory()
        let file = try file(5 << 20, in: directory)
        let opened = try await service.client.openUpload(UploadRequest(length: 5 << 20, name: "IMG_0042.MOV"))
        let url = try #require(opened.url)
        let told = Recorder<Int64>()
        let upload = try await SatchelClient.upload(file, to: url) { sent, _ in told.add(sent) }
        #expect(upload.state == .complete && upload.offset == 5 << 20)
        #expect(told.list == told.list.sorted() && told.list.first == 0 && told.list.last == 5 << 20)
        #expect(try await service.client.upload(opened.id).sha256 == upload.sha256)
        // Whoever lost the answer asks again, and nothing is sent twice.
        #expect(try await SatchelClient.upload(file, to: url) == upload)
        let job = try await service.client.submit(JobRequest([.upload(opened.id)]))
        #expect(try await service.client.upload(opened.id).usedBy == "job/\(job.id)")
    }

    @Test func `what was sent before is not sent again, and a service that restarts is waited for`() async throws {
        let service = try await RunningService()
        let directory = try TemporaryDirectory()
        let file = try file(9 << 20, in: directory)
        let opened = try await service.client.openUpload()
        let url = try #require(opened.url)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("?0", forHTTPHeaderField: "Upload-Complete")
        request.httpBody = try Data(contentsOf: file).prefix(1000)
        _ = try await URLSession.shared.data(for: request)
        let told = Recorder<Int64>()
        async let sent = SatchelClient.upload(file, to: url) { sent, _ in told.add(sent) }
        try await eventually("it has begun") { !told.list.isEmpty }
        try await service.restart()
        #expect(try await sent.state == .complete)
        #expect(told.list.first == 1000)
    }

    @Test func `a URL that is no upload's is told at once`() async throws {
        let service = try await RunningService()
        let directory = try TemporaryDirectory()
        let file = try file(10, in: directory)
        let error = await #expect(throws: SatchelError.self) {
            _ = try await SatchelClient.upload(file, to: service.url.appending(path: "u/satu_none"))
        }
        #expect(error?.status == 404)
        let opened = try await service.client.openUpload()
        try await service.client.cancel(upload: opened.id)
        let ended = try #require(opened.url)
        await #expect(throws: SatchelError.self) { _ = try await SatchelClient.upload(file, to: ended) }
    }

    @Test func `a background session's task is an upload in one request`() async throws {
        let service = try await RunningService()
        let directory = try TemporaryDirectory()
        let file = try file(100_000, in: directory)
        let opened = try await service.client.openUpload()
        let session = URLSession(configuration: .ephemeral)
        let task = SatchelClient.uploadTask(of: file, to: try #require(opened.url), in: session)
        task.resume()
        try await eventually("it is there") { try await service.client.upload(opened.id).state == .complete }
        session.finishTasksAndInvalidate()
    }
}
