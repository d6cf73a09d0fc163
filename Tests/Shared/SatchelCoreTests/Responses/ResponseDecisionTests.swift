import SatchelCore
import Foundation
import TestSupport
import Testing

@Suite struct ResponseDecisionTests {
    static let start = Instant(milliseconds: 1_763_720_100_000)

    static func ticket(_ category: Category = ResponseSessionTests.category, isPreview: Bool = false) -> Ticket {
        Ticket(
            NewToken(id: "t", kid: "k", token: AccessToken(secretText: "secret")), tenant: .local,
            notification: NotificationID(rawValue: "n"), firing: 3,
            content: .responses(
                ResponseContext(category: category, generation: 2, metadata: [:], isPreview: isPreview)),
            createdAt: start, expiresAt: start + .seconds(60))
    }

    static func response(_ id: String, in session: String = "s", _ action: String = "mute") -> NotificationResponse {
        NotificationResponse(id: id, session: session, action: ResponseAction(action))
    }

    @Test(arguments: [true, false])
    func `what is recorded says what it answers, with text and data only where they are kept`(
        recordText: Bool
    ) throws {
        var category = ResponseSessionTests.category
        category.responses = ResponseSettings(recordText: recordText)
        var response = Self.response("r", "reply")
        response.text = "On my way"
        response.data = "[17]"
        let ticket = Self.ticket(category, isPreview: true)
        let (taking, change) = try ResponseDecision.take(response, by: ticket, known: nil, session: nil, at: Self.start)
        let record = try #require(change).record
        #expect(taking == .undecided(try #require(change).session) && change?.session.count == 1)
        #expect(record.response.text == (recordText ? "On my way" : nil))
        #expect(record.response.data == (recordText ? "[17]" : nil))
        #expect(record.notification == ticket.notification && record.firing == 3 && record.generation == 2)
        #expect(record.isPreview && record.receivedAt == Self.start && record.ticket == "t" && record.answer == nil)
        #expect(try JSON.decode(ResponseRecord.self, from: JSON.encode(record)) == record)
    }

    @Test func `without settings for responses text is kept`() throws {
        var response = Self.response("r", "reply")
        response.text = "On my way"
        let change = try ResponseDecision.take(response, by: Self.ticket(), known: nil, session: nil, at: Self.start).1
        #expect(change?.record.response == response)
    }

    @Test func `a ticket to see a preview takes no response`() {
        var ticket = Self.ticket()
        ticket.content = .preview(
            SavedPreview(
                payload: TokenTemplate(stored: .init()), pushType: .alert, category: ResponseSessionTests.category,
                media: [], dropped: [], linksEnd: nil, respond: nil))
        #expect(ticket.kind == .preview)
        #expect(throws: ResponseRefusal.unknownAction("default", current: [])) {
            try ResponseDecision.take(
                Self.response("r", "default"), by: ticket, known: nil, session: nil, at: Self.start)
        }
    }

    @Test func `a decision is recorded with its reason and its call`() throws {
        let change = try #require(
            try ResponseDecision.take(Self.response("r"), by: Self.ticket(), known: nil, session: nil, at: Self.start).1
        )
        let call = OutgoingCall(
            id: "c", tenant: .local, type: .notificationResponse, subject: nil, url: "https://example.com",
            body: TokenTemplate(stored: .init()))
        let settlement = ResponseSettlement(answer: nil, reason: "nobody answered", call: call)
        #expect(settlement.then == .forward)
        let (record, written) = ResponseDecision.settle(change.record, change.session, by: settlement)
        #expect(record.answer?.then == .forward && record.answer?.decidedBy == .default)
        #expect(record.reason == "nobody answered" && record.call == "c")
        #expect(written?.record == record && written?.session == change.session)
    }

    /// A store of one ticket, as simple as it can be.
    private struct Model {
        var records: [String: ResponseRecord] = [:]
        var sessions: [String: ResponseSession] = [:]

        mutating func write(_ change: ResponseDecision.Change?) {
            guard let change else { return }
            records[change.record.response.id] = change.record
            sessions[change.record.response.session] = change.session
        }
    }

    @Test func `whatever comes, repeats and is refused, each response counts once and keeps its first answer`() throws {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<100 {
            var model = Model()
            let ticket = Self.ticket()
            for step in 0..<40 {
                let before = model
                let response = Self.response(
                    "\(Int.random(in: 0..<8, using: &random))", in: "\(Int.random(in: 0..<3, using: &random))",
                    ["reply", "mute", "undo", "default"].randomElement(using: &random) ?? "")
                let known = model.records[response.id]
                let place = (known?.response ?? response).session
                if Bool.random(using: &random) {
                    do throws(ResponseRefusal) {
                        let (taking, change) = try ResponseDecision.take(
                            response, by: ticket, known: known, session: model.sessions[place],
                            at: Self.start + .milliseconds(step))
                        model.write(change)
                        #expect((change != nil) == (known == nil))
                        if let known, known.answer != nil { #expect(taking == .decided(known)) }
                        if known?.answer == nil {
                            #expect(taking == model.sessions[place].map { .undecided($0) })
                        }
                    } catch {
                        #expect(known == nil && model.records == before.records && model.sessions == before.sessions)
                    }
                } else if let known, let session = model.sessions[place] {
                    let undo = [CategoryAction(id: "undo", title: "Undo")]
                    let answer = HandlerAnswer(then: .stay, actions: Bool.random(using: &random) ? undo : nil)
                    let (record, change) = ResponseDecision.settle(
                        known, session, by: ResponseSettlement(answer: answer))
                    model.write(change)
                    #expect((change != nil) == (known.answer == nil) && record == model.records[response.id])
                }
                for (id, record) in before.records where record.answer != nil { #expect(model.records[id] == record) }
                for (id, session) in model.sessions {
                    #expect(session.count == model.records.values.count { $0.response.session == id })
                }
            }
        }
    }
}
