import SatchelCore
internal import Stores
import FoundationEssentials
import HTTPTypes
import Jobs
import Payloads
import Platform
import Synchronization

/// Takes responses: records each, has its category's handler decide, and hands what is the app's to the app's back end.
final class ResponseService: Sendable {
    private struct Place: Hashable {
        var ticket: String
        var session: String
    }

    /// Who responds in one session does so one after the other, also where they try again too early.
    private struct Turn {
        let semaphore = AsyncSemaphore(capacity: 1)
        var count = 0
    }

    private let records: RecordStore
    private let handlers: HandlerCalls
    private let rates = ResponseRates()
    private let turns = Mutex<[Place: Turn]>([:])

    init(records: RecordStore, handlers: HandlerCalls) {
        self.records = records
        self.handlers = handlers
    }

    /// Closes what is kept. No response may be underway.
    func end() async {
        await handlers.end()
    }

    /// - Throws: A problem where it can't be taken; an error of the store.
    func answer(_ response: NotificationResponse, by ticket: Ticket) async throws -> ResponseAnswer {
        guard case .responses(let context) = ticket.content else { throw Problem.notFound }
        let rate = context.category.responses?.rate ?? ResponseSettings().rate
        if let wait = rates.admit(response, by: ticket.id, rate: rate, among: records.nodes) {
            throw Problem(
                .tooManyRequests, "rate_limited",
                "Too many responses came from this session or for this notification. Wait for the seconds in 'Retry-After'.",
                headers: [.retryAfter: "\(Int(wait.inSeconds.rounded(.up)))"])
        }
        return try await inTurn(Place(ticket: ticket.id, session: response.session)) {
            try await self.decided(response, by: ticket, context)
        }
    }

    private func inTurn<Result>(_ place: Place, _ body: () async throws -> Result) async throws -> Result {
        let turn = turns.withLock { turns in
            turns[place, default: Turn()].count += 1
            return turns[place, default: Turn()].semaphore
        }
        defer {
            turns.withLock { turns in
                turns[place]?.count -= 1
                if turns[place]?.count == 0 { turns[place] = nil }
            }
        }
        guard await turn.acquire(1, until: nil) == .granted else { throw CancellationError() }
        defer { turn.release(1) }
        return try await body()
    }

    private func decided(
        _ response: NotificationResponse, by ticket: Ticket, _ context: ResponseContext
    ) async throws -> ResponseAnswer {
        let session: ResponseSession
        switch try await records.take(response, by: ticket) {
        case nil: throw Problem.notFound
        case .failure(let refusal): throw Problem(refusal)
        case .success(.decided(let record)):
            guard let answer = record.answer else { throw Problem.notFound }
            return answer
        case .success(.undecided(let taken)): session = taken
        }
        var settlement = ResponseSettlement(answer: nil)
        if response.action.isForHandler, let handler = context.category.responses?.handler {
            let request = HandlerRequest(
                response: response, session: session, notification: ticket.notification.rawValue,
                firing: ticket.firing, metadata: context.metadata, isPreview: context.isPreview)
            do throws(HandlerFailure) {
                settlement.answer = try await handlers.answer(of: handler, tenant: ticket.tenant) {
                    client, handler, secrets throws(HandlerFailure) in
                    try await client.decision(of: handler, to: request, secrets: secrets)
                }
            } catch {
                settlement.reason = error.reason
            }
        }
        if settlement.then == .forward, !context.isPreview, let forward = context.category.responses?.forward {
            settlement.call = ResponseEvent(
                response: response, ticket: ticket, context: context,
                decidedBy: settlement.answer == nil ? .default : .handler, reason: settlement.reason
            ).call(to: forward.url, at: records.time)
        }
        // The handler has decided, so that is recorded even if it took its time.
        let record = try await RequestReading.$current.withValue(nil) {
            try await records.settle(response, by: ticket, settlement)
        }
        guard let answer = record?.answer else { throw Problem.notFound }
        JobMetrics.count(
            "responses_total", [("then", answer.then.rawValue), ("decided_by", answer.decidedBy.rawValue)])
        return answer
    }
}
