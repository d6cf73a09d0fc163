import Ingest
import Jobs

/// Who scans sources before they are delivered, and what becomes of one that isn't scanned.
struct ScanSettings: Sendable {
    var url: String?
    /// A path, or `host:port`.
    var socket: String?
    var timeout: Duration = .seconds(10)
    var failure = ScanFailureMode.closed

    /// Nil where nobody does.
    var scanning: Scanning? {
        get throws {
            if let url {
                let scanner = try WebScanner(at: url, limit: timeout, userAgent: "Satchel/\(Version.current)")
                return Scanning(by: scanner, timeout: timeout, failure: failure)
            }
            return socket.flatMap(ClamdScanner.Address.init).map {
                Scanning(by: ClamdScanner(at: $0), timeout: timeout, failure: failure)
            }
        }
    }
}
