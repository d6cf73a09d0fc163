import HTTPTypes
import Hummingbird

/// What a client would rather have (RFC 7240).
struct Preferences {
    /// Nobody is kept waiting for longer, in seconds.
    static let longestWait = 60

    /// Seconds to wait for the end; nil where the client doesn't want to.
    var wait: Int?

    init(_ request: Request) {
        for preference in request.headers[values: "Prefer"].flatMap({ $0.split(separator: ",") }) {
            let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingSpace().lowercased() == "wait",
                let seconds = Int(parts[1].trimmingSpace()), seconds >= 0
            else { continue }
            wait = min(seconds, Self.longestWait)
            return
        }
    }

    /// Says which of them were heeded.
    func add(to headers: inout HTTPFields) {
        headers["Preference-Applied"] = wait.map { "wait=\($0)" }
    }
}
