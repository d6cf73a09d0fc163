import Ingest
import Synchronization

/// A name service whose answers change from one question to the next; the last one stays.
final class ChangingNames: Sendable {
    private let state: Mutex<(answers: [[IPAddress]], names: [String])>

    init(_ answers: [[String]]) {
        state = Mutex((answers.map { $0.compactMap { IPAddress($0) } }, []))
    }

    /// The names that were asked for.
    var names: [String] { state.withLock { $0.names } }

    var resolve: Fetcher.Resolve {
        { self.next(for: $0) }
    }

    private func next(for name: String) -> [IPAddress] {
        state.withLock { state in
            state.names.append(name)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? []
        }
    }
}
