import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct NotificationTests {
    // MARK: Firing

    @Test(arguments: Backend.allCases)
    func `what payloads are made of is read by name, each tenant's own, without what is gone`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let (acme, other) = (TenantID.local, TenantID(rawValue: "other"))
        let attachment = try await fixture.store.deliver([.main: "picture"])
        _ = try await fixture.records.putCategory(Category(id: "known"), of: acme)
        var names = FiringMaterials.Names()
        names.attachments = [attachment.id, AttachmentID(rawValue: UUID().uuidString.lowercased())]
        names.jobs = [attachment.job, JobID(rawValue: "gone")]
        names.categories = ["known", "unknown"]
        let found = try await fixture.records.materials([acme: names, other: names])
        let materials = try #require(found[acme])
        #expect(materials.attachments.keys.elementsEqual([attachment.id]))
        #expect(materials.attachments[attachment.id] == attachment)
        #expect(try await fixture.records.job(attachment.job, of: acme) == materials.jobs[attachment.job])
        #expect(materials.jobs.count == 1 && materials.categories == ["known": Category(id: "known")])
        let others = try #require(found[other])
        #expect(others.jobs.isEmpty && others.attachments.isEmpty && others.categories.isEmpty)
        #expect(try await fixture.records.materials([acme: FiringMaterials.Names()])[acme]?.jobs.isEmpty == true)
    }

    @Test(arguments: Backend.allCases)
    func `a look leaves out whom it is told of, and finds as many others`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let bob = TenantID(rawValue: "bob")
        for (name, seconds) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            _ = try await fixture.put(name, in: .seconds(seconds))
        }
        _ = try await fixture.put("a", in: .seconds(5), tenant: bob)
        fixture.clock.advance(.seconds(60))
        let looks: [([String], [String])] = [
            ([], ["a", "b", "c"]), (["b"], ["a", "c", "d"]), (["a", "c", "d", "none"], ["b", "a"]),
        ]
        for (others, found) in looks {
            let names = others.map { NotificationName(tenant: .local, id: NotificationID(rawValue: $0)) }
            let due = try await fixture.records.dueNotifications(limit: 3, besides: Set(names))
            #expect(due.elements.map(\.id.rawValue) == found)
        }
    }

    @Test(arguments: Backend.allCases)
    func `a look doesn't read what is known in its revision`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        for name in ["a", "b", "c"] { _ = try await fixture.put(name, in: .seconds(1)) }
        fixture.clock.advance(.seconds(60))
        var known = try await fixture.records.dueNotifications(limit: 3).elements
        for index in known.indices { known[index].bodyDigest = "as it is known" }
        known[1].revision += 1
        let due = try await fixture.records.dueNotifications(limit: 3, besides: []) { [known] name, revision in
            known.first { NotificationName($0) == name && $0.revision == revision }
        }
        #expect(due.elements.map(\.id) == known.map(\.id))
        #expect(due.elements.map(\.bodyDigest) == ["as it is known", "1", "as it is known"])
    }

    @Test(arguments: Backend.allCases)
    func `what comes within a time is found in parts, each once, by its instant`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let bob = TenantID(rawValue: "bob")
        _ = try await fixture.put("due", in: .zero)
        for name in ["c", "d", "e", "f"] { _ = try await fixture.put(name, in: .seconds(2)) }
        for (name, seconds) in [("a", 1), ("g", 3), ("later", 20)] {
            _ = try await fixture.put(name, in: .seconds(seconds))
        }
        _ = try await fixture.put("b", in: .seconds(1), tenant: bob)
        _ = try await fixture.put("by hand", in: nil)
        var found: [[String]] = []
        var cursor: String?
        func look() async throws {
            let page = try await fixture.records.upcomingNotifications(within: .seconds(4), after: cursor, limit: 3)
            found.append(page.elements.map(\.id.rawValue))
            if let next = page.next { cursor = next } else { #expect(page.elements.isEmpty) }
        }
        for _ in 0..<4 { try await look() }
        #expect(found == [["a", "b", "c"], ["d", "e", "f"], ["g"], []])
        // What is put behind the place is passed over; what comes into the time isn't.
        _ = try await fixture.put("behind", in: .seconds(2))
        fixture.clock.advance(.seconds(17))
        try await look()
        #expect(found.last == ["later"])
    }

    @Test(arguments: Backend.allCases)
    func `an instant fires once, whoever looks`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let answer = try await fixture.put("a", in: .seconds(60))
        #expect(answer == .created(try #require(try await fixture.notification("a"))))
        let early = try await fixture.records.dueNotifications(limit: 10)
        #expect(early.elements.isEmpty && early.next == .seconds(60))
        fixture.clock.advance(.seconds(60))
        let due = try await fixture.records.dueNotifications(limit: 10)
        #expect(due.elements.map(\.id.rawValue) == ["a"] && due.next == nil)
        let decided = try [1, 2].map { _ in try #require(DecidedFiring.due(due.elements[0])) }
        #expect(decided[0].firing.number == 1)
        #expect(try await fixture.records.carryOut(decided) == [true, false])
        #expect(try await fixture.reopened().records.carryOut(decided) == [false, false])
        #expect(try await fixture.records.dueNotifications(limit: 10).elements.isEmpty)
        #expect(try await fixture.notification("a")?.state == .done)
        let firing = try #require(try await fixture.firing("a", 1))
        #expect(firing.state == .pending && firing.scheduledAt == fixture.clock.now && firing.place == nil)
    }

    @Test(arguments: Backend.allCases)
    func `what repeats gets its next instant with the firing`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.put("a", in: .seconds(60))
        fixture.clock.advance(.seconds(60))
        let record = try await fixture.records.dueNotifications(limit: 1).elements[0]
        let next = Occurrence.at(fixture.clock.now + .seconds(60))
        let firing = try #require(try await fixture.fire(.due(record, coalesced: 3, next: next)))
        #expect(firing.record.coalesced == 3)
        #expect(firing.notification.next == next && firing.notification.state == .pending)
        #expect(firing.notification.position == record.next?.position)
        // A missed one is in the list at once.
        fixture.clock.advance(.seconds(60))
        let late = try await fixture.records.dueNotifications(limit: 1).elements[0]
        let missed = try #require(try await fixture.fire(.due(late, isMissed: true)))
        #expect(missed.record.state == .missed && missed.notification.counts.missed == 1)
        #expect(try await fixture.list().map(\.number) == [2])
    }

    @Test(arguments: Backend.allCases)
    func `a firing has its payload, its links, its call and its place together, once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "picture"])
        _ = try await fixture.put("a", in: .zero, handover: "https://example.com/hook")
        let firing = try await fixture.fireNext()
        let link = try fixture.records.newTokens(.link, 1)[0]
        #expect(try await fixture.records.open(link.token, role: .main) == nil)
        let completion = fixture.completion(of: firing, "payload \(link.token.secretText)", [(link, attachment.id)])
        try await fixture.records.complete(completion)
        #expect(try await fixture.records.open(link.token, role: .main)?.attachment == attachment.id)
        let kept = try #require(try await fixture.firing("a", 1))
        #expect(kept.place == 1 && kept.state == .pending && kept.media.compactMap(\.link) == [link.id])
        let template = try #require(kept.payload)
        #expect(String(decoding: template.stored, as: UTF8.self).contains(link.id))
        #expect(!String(decoding: template.stored, as: UTF8.self).contains(link.token.secretText))
        #expect(
            String(decoding: try await fixture.records.text(of: template, of: .local), as: UTF8.self)
                == "payload \(link.token.secretText)")
        // Again, as by whoever takes the first for dead.
        try await fixture.records.complete(fixture.completion(of: firing, "another", []))
        #expect(try await fixture.firing("a", 1) == kept)
        #expect(try await fixture.records.waitingFirings(since: fixture.clock.now + .seconds(3600), limit: 9) == [])
        let due = try await fixture.records.dueWebhooks(10)
        #expect(due.map(\.id) == [firing.record.id.rawValue])
        try await fixture.records.record(.delivered, of: due[0])
        #expect(try await fixture.firing("a", 1)?.state == .delivered)
        #expect(try await fixture.notification("a")?.counts.delivered == 1)
    }

    @Test(arguments: Backend.allCases)
    func `a clock that was set back makes nothing due before its time`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        fixture.clock.advance(.seconds(3600))
        _ = try await fixture.put("a", in: .seconds(60))
        fixture.clock.advance(.seconds(-3600))
        _ = try await fixture.put("b", in: .seconds(60))
        fixture.clock.advance(.seconds(60))
        // The server of a database has a clock of its own, which the tests' never sets back.
        let due = try await fixture.records.dueNotifications(limit: 10)
        #expect(due.elements.map(\.id.rawValue) == ["b"])
        #expect(due.next == (backend.keepsRecordsInPostgres ? .seconds(60) : .seconds(3600)))
    }

    @Test(arguments: Backend.allCases)
    func `what nobody completed is found when its time is over`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.put("a", in: .zero)
        let firing = try await fixture.fireNext()
        #expect(firing.record.waitsUntil == fixture.clock.now + .seconds(10))
        #expect(try await fixture.records.waitingFirings(since: fixture.clock.now + .seconds(10), limit: 9) == [])
        let found = try await fixture.records.waitingFirings(since: fixture.clock.now + .seconds(11), limit: 9)
        #expect(found == [firing])
        try await fixture.records.complete(
            FiringCompletion(
                firing.record, at: fixture.clock.now,
                .failed(ErrorReport(.unreadable(Finding(.checksumDiffers))), call: nil)))
        let failed = try #require(try await fixture.firing("a", 1))
        #expect(failed.state == .failed && failed.place == 1 && failed.error?.code == .corrupt)
        #expect(try await fixture.notification("a")?.counts.failed == 1)
    }

    @Test(arguments: Backend.allCases)
    func `by hand it fires beside its schedule, and is found by its key`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.put("a", in: .seconds(60))
        #expect(try await fixture.records.firing(by: "k", of: .a, tenant: .local) == nil)
        let first = try #require(try await fixture.fireByHand("a", key: "k"))
        #expect(first.record.isManual && first.notification.next != nil)
        #expect(try await fixture.records.firing(by: "k", of: .a, tenant: .local) == first.record)
        #expect(try await fixture.records.firing(by: "k", of: .a, tenant: TenantID(rawValue: "other")) == nil)
        #expect(try await fixture.fireByHand("a")?.record.number == 2)
        fixture.clock.advance(.seconds(60))
        _ = try await fixture.fireNext()
        #expect(try await fixture.notification("a")?.state == .done)
        #expect(try await fixture.fireByHand("a")?.record.number == 4)
    }

    @Test(arguments: Backend.allCases)
    func `ready at its instant, it is fired and has its payload, links, call and place in one transaction`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "picture"])
        for name in ["a", "b"] { _ = try await fixture.put(name, in: .zero, handover: "https://example.com/hook") }
        let links = try fixture.records.newTokens(.link, 2)
        let due = try await fixture.records.dueNotifications(limit: 2).elements
        let decided = try zip(due, links).map { read, link in
            let fired = try #require(DecidedFiring.due(read))
            return try #require(
                NotificationDecision.complete(
                    fixture.completion(of: Firing(fired), "x \(link.token.secretText)", [(link, attachment.id)]), fired)
            )
        }
        #expect(try await fixture.records.carryOut(decided) == [true, true])
        #expect(try await fixture.list().map(\.place) == [1, 2])
        for (name, link) in zip(due.map(\.id), links) {
            let kept = try #require(try await fixture.firing(name.rawValue, 1))
            #expect(kept.state == .pending && kept.firedAt == fixture.clock.now)
            #expect(kept.media.compactMap(\.link) == [link.id])
            #expect(try await fixture.records.open(link.token, role: .main)?.attachment == attachment.id)
        }
        #expect(try await Set(fixture.ids(.delivered)) == ["a", "b"])
        let calls = try await fixture.records.dueWebhooks(10)
        #expect(Set(calls.map(\.id)) == Set(decided.map(\.firing.id.rawValue)))
    }

    /// What may happen between the reading and the firing, and whether it is to fire by what was read all the same.
    enum Meanwhile: CaseIterable {
        case put, deleted, deletedFromDelivered, firedByHand, rescheduled, handedOver
    }

    @Test(arguments: Backend.allCases, Meanwhile.allCases)
    func `what was changed since it was read isn't fired by what was read, and keeps no other from firing`(
        backend: Backend, meanwhile: Meanwhile
    ) async throws {
        let fixture = try Fixture(backend)
        let rules = TimeZoneRulesVersion(rawValue: "2025a")
        for name in ["b", "a", "c"] {
            _ = try await fixture.put(name, in: .zero, handover: "https://example.com/hook", rules: rules)
        }
        // An earlier firing, which is being handed over.
        let earlier = try #require(try await fixture.fireByHand("a"))
        try await fixture.records.complete(fixture.completion(of: earlier, "x", []))
        let call = try #require(try await fixture.records.dueWebhooks(10).first)
        let read = try await fixture.records.dueNotifications(limit: 3).elements
        try #require(read.count == 3)
        let decided = try read.map { try #require(DecidedFiring.due($0)?.completed(at: fixture.clock.now)) }
        switch meanwhile {
        case .put: _ = try await fixture.put("a", in: .seconds(5), body: "2")
        case .deleted: #expect(try await fixture.records.remove(.a, of: .local, from: .pending))
        case .deletedFromDelivered: #expect(try await fixture.records.remove(.a, of: .local, from: .delivered))
        case .firedByHand: #expect(try await fixture.fireByHand("a") != nil)
        case .rescheduled:
            let record = try #require(read.first { $0.id == .a })
            try await fixture.records.reschedule(
                record, next: .at(fixture.clock.now + .seconds(5)), rules: TimeZoneRulesVersion(rawValue: "2026a"))
        case .handedOver: try await fixture.records.record(.delivered, of: call)
        }
        let changed = try await fixture.notification("a")
        #expect(try await fixture.records.carryOut(decided) == read.map { $0.id != .a })
        #expect(try await fixture.notification("a") == changed)
        #expect(try await fixture.firing("a", meanwhile == .firedByHand ? 3 : 2) == nil)
        for name in ["b", "c"] { #expect(try await fixture.notification(name)?.state == .done) }
        // Read again, it is fired where it is still due.
        let again = try await fixture.records.dueNotifications(limit: 3).elements
        let isDue = ![.put, .deleted, .rescheduled].contains(meanwhile)
        #expect(again.map(\.id) == (isDue ? [.a] : []))
        if let record = again.first { #expect(try await fixture.fire(.due(record)) != nil) }
    }

    // MARK: Changing

    @Test(arguments: Backend.allCases)
    func `the same body changes nothing, another ends what isn't handed over`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "picture"])
        let first = try await fixture.put("a", in: .zero, handover: "https://example.com/hook")
        #expect(try await fixture.put("a", in: .seconds(5)) == .unchanged(first.record))
        let firing = try await fixture.fireNext()
        let link = try fixture.records.newTokens(.link, 1)[0]
        try await fixture.records.complete(fixture.completion(of: firing, "x", [(link, attachment.id)]))
        let call = try #require(try await fixture.records.dueWebhooks(10).first)
        let second = try await fixture.put("a", in: .seconds(60), body: "2")
        guard case .replaced(let record) = second else {
            Issue.record("\(second)")
            return
        }
        #expect(record.generation == 2 && record.state == .pending && record.fired == 1)
        let removed = try #require(try await fixture.firing("a", 1))
        #expect(removed.state == .removed && removed.error?.code == .superseded)
        #expect(try await fixture.records.open(link.token, role: .main) == nil)
        // The attempt under way may arrive; there is no other, and it isn't counted.
        try await fixture.records.record(.again(after: .seconds(1), reason: "503"), of: call)
        fixture.clock.advance(.seconds(10))
        #expect(try await fixture.records.dueWebhooks(10).isEmpty)
        #expect(try await fixture.firing("a", 1)?.state == .removed)
        // What was read before is out of date.
        #expect(try await fixture.fire(.due(first.record)) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `removed from one list it stays in the other`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "picture"])
        _ = try await fixture.put("a", in: .zero)
        let record = try await fixture.records.dueNotifications(limit: 1).elements[0]
        let next = Occurrence.at(fixture.clock.now + .seconds(60))
        let firing = try #require(try await fixture.fire(.due(record, next: next)))
        let link = try fixture.records.newTokens(.link, 1)[0]
        try await fixture.records.complete(fixture.completion(of: firing, "x", [(link, attachment.id)]))
        #expect(try await fixture.ids(.pending) == ["a"])
        #expect(try await fixture.ids(.delivered) == ["a"])
        #expect(try await fixture.records.remove(.a, of: .local, from: .delivered))
        #expect(try await fixture.ids(.pending) == ["a"])
        #expect(try await fixture.ids(.delivered) == [])
        #expect(try await fixture.records.open(link.token, role: .main) == nil)
        #expect(try await fixture.firing("a", 1)?.state == .removed)
        #expect(try await fixture.records.remove(.a, of: .local, from: .pending))
        #expect(try await fixture.ids(.pending) == [])
        fixture.clock.advance(.seconds(60))
        #expect(try await fixture.records.dueNotifications(limit: 1).elements.isEmpty)
        #expect(try await fixture.records.remove(.a, of: .local, from: .all))
        #expect(try await !fixture.records.remove(.a, of: TenantID(rawValue: "other"), from: .all))
        // Whoever puts it again wants it again.
        guard case .replaced(let again) = try await fixture.put("a", in: .zero) else {
            Issue.record("a cancelled one counts as the same")
            return
        }
        #expect(again.generation == 2)
    }

    @Test(arguments: Backend.allCases)
    func `a receiver that wants no more of it ends the notification`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.put("a", in: .zero, handover: "https://example.com/hook")
        let record = try await fixture.records.dueNotifications(limit: 1).elements[0]
        let next = Occurrence.at(fixture.clock.now + .seconds(60))
        let firing = try #require(try await fixture.fire(.due(record, next: next)))
        try await fixture.records.complete(fixture.completion(of: firing, "x", []))
        let call = try #require(try await fixture.records.dueWebhooks(10).first)
        try await fixture.records.record(.gone, of: call)
        #expect(try await fixture.firing("a", 1)?.error?.code == .handoverFailed)
        let ended = try #require(try await fixture.notification("a"))
        #expect(ended.state == .cancelled && ended.next == nil && ended.error?.code == .handoverFailed)
    }

    @Test(arguments: Backend.allCases)
    func `other zone rules move an instant, but for one that was changed meanwhile`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let old = TimeZoneRulesVersion(rawValue: "2025a")
        let new = TimeZoneRulesVersion(rawValue: "2026a")
        _ = try await fixture.put("a", in: .seconds(60), rules: old)
        _ = try await fixture.put("b", in: .seconds(60), rules: new)
        _ = try await fixture.put("c", in: .seconds(60))
        let stale = try await fixture.records.notifications(notBy: new, limit: 9)
        #expect(stale.map(\.id.rawValue) == ["a"])
        let moved = Occurrence.at(fixture.clock.now + .seconds(3660))
        try await fixture.records.reschedule(stale[0], next: moved, rules: new)
        #expect(try await fixture.notification("a")?.next == moved)
        #expect(try await fixture.records.notifications(notBy: new, limit: 9).isEmpty)
        try await fixture.records.reschedule(stale[0], next: .at(fixture.clock.now), rules: new)
        #expect(try await fixture.notification("a")?.next == moved)
    }

    // MARK: Keeping

    @Test(arguments: Backend.allCases)
    func `retention leaves alone what a pending notification needs`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let ada = TenantID(rawValue: "ada")
        let kept = try await fixture.store.deliver([.main: "kept"], tenant: ada, profile: .notification)
        let other = try await fixture.store.deliver([.main: "other"], tenant: ada, profile: .notification)
        _ = try await fixture.put("a", in: .seconds(30 * 86_400), tenant: ada, attachments: [kept.id])
        fixture.clock.advance(.seconds(8 * 86_400))
        _ = try await fixture.records.expire(limit: 10, from: nil)
        #expect(try await fixture.records.attachment(kept.id, of: ada) != nil)
        #expect(try await fixture.records.attachment(other.id, of: ada) == nil)
        #expect(try await fixture.records.remove(.a, of: ada, from: .pending))
        _ = try await fixture.records.expire(limit: 10, from: nil)
        #expect(try await fixture.records.attachment(kept.id, of: ada) == nil)
        // Deleted by hand it isn't there at the firing: the rest goes all the same.
        let gone = try await fixture.store.deliver([.main: "gone"])
        _ = try await fixture.put("b", in: .zero, attachments: [gone.id])
        let firing = try await fixture.fireNext()
        #expect(try await fixture.records.delete(gone.id, of: .local))
        let link = try fixture.records.newTokens(.link, 1)[0]
        try await fixture.records.complete(fixture.completion(of: firing, "x", [(link, gone.id)]))
        #expect(try await fixture.firing("b", 1)?.state == .delivered)
        #expect(try await fixture.records.open(link.token, role: .main) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `what is finished is forgotten after a month`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.put("a", in: .zero)
        let firing = try await fixture.fireNext()
        try await fixture.records.complete(fixture.completion(of: firing, "x", []))
        _ = try await fixture.put("b", in: .seconds(400 * 86_400))
        fixture.clock.advance(.seconds(29 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.firing("a", 1) != nil)
        fixture.clock.advance(.seconds(2 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.notification("a") == nil)
        #expect(try await fixture.list().isEmpty)
        #expect(try await fixture.notification("b") != nil)
    }

    // MARK: Listing

    @Test(arguments: Backend.allCases)
    func `a category's list is whole however few rows a part looks at`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        // Some are due at the same instant, some at none.
        let categories = ["a", "a", "b", nil, "a", "c", "c", "c", "c", "b", nil, "b"]
        for (number, category) in categories.enumerated() {
            let delay = number % 4 == 3 ? nil : Duration.seconds(60 * (number / 3))
            _ = try await fixture.put("\(number)", in: delay, category: category)
        }
        for number in 0..<categories.count where number % 2 == 0 {
            let name = "\(number)"
            let made = try #require(try await fixture.fireByHand(name))
            try await fixture.records.complete(fixture.completion(of: made, name, []))
            if number % 4 == 0 { fixture.clock.advance(.seconds(1)) }
        }
        for list in NotificationList.allCases {
            let all = try await fixture.ids(list)
            for category in ["a", "b", "c", "none"] {
                let expected = all.filter { Int($0).map { categories[$0] == category } ?? false }
                for rows in 1...5 {
                    let store = fixture.records.looking(at: rows)
                    #expect(try await store.ids(list, category: category) == expected)
                }
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func `lists are in order, part by part, of one tenant and category`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        for (name, seconds) in [("c", 30), ("a", 10), ("b", 20), ("e", 30)] {
            _ = try await fixture.put(name, in: .seconds(seconds), category: name == "b" ? "news" : nil)
        }
        _ = try await fixture.put("manual", in: nil)
        _ = try await fixture.put("a", in: .seconds(1), tenant: TenantID(rawValue: "other"))
        #expect(try await fixture.ids(.pending) == ["a", "b", "c", "e", "manual"])
        #expect(try await fixture.ids(.pending, category: "news") == ["b"])
        for name in ["c", "a", "b"] {
            let made = try #require(try await fixture.fireByHand(name))
            try await fixture.records.complete(fixture.completion(of: made, name, []))
            fixture.clock.advance(.seconds(1))
        }
        #expect(try await fixture.ids(.delivered) == ["b", "a", "c"])
        #expect(try await fixture.list().map(\.notification.rawValue) == ["c", "a", "b"])
        #expect(try await fixture.list().map(\.place) == [1, 2, 3])
        let page = try await fixture.records.firings(
            of: NotificationID(rawValue: "c"), tenant: .local, after: nil, limit: 1)
        #expect(page.elements.map(\.number) == [1] && page.next == nil)
        #expect(
            try await fixture.records.firing(1, of: .a, tenant: TenantID(rawValue: "other")) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `over its quota a tenant has no other that is to fire`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        for name in ["a", "b"] { _ = try await fixture.put(name, in: .seconds(60), limit: 2) }
        await #expect(throws: AttachmentError.quotaExceeded(.pendingNotifications, used: 2, allowed: 2)) {
            try await fixture.put("c", in: .seconds(60), limit: 2)
        }
        // One in the place of another isn't one more.
        _ = try await fixture.put("a", in: .seconds(60), body: "2", limit: 2)
        _ = try await fixture.put("c", in: .seconds(60), tenant: TenantID(rawValue: "other"), limit: 2)
        #expect(try await fixture.records.remove(.a, of: .local, from: .all))
        _ = try await fixture.put("c", in: .seconds(60), limit: 2)
    }

    @Test(arguments: Backend.allCases)
    func `beside writers a reader of the list sees each firing once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (writers, firings) = (4, 6)
        for writer in 0..<writers { _ = try await fixture.put("\(writer)", in: nil) }
        let records = fixture.records
        let now = fixture.clock.now
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for _ in 0..<firings {
                        let id = NotificationID(rawValue: "\(writer)")
                        let read = try #require(try await records.notification(id, of: .local))
                        let made = try #require(DecidedFiring.manual(read, key: nil, at: now))
                        #expect(try await records.carryOut([made]) == [true])
                        try await records.complete(FiringCompletion(made.firing, at: now, .finished(.text("x"))))
                    }
                }
            }
            var seen: [FiringID] = []
            var place: Int64 = 0
            while seen.count < writers * firings {
                let part = try await records.firings(of: .local, after: place, limit: 5)
                seen += part.map(\.id)
                place = part.last?.place ?? place
                if part.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            }
            try await group.waitForAll()
            return seen
        }
        #expect(Set(seen).count == writers * firings && seen.count == writers * firings)
        #expect(try await fixture.list(limit: 100).map(\.id) == seen)
    }
}

extension DecidedFiring {
    /// As whoever read the record would fire it.
    static func due(
        _ read: NotificationRecord, isMissed: Bool = false, coalesced: Int = 0, next: Occurrence? = nil
    ) -> DecidedFiring? {
        let expected = read.next ?? .at(read.acceptedAt)
        let decision = DueDecision(
            occurrence: expected, late: .zero, isMissed: isMissed, coalesced: coalesced, next: next)
        return NotificationDecision.fire(
            FiringRequest(cause: .due(expected: expected, decision, rules: read.rules)), read, at: expected.at)
    }

    fileprivate static func manual(_ read: NotificationRecord, key: String?, at now: Instant) -> DecidedFiring? {
        NotificationDecision.fire(
            FiringRequest(cause: .manual(idempotencyKey: key, hasHandover: true)), read, at: now)
    }

    /// With its payload.
    fileprivate func completed(_ text: String = "x", at now: Instant) -> DecidedFiring? {
        NotificationDecision.complete(FiringCompletion(firing, at: now, .finished(.text(text))), self)
    }
}

extension FiringCompletion.Finished {
    fileprivate static func text(
        _ text: String, hiding tokens: [AccessToken] = [], links: [AccessEntry] = [], call: OutgoingCall? = nil
    ) -> FiringCompletion.Finished {
        FiringCompletion.Finished(
            payload: TokenTemplate(Data(text.utf8), hiding: tokens), links: links,
            media: links.map {
                FiringMedium(identifier: "photo", attachment: $0.attachment, link: $0.id, failure: nil)
            }, dropped: [],
            call: call)
    }
}

extension Fixture {
    /// - Parameter delay: Until it fires; nil: by hand.
    fileprivate func put(
        _ id: String, in delay: Duration?, body: String = "1", handover: String? = nil, category: String? = nil,
        tenant: TenantID = .local, attachments: [AttachmentID] = [], rules: TimeZoneRulesVersion? = nil,
        limit: Int? = nil
    ) async throws -> NotificationAnswer {
        try await records.put(
            .sample(
                id, tenant: tenant, body: body, handover: handover, category: category, attachments: attachments,
                next: delay.map { .at(clock.now + $0) }, rules: rules, acceptedAt: clock.now), limit: limit
        ).get()
    }

    fileprivate func notification(_ id: String) async throws -> NotificationRecord? {
        try await records.notification(NotificationID(rawValue: id), of: .local)
    }

    fileprivate func firing(_ id: String, _ number: Int) async throws -> FiringRecord? {
        try await records.firing(number, of: NotificationID(rawValue: id), tenant: .local)
    }

    /// Fires what is due first, for the last time.
    fileprivate func fireNext() async throws -> Firing {
        let due = try #require(try await records.dueNotifications(limit: 1).elements.first)
        return try #require(try await fire(.due(due)))
    }

    /// - Returns: Nil where it isn't made, as the notification is another by now.
    fileprivate func fire(_ decided: DecidedFiring?) async throws -> Firing? {
        let decided = try #require(decided)
        return try await records.carryOut([decided]) == [true] ? Firing(decided) : nil
    }

    fileprivate func fireByHand(_ id: String, key: String? = nil) async throws -> Firing? {
        let read = try #require(try await notification(id))
        return try await fire(.manual(read, key: key, at: clock.now))
    }

    fileprivate func completion(
        of firing: Firing, _ text: String, _ links: [(NewToken, AttachmentID)]
    ) -> FiringCompletion {
        let entries = links.map { link, attachment in
            AccessEntry(
                id: link.id, kind: .link, tenant: .local, attachment: attachment, renditions: [.main],
                kid: link.kid, createdAt: clock.now, expiresAt: clock.now + .seconds(3600))
        }
        let body = TokenTemplate(Data(text.utf8), hiding: links.map(\.0.token))
        let call = firing.record.handover.map { url in
            OutgoingCall(
                id: firing.record.id.rawValue, tenant: .local, type: CallType(rawValue: "notification.fired"),
                subject: firing.record.id.rawValue, url: url, body: body)
        }
        return FiringCompletion(
            firing.record, at: clock.now,
            .finished(.text(text, hiding: links.map(\.0.token), links: entries, call: call)))
    }

    fileprivate func list(limit: Int = 10) async throws -> [FiringRecord] {
        try await records.firings(of: .local, after: 0, limit: limit)
    }

    /// Of a whole list, in parts of two.
    fileprivate func ids(_ list: NotificationList, category: String? = nil) async throws -> [String] {
        try await records.ids(list, category: category)
    }
}

extension RecordStore {
    fileprivate func ids(_ list: NotificationList, category: String? = nil) async throws -> [String] {
        var ids: [String] = []
        var cursor: String?
        repeat {
            let page = try await notifications(of: .local, in: list, category: category, after: cursor, limit: 2)
            ids += page.elements.map(\.id.rawValue)
            cursor = page.next
        } while cursor != nil
        return ids
    }
}
