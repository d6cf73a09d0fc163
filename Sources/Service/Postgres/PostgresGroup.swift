internal import Synchronization

/// Requests of one kind that come while the last batch of that kind is under way, and form the next: one commit for all of
/// them. One that comes alone waits for nobody.
public final class PostgresGroup<Request: Sendable, Answer: Sendable>: Sendable {
    /// More would make the first of a group wait for too long.
    public static var largest: Int { 128 }

    private struct Entry: Sendable {
        let request: Request
        let answer: CheckedContinuation<Result<Answer, any Error>, Never>
    }

    private struct State {
        var waiting: [Entry] = []
        var isUnderWay = false
    }

    public typealias Batch = @Sendable ([Request]) async throws -> [Answer]

    private let state = Mutex(State())

    public init() {}

    /// The answer to a request, once its batch is done. A cancelled task gets it as well.
    ///
    /// - Parameter perform: A batch of these requests: all or none, with an answer for each in their order. What it throws
    ///   for several it is asked again for each alone, so that a bad one takes back only itself. Whoever comes first has the
    ///   others' done with: it is the same for all. It isn't kept, so it may hold what holds the group.
    public func callAsFunction(_ request: Request, by perform: @escaping Batch) async throws -> Answer {
        try await withCheckedContinuation { answer in
            let isFirst = state.withLock { state in
                state.waiting.append(Entry(request: request, answer: answer))
                defer { state.isUnderWay = true }
                return !state.isUnderWay
            }
            if isFirst { Task { await work(perform) } }
        }.get()
    }

    private func work(_ perform: Batch) async {
        while true {
            let group = state.withLock { state -> [Entry] in
                let group = Array(state.waiting.prefix(Self.largest))
                state.waiting.removeFirst(group.count)
                state.isUnderWay = !group.isEmpty
                return group
            }
            guard !group.isEmpty else { return }
            await carryOut(group, by: perform)
        }
    }

    private func carryOut(_ group: [Entry], by perform: Batch) async {
        do {
            let answers = try await perform(group.map(\.request))
            precondition(answers.count == group.count, "each request has one answer")
            for (entry, answer) in zip(group, answers) { entry.answer.resume(returning: .success(answer)) }
        } catch {
            // Where the database is away it is so for each.
            guard group.count > 1, case PostgresError.statement? = error as? PostgresError else {
                for entry in group { entry.answer.resume(returning: .failure(error)) }
                return
            }
            for entry in group { await carryOut([entry], by: perform) }
        }
    }
}
