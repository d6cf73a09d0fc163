import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct ResponseRecordsTests {
    static let acme = TenantID(rawValue: "acme")
    static let a = NotificationID(rawValue: "a")

    // MARK: Tickets

    @Test(arguments: Backend.allCases)
    func `a ticket opens for its kind alone, from when it was recorded until it expires`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        try await records.putNotification()
        let (respond, respondToken) = try await records.newTicket()
        let (preview, previewToken) = try await records.newPreview(lasting: .seconds(60))
        #expect(try await records.ticket(of: respondToken, .respond) == nil)
        #expect(try await records.open([respond, preview], []))
        for opened in [records, try fixture.reopened().records] {
            #expect(try await opened.ticket(of: respondToken, .respond) == respond)
            #expect(try await opened.ticket(of: previewToken, .preview) == preview)
            #expect(try await opened.ticket(of: respondToken, .preview) == nil)
            #expect(try await opened.ticket(of: previewToken, .respond) == nil)
        }
        let before = fixture.store.keys.derivations
        let secret = [UInt8](repeating: 7, count: 32)
        let wrong = [
            "", "satr_", TokenFormat.compose(.respond, id: respond.id, secret: secret),
            TokenFormat.compose(.link, id: respond.id, secret: secret),
        ]
        for text in wrong {
            #expect(try await records.ticket(of: AccessToken(secretText: text), .respond) == nil)
        }
        #expect(fixture.store.keys.derivations - before == wrong.count, "each costs the same")
        fixture.clock.advance(.seconds(60))
        #expect(try await records.ticket(of: previewToken, .preview) == nil)
        #expect(try await records.ticket(of: respondToken, .respond) == respond)
    }

    @Test(arguments: Backend.allCases)
    func `where a ticket's notification is gone nothing begins`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        try await records.putNotification()
        let attachment = try await fixture.store.deliver([.main: "picture"])
        let (link, linkToken) = try await records.newLink(to: attachment.id)
        let (first, firstToken) = try await records.newTicket()
        let (second, _) = try await records.newTicket(to: "gone")
        #expect(try await records.open([first, second], [link]) == false)
        #expect(try await records.ticket(of: firstToken, .respond) == nil)
        #expect(try await records.open(linkToken, role: .main) == nil)
        // The rest begins without a link to what was deleted.
        #expect(try await records.delete(attachment.id, of: .local))
        #expect(try await records.open([first], [link]))
        #expect(try await records.ticket(of: firstToken, .respond) != nil)
        #expect(try await records.open(linkToken, role: .main) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `what a firing opens ends as it is removed, or as another body takes its place`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let attachment = try await fixture.store.deliver([.main: "picture"])
        try await records.putNotification(handover: "https://example.com/hook")
        var opened: [(AccessToken, AccessToken)] = []
        for number in 1...2 {
            let (ticket, ticketToken) = try await records.newTicket(firing: number)
            let (link, linkToken) = try await records.newLink(to: attachment.id)
            try await records.fireNotification(opening: ticket, [link])
            #expect(try await records.firing(number, of: Self.a, tenant: .local)?.opens == [link.id, ticket.id])
            opened.append((ticketToken, linkToken))
            if number == 1 {
                let call = try #require(try await records.dueWebhooks(1).first)
                try await records.record(.delivered, of: call)
            }
        }
        func areOpen() async throws -> [[Bool]] {
            var found: [[Bool]] = []
            for (ticket, link) in opened {
                found.append([
                    try await records.ticket(of: ticket, .respond) != nil,
                    try await records.open(link, role: .main) != nil,
                ])
            }
            return found
        }
        #expect(try await areOpen() == [[true, true], [true, true]])
        // The first was handed over, the second wasn't.
        try await records.putNotification(body: "2")
        #expect(try await areOpen() == [[true, true], [false, false]])
        let revocations = records.revocations
        #expect(try await records.remove(Self.a, of: .local, from: .delivered))
        #expect(try await areOpen() == [[false, false], [false, false]])
        #expect((records.revocations != revocations) == backend.countsRevocations)
    }

    @Test(arguments: Backend.allCases)
    func `a preview ends with all that it opens, by its tenant alone, and again without harm`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        try await records.putNotification()
        let attachment = try await fixture.store.deliver([.main: "picture"])
        let (link, linkToken) = try await records.newLink(to: attachment.id)
        let (respond, respondToken) = try await records.newTicket(firing: nil, isPreview: true)
        let (preview, previewToken) = try await records.newPreview(link: link.id, respond: respond.id)
        let (other, otherToken) = try await records.newPreview()
        #expect(try await records.open([preview, respond, other], [link]))
        #expect(try await records.endPreview(preview.id, of: Self.acme) == false)
        #expect(try await records.endPreview(respond.id, of: .local) == false, "it is no preview")
        #expect(try await records.ticket(of: previewToken, .preview) == preview)
        for _ in 1...2 { #expect(try await records.endPreview(preview.id, of: .local)) }
        #expect(try await records.ticket(of: previewToken, .preview) == nil)
        #expect(try await records.ticket(of: respondToken, .respond) == nil)
        #expect(try await records.open(linkToken, role: .main) == nil)
        #expect(try await records.ticket(of: otherToken, .preview) == other)
    }

    @Test(arguments: Backend.allCases)
    func `previews end as their notification is removed from what was delivered`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        var tokens: [[AccessToken]] = []
        for (id, tenant) in [("a", TenantID.local), ("b", .local), ("a", Self.acme)] {
            try await records.putNotification(id, of: tenant)
            let (respond, respondToken) = try await records.newTicket(to: id, of: tenant, firing: nil, isPreview: true)
            let (preview, previewToken) = try await records.newPreview(of: id, tenant: tenant, respond: respond.id)
            #expect(try await records.open([respond, preview], []))
            tokens.append([respondToken, previewToken])
        }
        #expect(try await records.remove(Self.a, of: .local, from: .pending))
        #expect(try await records.ticket(of: tokens[0][1], .preview) != nil)
        #expect(try await records.remove(Self.a, of: .local, from: .delivered))
        for (index, pair) in tokens.enumerated() {
            #expect(try await (records.ticket(of: pair[0], .respond) == nil) == (index == 0))
            #expect(try await (records.ticket(of: pair[1], .preview) == nil) == (index == 0))
        }
    }

    @Test(arguments: Backend.allCases)
    func `texts get their tickets while these live, and keys are in use as long`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        try await records.putNotification()
        let (respond, respondToken) = try await records.newTicket(lasting: .seconds(60))
        let (preview, previewToken) = try await records.newPreview()
        let text = "\(respondToken.secretText) \(previewToken.secretText)"
        let template = TokenTemplate(Data(text.utf8), hiding: [respondToken, previewToken])
        func filled(for tenant: TenantID = .local) async throws -> String {
            String(decoding: try await records.text(of: template, of: tenant), as: UTF8.self)
        }
        let short = [respondToken, previewToken].map { $0.secretText.prefix(8) }
        #expect(try await filled() == short.joined(separator: " "))
        #expect(try await records.open([respond], []))
        try fixture.store.keys.rotate()
        let (later, _) = try await records.newPreview()
        #expect(try await records.open([preview, later], []))
        #expect(try await filled() == text)
        #expect(try await filled(for: Self.acme) == short.joined(separator: " "))
        #expect(try await records.keysInUse() == [respond.kid, later.kid] && respond.kid != later.kid)
        #expect(try await records.endPreview(preview.id, of: .local))
        #expect(try await filled() == "\(respondToken.secretText) \(short[1])")
        #expect(try await records.endPreview(later.id, of: .local))
        #expect(try await records.keysInUse() == [respond.kid])
        fixture.clock.advance(.seconds(60))
        #expect(try await filled() == short.joined(separator: " "))
        #expect(try await records.keysInUse().isEmpty)
    }

    // MARK: Responses

    @Test(arguments: Backend.allCases)
    func `a response is recorded once, and gets the same answer again`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let ticket = try await fixture.fired()
        let response = NotificationResponse.sample(1, "reply", text: "On my way\u{0}", data: #"{"member":"17"}"#)
        let first = try await records.taking(response, by: ticket)
        #expect(first.undecided?.count == 1 && first.undecided?.actions.count == 2)
        // It came again before anybody answered: also as if of another session.
        #expect(try await records.taking(response, by: ticket) == first)
        var elsewhere = response
        elsewhere.session = NotificationResponse.sample(1, in: 2).session
        #expect(try await records.taking(elsewhere, by: ticket) == first)
        fixture.clock.advance(.seconds(1))
        let undo = CategoryAction(id: "undo", title: "Undo")
        let settled = try #require(
            try await records.settle(
                response, by: ticket,
                ResponseSettlement(
                    answer: HandlerAnswer(then: .stay, actions: [undo], view: .init(rotation: 20)))))
        #expect(settled.response == response && settled.answer?.actions == [undo])
        #expect(settled.answer?.decidedBy == .handler && settled.answer?.view.rotation == 20)
        #expect(settled.receivedAt == fixture.clock.now - .seconds(1) && settled.generation == 1)
        for again in [response, elsewhere] {
            #expect(try await records.taking(again, by: ticket) == .decided(settled))
        }
        #expect(try await fixture.reopened().records.taking(response, by: ticket) == .decided(settled))
        #expect(try await fixture.listed() == [settled])

        // The session goes on as it was left, another begins at the beginning; of another ticket nothing is known.
        let next = try await records.taking(.sample(2, "undo"), by: ticket).undecided
        #expect(next?.count == 2 && next?.view.rotation == 20 && next?.actions == [undo])
        let other = try await records.taking(.sample(3, in: 2), by: ticket).undecided
        #expect(other?.count == 1 && other?.view.rotation == 0)
        let (second, _) = try await records.newTicket(firing: 2)
        try await records.fireNotification(opening: second)
        #expect(try await records.taking(response, by: second).undecided?.count == 1)
        #expect(try await records.settle(.sample(9), by: ticket, ResponseSettlement(answer: nil)) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `whatever comes at once is counted once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let ticket = try await fixture.fired()
        let (ids, copies) = (4, 3)
        let stores = [fixture.records, try fixture.reopened().records]
        let answered = try await withThrowingTaskGroup(of: ResponseTaking.self) { group in
            for number in 1...ids {
                for copy in 0..<copies {
                    let records = stores[(number + copy) % 2]
                    group.addTask { try await records.taking(.sample(number), by: ticket) }
                }
            }
            return try await group.reduce(into: [ResponseTaking]()) { $0.append($1) }
        }
        #expect(answered.count == ids * copies && answered.allSatisfy { $0.undecided != nil })
        #expect(Set(try await fixture.listed().map(\.response.id)).count == ids)
        #expect(try await fixture.listed().count == ids)
        #expect(try await stores[0].taking(.sample(ids + 1), by: ticket).undecided?.count == ids + 1)
    }

    @Test(arguments: Backend.allCases)
    func `who decides second changes nothing and tells nobody`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let ticket = try await fixture.fired()
        let response = NotificationResponse.sample(1)
        let stores = [fixture.records, try fixture.reopened().records]
        _ = try await stores[0].taking(response, by: ticket)
        let records = try await withThrowingTaskGroup(of: ResponseRecord?.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let settlement = ResponseSettlement(
                        answer: HandlerAnswer(then: .forward, view: .init(rotation: Double(number + 1))),
                        reason: "reason \(number)", call: .sample("call \(number)"))
                    return try await stores[number % 2].settle(response, by: ticket, settlement)
                }
            }
            return try await group.reduce(into: [ResponseRecord?]()) { $0.append($1) }
        }
        let settled = try #require(records[0])
        #expect(records.allSatisfy { $0 == settled })
        let calls = try await fixture.records.calls(of: .local, where: CallFilter(), after: nil, limit: 9).elements
        #expect(calls.map(\.id) == [settled.call])
        let number = try #require(settled.call?.last?.wholeNumberValue)
        #expect(settled.answer?.view.rotation == Double(number + 1) && settled.reason == "reason \(number)")
        #expect(
            try await fixture.records.taking(.sample(2), by: ticket).undecided?.view.rotation == Double(number + 1))
    }

    @Test(arguments: Backend.allCases)
    func `a refusal writes nothing, and what has ended takes nothing`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let ticket = try await fixture.fired()
        #expect(
            try await records.take(.sample(1, "launch"), by: ticket)
                == .failure(.unknownAction("launch", current: ["reply", "mute", "default", "dismiss"])))
        #expect(
            try await records.take(.sample(1, "mute", text: "why?"), by: ticket)
                == .failure(.textNotTaken(action: "mute")))
        #expect(try await fixture.listed().isEmpty)
        #expect(try await records.taking(.sample(1), by: ticket).undecided?.count == 1)
        let (preview, _) = try await records.newPreview()
        #expect(try await records.open([preview], []))
        #expect(
            try await records.take(.sample(9, "default"), by: preview)
                == .failure(.unknownAction("default", current: [])))
        // Looked at before its end, and used after.
        #expect(try await records.remove(Self.a, of: .local, from: .delivered))
        #expect(try await records.take(.sample(2), by: ticket) == nil)
        #expect(try await records.take(.sample(1), by: ticket) == nil)
        let (unknown, _) = try await records.newTicket()
        #expect(try await records.take(.sample(1), by: unknown) == nil)
        #expect(try await fixture.listed().count == 1)
        // What was taken before still comes to its answer.
        #expect(
            try await records.settle(.sample(1), by: ticket, ResponseSettlement(answer: nil))?.answer?.then == .forward)
    }

    @Test(arguments: Backend.allCases)
    func `where nothing is to be kept of a text, its call goes as soon as it is delivered`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let ticket = try await fixture.fired(category: .answerable(recordText: false))
        for (number, isKept) in [(1, false), (2, true), (3, false)] {
            let response = NotificationResponse.sample(number, "reply", text: "private", data: "[1]")
            _ = try await records.taking(response, by: ticket)
            var call = OutgoingCall.sample("\(number)", subject: response.id, body: Data("private".utf8))
            call.isKept = isKept
            _ = try await records.settle(response, by: ticket, ResponseSettlement(answer: nil, call: call))
        }
        #expect(try await fixture.listed().allSatisfy { $0.response.text == nil && $0.response.data == nil })
        let due = try await records.dueWebhooks(9).sorted { $0.id < $1.id }
        #expect(due.map(\.id) == ["1", "2", "3"])
        try await records.record(.again(after: .zero, reason: "503"), of: due[0])
        #expect(try await records.call("1", of: .local)?.report.state == .waiting)
        let again = try #require(try await records.dueWebhooks(9).first)
        for call in [again, due[1]] { try await records.record(.delivered, of: call) }
        #expect(try await records.call("1", of: .local) == nil)
        #expect(try await records.call("2", of: .local)?.report.state == .delivered)
        // What wasn't told can be told later.
        try await records.record(.failed(reason: "404"), of: due[2])
        #expect(try await records.replayCall("3", of: .local))
        let replayed = try #require(try await records.dueWebhooks(9).first)
        try await records.record(.delivered, of: replayed)
        #expect(try await records.call("3", of: .local) == nil)
        #expect(try await fixture.listed().map(\.call) == ["1", "2", "3"])
        try await records.expectTrueCounts()
    }

    // MARK: Listing

    @Test(arguments: Backend.allCases)
    func `responses are listed as they came, part by part, of one tenant or one notification`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        var tickets: [String: Ticket] = [:]
        for (id, tenant) in [("a", TenantID.local), ("b", .local), ("a", Self.acme)] {
            tickets["\(tenant.rawValue)/\(id)"] = try await fixture.fired(id, of: tenant)
        }
        let (preview, _) = try await records.newTicket(isPreview: true)
        #expect(try await records.open([preview], []))
        let order = [
            (5, "local/a"), (3, "local/b"), (4, "acme/a"), (1, "local/a"), (6, "acme/a"), (2, "local/a"),
            (7, "local/b"),
        ]
        for (number, place) in order { _ = try await records.taking(.sample(number), by: try #require(tickets[place])) }
        _ = try await records.taking(.sample(8), by: preview)
        // An answer moves nothing.
        let first = try #require(tickets["local/a"])
        _ = try await records.settle(.sample(5), by: first, ResponseSettlement(answer: nil))

        func numbers(of tenant: TenantID = .local, to id: String? = nil) async throws -> [String] {
            var numbers: [String] = []
            var cursor: String?
            repeat {
                let page = try await records.responses(
                    of: tenant, to: id.map(NotificationID.init(rawValue:)), after: cursor, limit: 2)
                numbers += page.elements.map { String($0.response.id.suffix(1)) }
                cursor = page.next
            } while cursor != nil
            return numbers
        }
        #expect(try await numbers() == ["5", "3", "1", "2", "7", "8"])
        #expect(try await numbers(to: "a") == ["5", "1", "2", "8"])
        #expect(try await numbers(to: "b") == ["3", "7"])
        #expect(try await numbers(to: "none").isEmpty)
        #expect(try await numbers(of: Self.acme) == ["4", "6"])
        #expect(try await numbers(of: Self.acme, to: "b").isEmpty)
        #expect(try await numbers(of: TenantID(rawValue: "other")).isEmpty)
        #expect(try await fixture.listed().map(\.isPreview) == [false, false, false, false, false, true])
        #expect(try await records.responseCount(of: Self.a, firing: 1, tenant: .local) == 3)
        #expect(try await records.responseCount(of: Self.a, firing: 2, tenant: .local) == 0)
        #expect(try await records.responseCount(of: Self.a, firing: 1, tenant: Self.acme) == 2)
    }

    @Test(arguments: Backend.allCases)
    func `beside writers a reader of the list sees each response once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (writers, responses) = (4, 6)
        var tickets: [Ticket] = []
        for writer in 0..<writers { tickets.append(try await fixture.fired("\(writer)")) }
        let records = fixture.records
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            for (writer, ticket) in tickets.enumerated() {
                group.addTask {
                    for number in 0..<responses {
                        _ = try await records.taking(.sample(writer * responses + number, in: number), by: ticket)
                    }
                }
            }
            var seen: [String] = []
            var cursor: String?
            // A part says where the next begins as soon as there is one.
            while seen.count < writers * responses - 1 {
                let part = try await records.responses(of: .local, to: nil, after: cursor, limit: 1)
                if let next = part.next {
                    seen += part.elements.map(\.response.id)
                    cursor = next
                } else {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            seen += try await records.responses(of: .local, to: nil, after: cursor, limit: 9).elements.map(
                \.response.id)
            try await group.waitForAll()
            return seen
        }
        #expect(Set(seen).count == writers * responses)
        #expect(try await fixture.listed(limit: 100).map(\.response.id) == seen)
    }

    // MARK: Keeping

    @Test(arguments: Backend.allCases)
    func `a response outlives its ticket, and is forgotten after a month or with its notification`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let ticket = try await fixture.fired(lasting: .seconds(60))
        for number in 1...2 { _ = try await records.taking(.sample(number), by: ticket) }
        // The handler's answer may come after the end, but not for ever.
        fixture.clock.advance(.seconds(600))
        _ = try await fixture.store.sweep()
        #expect(try await records.take(.sample(3), by: ticket) == nil)
        #expect(try await records.settle(.sample(1), by: ticket, ResponseSettlement(answer: nil))?.answer != nil)
        fixture.clock.advance(.seconds(3600))
        _ = try await fixture.store.sweep()
        #expect(try await records.settle(.sample(2), by: ticket, ResponseSettlement(answer: nil)) == nil)
        #expect(try await fixture.listed().map { $0.answer != nil } == [true, false])

        fixture.clock.advance(.seconds(20 * 86_400))
        let (late, _) = try await records.newTicket(firing: 2)
        try await records.fireNotification(opening: late)
        let (gone, _) = try await records.newTicket(to: "b")
        try await records.putNotification("b")
        #expect(try await records.remove(NotificationID(rawValue: "b"), of: .local, from: .pending))
        #expect(try await records.open([gone], []))
        fixture.clock.advance(.seconds(1800))
        _ = try await records.taking(.sample(4), by: late)
        _ = try await records.taking(.sample(5), by: gone)
        fixture.clock.advance(.seconds(10 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.listed().map(\.response.id) == [4, 5].map { NotificationResponse.sample($0).id })
        // The notification ended half an hour before its response came.
        fixture.clock.advance(.seconds(20 * 86_400 - 900))
        _ = try await fixture.store.sweep()
        #expect(try await records.notification(NotificationID(rawValue: "b"), of: .local) == nil)
        #expect(try await fixture.listed().map(\.response.id) == [NotificationResponse.sample(4).id])
        // Places are never given out twice, so that whoever read to the end misses nothing.
        fixture.clock.advance(.seconds(86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.listed().isEmpty)
        let (new, _) = try await records.newTicket(firing: 3)
        try await records.fireNotification(opening: new)
        for number in 6...7 { _ = try await records.taking(.sample(number), by: new) }
        let page = try await records.responses(of: .local, to: nil, after: nil, limit: 1)
        #expect(try #require(page.next.flatMap { Int64($0) }) > 4)
    }
}

extension ResponseTaking {
    fileprivate var undecided: ResponseSession? {
        guard case .undecided(let session) = self else { return nil }
        return session
    }
}

extension RecordStore {
    /// Takes a response that has to be taken.
    fileprivate func taking(_ response: NotificationResponse, by ticket: Ticket) async throws -> ResponseTaking {
        try #require(try await take(response, by: ticket)).get()
    }
}

extension Fixture {
    /// The ticket of a notification that was fired for the first time.
    fileprivate func fired(
        _ id: String = "a", of tenant: TenantID = .local, category: Category = .answerable(),
        lasting duration: Duration = .seconds(3600)
    ) async throws -> Ticket {
        try await records.putNotification(id, of: tenant)
        let (ticket, _) = try await records.newTicket(to: id, of: tenant, category: category, lasting: duration)
        try await records.fireNotification(id, of: tenant, opening: ticket)
        return ticket
    }

    fileprivate func listed(limit: Int = 10) async throws -> [ResponseRecord] {
        try await records.responses(of: .local, to: nil, after: nil, limit: limit).elements
    }
}
