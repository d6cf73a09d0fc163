import Foundation
import SatchelClient
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The client against `satchel serve`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientTests {
    private static let photo = "jpeg/orientation-6.jpg"

    @Test func `a file goes in, and its URL gives the rendition to anybody`() async throws {
        let service = try await RunningService()
        var source = Source.file(RunningService.sample(Self.photo))
        source.identifier = "photo"
        source.thumbnailClippingRect = UnitRect(x: 0, y: 0, width: 1, height: 0.5)
        let request = JobRequest([source], metadata: ["message_id": "88213", "aKey": "kept"])
        let job = try await service.client.submit(request, waitingUpTo: 30)
        #expect(job.state == .delivered && job.metadata == ["message_id": "88213", "aKey": "kept"])
        let attachment = try #require(job.attachments.first)
        #expect(attachment.identifier == "photo" && attachment.source.name == "orientation-6.jpg")
        let main = try #require(attachment.bestRendition)
        let content = try await RunningService.get(try #require(main.url))
        #expect(content.status == 200 && Int64(content.body.count) == main.bytes)

        #expect(try await service.client.job(job.id).id == job.id)
        #expect(try await service.client.jobs(state: .delivered, limit: 1).elements.map(\.id) == [job.id])
        #expect(try await service.client.attachments(kind: .image).elements.map(\.id) == [attachment.id])
        #expect(try await service.client.attachment(attachment.id).jobID == job.id)
        #expect(try await service.client.profiles().profiles.contains { $0.name == "notification" })

        try await service.client.delete(attachment: attachment.id)
        #expect(try await RunningService.get(try #require(main.url)).status == 404)
        await #expect(throws: SatchelError.self) { try await service.client.attachment(attachment.id) }
    }

    @Test(arguments: [JobRequest.Scheme.matrix, .aesgcm])
    func `whoever has a grant on what is kept encrypted reads it in the clear`(scheme: JobRequest.Scheme) async throws {
        let service = try await RunningService()
        let request = JobRequest([.file(RunningService.sample(Self.photo))], leaseTTL: 60, encrypt: scheme)
        let attachment = try #require(try await service.client.submit(request, waitingUpTo: 30).attachments.first)
        let main = try #require(attachment.bestRendition)
        let ciphertext = try await RunningService.get(try #require(main.url)).body
        #expect(Int64(ciphertext.count) == main.bytes && !ciphertext.starts(with: [0xFF, 0xD8]))
        let encryption = try #require(main.encryption)
        let picture = try encryption.decrypt(ciphertext)
        #expect(picture.starts(with: [0xFF, 0xD8]))

        let grant = try await service.client.giveGrant(on: attachment.id)
        let reader = SatchelClient(url: service.url, grant: grant.token)
        let file = service.home.appending(path: "picture.jpg")
        let fetched = try await reader.download(nil, to: file)
        #expect(try fetched.encryption == encryption && Data(contentsOf: file) == picture)
        // In the place of the file that is there.
        let thumbnail = try await reader.download(nil, rendition: .thumbnail, to: file)
        #expect(thumbnail.encryption != encryption)
        #expect(try Data(contentsOf: file).starts(with: [0xFF, 0xD8]) && Data(contentsOf: file) != picture)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: service.home.path).filter { $0.contains("picture") }
                == ["picture.jpg"])
        try await service.client.revokeGrant(grant.id)
        #expect(try await failure { _ = try await reader.download(nil, to: file) }.code == .unauthorized)
    }

    @Test func `URLs, data and files go together, and the same put is the same job`() async throws {
        let service = try await RunningService()
        let data = try Data(contentsOf: RunningService.sample(Self.photo))
        let request = JobRequest(
            [
                .url(service.media.appending(path: Self.photo)), .data(data, name: "dåta \"1\".jpg"),
                .file(RunningService.sample(Self.photo)),
            ], mode: .strict)
        let first = try await service.client.put(request, id: "push-88213", waitingUpTo: 30)
        #expect(first.state == .delivered && first.attachments.count == 3)
        #expect(first.attachments[1].source.name == "dåta \"1\".jpg")
        let again = try await service.client.put(request, id: "push-88213", waitingUpTo: 30)
        #expect(again.attachments.map(\.id) == first.attachments.map(\.id))
        let other = try await service.client.put(
            JobRequest([.data(data)]), id: "push-88213", waitingUpTo: 30)
        #expect(other.attachments.count == 1)

        let key = UUID().uuidString
        let one = try await service.client.submit(JobRequest([.data(data)]), idempotencyKey: key)
        let two = try await service.client.submit(JobRequest([.data(data)]), idempotencyKey: key)
        #expect(one.id == two.id)
        try await service.client.delete(job: "push-88213")
    }

    @Test func `what failed is found, and tried again`() async throws {
        let service = try await RunningService()
        let good = JobRequest([.file(RunningService.sample(Self.photo))], metadata: ["order": "1"])
        let job = try await service.client.submit(good, waitingUpTo: 30)
        let gone = JobRequest([.url(service.media.appending(path: "nothing.jpg"))], metadata: ["order": "2 & 3"])
        let failed = try await service.client.submit(gone, waitingUpTo: 30)
        let code = try #require(failed.attachments.first?.error?.code)
        let start = Date(timeIntervalSinceNow: -3600)
        let group = try #require(try await service.client.failures(since: start).first)
        #expect(group.code == code && group.count == 1 && group.jobs == [failed.id] && group.firstAt > start)
        let found = SearchFilter(since: start, metadata: ["order": "2 & 3"])
        #expect(try await service.client.jobs(where: found).elements.map(\.id) == [failed.id])
        #expect(try await service.client.attachments(where: SearchFilter(before: start)).elements.isEmpty)
        let overview = try await service.client.overview()
        #expect(overview.hour.delivered == 1 && overview.codes == [code.rawValue: 1] && overview.minutes.count == 60)
        #expect(overview.service?.checks.isEmpty == false && overview.service?.lanes.count == 3)
        let counts = try await service.client.retryJobs(failedWith: code, since: start)
        #expect(counts.accepted == 1 && counts.forgotten == 0)
        let attachment = try #require(job.attachments.first)
        let lease = try await service.client.startLease(on: attachment.id)
        let access = try await service.client.access(to: attachment.id).elements
        #expect(access.contains { $0.id == lease.id && $0.kind == "lease" && $0.endedAt == nil })
        #expect(try await service.client.calls(state: "failed").elements.isEmpty)
    }

    @Test func `errors name the fields, and tell what to do`() async throws {
        let service = try await RunningService()
        var source = Source.data(Data("x".utf8))
        source.crop = .rect(UnitRect(x: 0.5, y: 0, width: 1, height: 1))
        let invalid = try await failure { _ = try await service.client.submit(JobRequest([source])) }
        #expect(invalid.code == .invalidRequest && invalid.status == 400)
        #expect(invalid.fields.contains { $0.pointer.hasPrefix("/attachments/0/crop") })
        let stranger = SatchelClient(url: service.url, key: "satk_nothing")
        #expect(try await failure { _ = try await stranger.jobs() }.code == .unauthorized)
        #expect(try await failure { _ = try await service.client.job("none") }.code == .notFound)
        #expect(try await failure { _ = try await service.client.job("") }.code == .invalidRequest)
    }

    @Test func `a service that can't be reached is a transport error with its cause, after bounded attempts`()
        async throws
    {
        let nowhere = try #require(URL(string: "http://127.0.0.1:9"))
        let client = SatchelClient(url: nowhere, key: "satk_x", retries: RetryPolicy(attempts: 2, longestWait: 1))
        let error = try await failure { _ = try await client.jobs() }
        #expect(error.code == .transport && error.status == nil && error.underlying is URLError)
    }

    @Test func `waiting ends with the job, or with the caller's patience`() async throws {
        let service = try await RunningService()
        let data = try Data(contentsOf: RunningService.sample(Self.photo))
        let job = try await service.client.submit(JobRequest([.data(data)]))
        #expect(try await service.client.wait(for: job.id, timeout: 30).state == .delivered)
        let slow = try await service.client.submit(JobRequest([.url(try await service.silence())], deadline: 20))
        #expect(try await failure { _ = try await service.client.wait(for: slow.id, timeout: 0.3) }.code == .timedOut)
        #expect(try await service.client.cancel(slow.id).state == .cancelled)
        #expect(try await service.client.retry(slow.id).state != .delivered)
        _ = try await service.client.cancel(slow.id)
        #expect(try await service.client.cancel(job.id).state == .delivered)
    }

    @Test func `a job is followed to its end, over a restart of the service`() async throws {
        let service = try await RunningService()
        let url = try await service.silence()
        let photo = Source.file(RunningService.sample(Self.photo))
        let job = try await service.client.submit(JobRequest([photo, .url(url)], deadline: 8))
        var events: [JobEvent] = []
        var hasRestarted = false
        for try await event in service.client.follow(job.id) {
            events.append(event)
            if case .rendition = event.what, !hasRestarted {
                hasRestarted = true
                try await service.restart()
            }
        }
        #expect(hasRestarted)
        guard case .job? = events.first?.what, case .finished(let end)? = events.last?.what else {
            Issue.record("\(events)")
            return
        }
        #expect(end.attachments.map(\.state) == [.delivered, .failed])
        #expect(
            end.attachments.last?.error?.code == "deadline_exceeded"
                || end.attachments.last?.error?.code == "fetch_timeout")
        // The end is told once: whoever resumes after it hears nothing more.
        var more: [JobEvent] = []
        for try await event in service.client.follow(job.id, after: events.last?.id) { more.append(event) }
        #expect(more.isEmpty)
        #expect(
            try await failure { for try await _ in service.client.follow("none") {} }.code == .notFound)
    }

    // MARK: Access

    @Test func `access that was opened is stopped: after the end, a throw and a cancellation at any moment`()
        async throws
    {
        let service = try await RunningService()
        let data = try Data(contentsOf: RunningService.sample(Self.photo))
        let job = try await service.client.submit(JobRequest([.data(data)], leaseTTL: 0), waitingUpTo: 30)
        let attachment = try #require(job.attachments.first?.id)
        // One lease at a time: whatever is not stopped keeps the next from starting.
        let grant = try await service.client.giveGrant(on: attachment, leaseLimit: 1)
        let holder = SatchelClient(url: service.url, grant: grant.token, retries: RetryPolicy(attempts: 1))

        let opened = try await holder.withAccess(to: nil) { url in
            let status = try await RunningService.get(url).status
            #expect(status == 200)
            return url
        }
        #expect(try await RunningService.get(opened).status == 404)
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await holder.withAccess(to: nil, rendition: .thumbnail) { url in
                #expect(url.lastPathComponent == "thumbnail.jpg")
                throw Broken()
            }
        }
        for milliseconds in [0, 1, 2, 4, 8, 16, 50, 200] {
            let task = Task {
                try await holder.withAccess(to: nil) { _ in try await Task.sleep(for: .seconds(60)) }
            }
            try await Task.sleep(for: .milliseconds(milliseconds))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let status = try await holder.withAccess(to: nil) { try await RunningService.get($0).status }
            #expect(status == 200)
        }
        let second = try await holder.startLease(on: nil)
        #expect(try await failure { _ = try await holder.startLease(on: nil) }.code == .quotaExceeded)
        #expect(try await holder.lease(second.id).id == second.id)
        #expect(try await holder.renewLease(second.id, lasting: 600).expiresAt > second.expiresAt)
        try await holder.stopLease(second.id)
        try await holder.stopLease(second.id)
    }

    @Test func `access is renewed for as long as it is used`() async throws {
        let service = try await RunningService()
        let data = try Data(contentsOf: RunningService.sample(Self.photo))
        let job = try await service.client.submit(JobRequest([.data(data)]), waitingUpTo: 30)
        try await service.client.withAccess(to: job.attachments.first?.id, lasting: 4) { url in
            try await Task.sleep(for: .seconds(5))
            #expect(try await RunningService.get(url).status == 200)
        }
    }

    @Test func `a grant narrows, and taking it back ends what came of it`() async throws {
        let service = try await RunningService()
        let data = try Data(contentsOf: RunningService.sample(Self.photo))
        let job = try await service.client.submit(JobRequest([.data(data)]), waitingUpTo: 30)
        let attachment = try #require(job.attachments.first?.id)
        let wide = try await service.client.giveGrant(on: attachment, lasting: 600)
        let holder = SatchelClient(url: service.url, grant: wide.token)
        let narrow = try await holder.narrowGrant(wide.id, renditions: [.thumbnail])
        #expect(narrow.parentID == wide.id && narrow.renditions == [.thumbnail])
        let reader = SatchelClient(url: service.url, grant: narrow.token)
        let lease = try await reader.startLease(on: nil)
        #expect(Array(lease.renditions.keys) == [.thumbnail])
        let url = try #require(lease.url())
        #expect(try await RunningService.get(url).status == 200)
        try await service.client.revokeGrant(wide.id)
        #expect(try await RunningService.get(url).status == 404)
        #expect(try await failure { _ = try await reader.startLease(on: nil) }.code == .unauthorized)
    }

    // MARK: Size

    @Test func `a file of 100 MB is uploaded in little memory`() async throws {
        let service = try await RunningService()
        let file = service.home.appending(path: "large.bin")
        let size = 100_000_000
        try Program.tool("truncate").run(["-s", "\(size)", file.path(percentEncoded: false)])
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try Self.peakMemory()
        let job = try await service.client.submit(JobRequest([.file(file)]), waitingUpTo: 60)
        let growth = try Self.peakMemory() - before
        #expect(job.attachments.first?.source.bytes == Int64(size))
        #expect(job.attachments.first?.error?.code == "unrecognized_type")
        #expect(growth < 64_000_000, "\(growth) bytes")
    }

    private static func peakMemory() throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ", omittingEmptySubsequences: true)[1])) * 1024
    }

    // MARK: Notifications

    @Test func `a push payload becomes files on the phone without a key, links to be shared where it says so`()
        async throws
    {
        let service = try await RunningService()
        let payload = """
            {"aps": {"alert": "Ada sent a photo", "mutable-content": 1}, "my-attachment": "\(service.media.absoluteString)/\(Self.photo)"}
            """
        let enriched = try await service.client.enrich(payload: Data(payload.utf8))
        #expect(enriched.job != nil && enriched.dropped == nil)
        let userInfo = try #require(
            try JSONSerialization.jsonObject(with: enriched.payload) as? [String: Any])
        let directory = service.home.appending(path: "phone")
        let files = await SatchelNotification.attachments(from: userInfo, in: directory)
        let file = try #require(files.first)
        #expect(files.count == 1 && !file.isPreview && file.file.pathExtension == "jpg")
        #expect(try Data(contentsOf: file.file).count == Int(file.link.bytes ?? 0))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false)).count == 1)

        // What is too large for a phone stands as its preview.
        let notification = try #require(SatchelNotification(userInfo: userInfo))
        let small = await notification.files(within: 10, in: directory, largest: 100)
        #expect(small.map(\.isPreview) == [true])

        let cached = try await RunningService.cacheControl(of: file.link.url)
        #expect(cached == "private, no-cache")
        let broadcast = try await service.client.enrich(payload: Data(payload.utf8), delivery: .shared)
        let shared = try #require(
            try JSONSerialization.jsonObject(with: broadcast.payload) as? [String: Any])
        let link = try #require(SatchelNotification(userInfo: shared)?.attachments.first)
        #expect(try await RunningService.cacheControl(of: link.url)?.hasPrefix("public, ") == true)
    }

    @Test func `messages for Expo come back with links that live as long as was asked`() async throws {
        let service = try await RunningService()
        let messages = """
            [{"to": "t", "title": "Ada", "richContent": {"image": "\(service.media.absoluteString)/\(Self.photo)"}}]
            """
        let enriched = try await service.client.enrich(
            payload: Data(messages.utf8), format: .expo, expiration: Date(timeIntervalSinceNow: 600))
        let message = try #require(
            (try JSONSerialization.jsonObject(with: enriched.payload) as? [[String: Any]])?.first)
        // As an app on iOS gets it.
        let data = try #require(message["data"])
        let notification = try #require(SatchelNotification(userInfo: ["body": data]))
        #expect(notification.attachments.count == 1)
        let end = try #require(notification.expiresAt)
        #expect((500...600).contains(end.timeIntervalSinceNow))
    }

    private func failure(_ body: () async throws -> Void) async throws -> SatchelError {
        try #require(await #expect(throws: SatchelError.self) { try await body() })
    }
}
