public import Foundation
import Platform
import Synchronization
import TestSupport

extension LocalOrigin {
    /// The files of `Media/`: `/jpeg/coffee.jpg`.
    public static let media = files(in: Repository.media)

    /// The files of a directory; 404 for what isn't there.
    public static func files(in directory: URL) -> Script {
        { request in
            guard !request.path.contains(".."),
                let data = try? Data(contentsOf: directory.appending(path: request.path))
            else { return Answer(status: 404) }
            return Answer(body: data)
        }
    }

    /// A photograph on every path, each another one, after the seconds of `/slow/<seconds>/…` and with the status of
    /// `/status/<number>/…`. Takes every POST.
    public static let photographs: Script = { request in
        guard request.method == "GET" else { return Answer(status: 204, keepsOpen: true) }
        let parts = request.path.split(separator: "/")
        let number = parts.count > 1 ? Double(parts[1]) : nil
        // A trailer of its own makes every path another picture.
        return Answer(
            status: parts.first == "status" ? Int(number ?? 200) : 200, headers: ["Content-Type": "image/jpeg"],
            body: photograph + Data(request.path.utf8), keepsOpen: true,
            delay: parts.first == "slow" ? .seconds(number ?? 0) : .zero)
    }

    private static let photograph =
        (try? Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))) ?? Data()

    /// Takes connections and requests, and never says a word.
    public static let silent: Script = { _ in Answer(delay: .seconds(3600)) }
}

/// Names that an origin answers for once a test has opened them.
public final class Gates: Sendable {
    private let gates = Mutex<[String: Promise<Void>]>([:])

    public init() {}

    private func gate(_ name: String) -> Promise<Void> {
        gates.withLock { gates in
            let gate = gates[name] ?? Promise()
            gates[name] = gate
            return gate
        }
    }

    public func open(_ name: String) {
        gate(name).make(.success(()))
    }

    /// Waits until the name is opened, or the origin ends.
    public func pass(_ name: String) async throws {
        let gate = gate(name)
        try await withTaskCancellationHandler {
            try await gate.value
        } onCancel: {
            gate.make(.failure(CancellationError()))
        }
    }
}
