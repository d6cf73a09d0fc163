import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import SatchelClient

/// What a service extension shows, whatever the network does meanwhile: against an origin that answers when it is told to.
@Suite(.timeLimit(.minutes(5))) struct NotificationTests {
    typealias File = SatchelNotification.File

    @Test func `a preview that stalls costs the main picture nothing, of however many`() async throws {
        let origin = try await NotificationOrigin()
        let links = (0..<10).map { origin.link("main-\($0)", preview: "stalling-\($0)", opened: ["main-\($0)"]) }
        // Far beyond the limit of this test: nothing waits for the end of the time.
        let files = await origin.notification(links).files(within: 3600, in: origin.home.url)
        #expect(files.map(\.isPreview) == [Bool](repeating: false, count: 10))
        #expect(try files.map { try NotificationOrigin.content(of: $0) } == (0..<10).map { "main-\($0)" })
        #expect(try origin.kept().count == 10)
    }

    @Test func `what came is kept, per attachment: the picture, else its preview, else nothing`() async throws {
        let origin = try await NotificationOrigin()
        let notification = origin.notification([
            origin.link("a", preview: "a-small", opened: ["a", "a-small"]),
            origin.link("b-missing", preview: "b-small", opened: ["b-missing", "b-small"]),
            origin.link("c", preview: "c-missing", opened: ["c", "c-missing"]),
            origin.link("d-missing", preview: "d-missing", opened: ["d-missing"]),
            origin.link("e-missing", preview: nil, opened: ["e-missing"]),
            origin.link("f", preview: nil, opened: ["f"]),
        ])
        let files = await notification.files(within: 3600, in: origin.home.url)
        #expect(try files.map { try NotificationOrigin.content(of: $0) } == ["a", "b-small", "c", "f"])
        #expect(files.map(\.isPreview) == [false, true, false, false])
        #expect(try origin.kept().count == 4)
    }

    @Test func `when the time is up, what stalls is left out or stands as its preview`() async throws {
        let origin = try await NotificationOrigin()
        let notification = origin.notification([origin.link("stalls", preview: "stalls-too", opened: [])])
        #expect(await notification.files(within: 0.2, in: origin.home.url).isEmpty)
        #expect(await notification.files(within: 0, in: origin.home.url).isEmpty)
        #expect(try origin.kept().isEmpty)
    }

    @Test func `an answer that expires is given at once with what is on the disk, and nothing is added to it`()
        async throws
    {
        let origin = try await NotificationOrigin()
        let notification = origin.notification([
            origin.link("a-late", preview: "a-small", opened: ["a-small"]),
            origin.link("b", preview: "b-late", opened: ["b"]),
            origin.link("c-late", preview: nil, opened: []),
        ])
        let given = Given()
        let fetch = NotificationFetch(notification, in: origin.home.url) { $0 }
        let answer = SatchelNotification.Answer(fetch, within: 3600) { given.add($0) }
        try await eventually {
            fetch.state.withLock { $0.holdings[0].preview != nil && $0.holdings[1].main != nil }
        }
        #expect(given.answers.isEmpty)
        answer.expire()
        let files = try #require(given.answers.first)
        #expect(try files.map { try NotificationOrigin.content(of: $0) } == ["a-small", "b"])
        #expect(files.map(\.isPreview) == [true, false])

        for late in ["a-late", "b-late", "c-late"] { origin.open(late) }
        answer.expire()
        await answer.end()
        #expect(given.answers.count == 1)
        #expect(try origin.kept() == ["main-1", "preview-0"])
    }

    @Test func `an answer that expires before anything came is given without attachments`() async throws {
        let origin = try await NotificationOrigin()
        let notification = origin.notification([origin.link("late", preview: "late-too", opened: [])])
        let given = Given()
        let answer = answer(notification, from: origin, into: given)
        answer.expire()
        #expect(given.answers == [[]])
        await answer.end()
        #expect(given.answers.count == 1)
    }

    @Test func `an answer is given once, in whatever order it is fetched, expires and expires again`() async throws {
        let origin = try await NotificationOrigin()
        let link = origin.link("a", preview: "a-small", opened: ["a", "a-small"])
        let notification = origin.notification([link])
        for round in 0..<20 {
            let given = Given()
            let answer = answer(round.isMultiple(of: 5) ? nil : notification, from: origin, into: given)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        // From at once to about when the files are there.
                        try? await Task.sleep(for: .milliseconds(number * round))
                        answer.expire()
                    }
                }
            }
            await answer.end()
            #expect(given.answers.count == 1, "round \(round)")
        }
        let given = Given()
        let whole = answer(notification, from: origin, into: given)
        await whole.end()
        whole.expire()
        #expect(given.answers.map { $0.map(\.isPreview) } == [[false]])
    }

    @Test func `a picture that the system refuses is replaced by its preview, which is waited for`() async throws {
        struct Refusal: Error {}
        let origin = try await NotificationOrigin()
        let notification = origin.notification([
            origin.link("a", preview: "a-small", opened: ["a"]), origin.link("b", preview: nil, opened: ["b"]),
            origin.link("c", preview: "c-refused", opened: ["c", "c-refused"]),
            origin.link("d", preview: nil, opened: ["d"]),
        ])
        let refused = Locked<Set<String>>([])
        let fetch = NotificationFetch(notification, in: origin.home.url) { file in
            let content = try NotificationOrigin.content(of: file)
            guard content.hasSuffix("-small") || content == "d" else {
                refused.withLock { _ = $0.insert(content) }
                throw Refusal()
            }
            return file
        }
        let given = Given()
        let answer = SatchelNotification.Answer(fetch, within: 3600) { given.add($0) }
        try await eventually { refused.withLock { $0.isSuperset(of: ["a", "b", "c"]) } }
        #expect(given.answers.isEmpty)
        origin.open("a-small")
        await answer.end()
        let files = try #require(given.answers.first)
        #expect(try files.map { try NotificationOrigin.content(of: $0) } == ["a-small", "d"])
        #expect(files.map(\.isPreview) == [true, false])
        // What was refused doesn't stay.
        let all = refused.withLock(\.self)
        #expect(all == ["a", "b", "c", "c-refused"])
        #expect(try origin.kept() == ["main-3", "preview-0"])
    }

    @Test func `what is encrypted is decrypted as it comes; what can't be opened stands as its preview`() async throws {
        var random = SeededGenerator(seed: 51)
        let names = ["a", "a-small", "b", "b-small", "c-small"]
        let files = try EncryptionJudge.encrypt(
            names.map { .init($0.hasPrefix("a") ? .matrix : .aesgcm, Data("\($0) opened".utf8), using: &random) })
        var (bodies, keys): ([String: Data], [String: Encryption]) = ([:], [:])
        for (name, file) in zip(names, files) {
            bodies[name] = file.bytes
            keys[name] = try JSONDecoder().decode(Encryption.self, from: Data(file.description.utf8))
        }
        // Damaged, and with another's key.
        bodies["b"]?[0] ^= 1
        keys["c-small"] = keys["a"]
        let origin = try await NotificationOrigin(bodies)
        let notification = origin.notification([
            origin.link("a", preview: "a-small", opened: ["a", "a-small"], encryptions: keys),
            origin.link("b", preview: "b-small", opened: ["b", "b-small"], encryptions: keys),
            origin.link(
                "c-missing", preview: "c-small", opened: ["c-missing", "c-small"], encryptions: keys),
        ])
        let shown = await notification.files(within: 3600, in: origin.home.url)
        #expect(try shown.map { try NotificationOrigin.content(of: $0) } == ["a opened", "b-small opened"])
        #expect(shown.map(\.isPreview) == [false, true])
        // No ciphertext stays.
        #expect(try origin.kept() == ["main-0", "preview-1"])
    }

    @Test func `what is opened as a whole is only had where it is small`() async throws {
        let origin = try await NotificationOrigin()
        var notification = origin.notification([origin.link("a", preview: "a-small", opened: ["a", "a-small"])])
        notification.attachments[0].encryption = .aesgcm(fragment: "")
        notification.attachments[0].bytes = 8_000_001
        let shown = await notification.files(within: 3600, in: origin.home.url)
        #expect(try shown.map { try NotificationOrigin.content(of: $0) } == ["a-small"])
    }

    @Test func `an answer opens what came before it fetches, and gives it as it came where that fails or lasts`()
        async throws
    {
        struct Refusal: Error {}
        let origin = try await NotificationOrigin()
        let inside = origin.notification([origin.link("a", preview: nil, opened: ["a"])])
        func answer(
            within seconds: TimeInterval = 3600, into given: Locked<[String]>,
            opening open: @escaping @Sendable (String) async throws -> String
        ) -> SatchelNotification.Answer {
            SatchelNotification.Answer(
                "came", opening: open,
                fetching: { NotificationFetch($0 == "opened" ? inside : nil, in: origin.home.url) { $0 } },
                within: seconds
            ) { content, files in given.withLock { $0.append("\(content), \(files.count)") } }
        }
        let given = Locked<[String]>([])
        let whole = answer(into: given) { "\($0 == "came" ? "opened" : "")" }
        await whole.end()
        whole.expire()
        #expect(given.withLock(\.self) == ["opened, 1"])

        let refused = Locked<[String]>([])
        await answer(into: refused) { _ in throw Refusal() }.end()
        #expect(refused.withLock(\.self) == ["came, 0"])

        // Whoever opens doesn't even heed that it is cancelled.
        let gate = Locked(false)
        @Sendable func stuck(_ content: String) async -> String {
            while !gate.withLock(\.self) { try? await Task.sleep(for: .milliseconds(5)) }
            return "opened"
        }
        let (late, expired) = (Locked<[String]>([]), Locked<[String]>([]))
        let first = answer(within: 0.1, into: late, opening: stuck)
        try await eventually { late.withLock(\.self) == ["came, 0"] }
        let second = answer(into: expired, opening: stuck)
        second.expire()
        #expect(expired.withLock(\.self) == ["came, 0"])
        gate.withLock { $0 = true }
        await first.end()
        await second.end()
        #expect(late.withLock(\.count) == 1 && expired.withLock(\.count) == 1)
        #expect(try origin.kept() == ["main-0"])
    }

    private func answer(
        _ notification: SatchelNotification?, from origin: NotificationOrigin, into given: Given
    ) -> SatchelNotification.Answer {
        SatchelNotification.Answer(NotificationFetch(notification, in: origin.home.url) { $0 }, within: 3600) {
            given.add($0)
        }
    }
}

/// The answers that were given to a notification.
private struct Given: Sendable {
    private let locked = Locked<[[SatchelNotification.File]]>([])

    var answers: [[SatchelNotification.File]] { locked.withLock(\.self) }

    func add(_ files: [SatchelNotification.File]) {
        locked.withLock { $0.append(files) }
    }
}
