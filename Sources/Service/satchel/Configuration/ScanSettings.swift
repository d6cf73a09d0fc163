import Ingest
import Jobs

/// Settings for scanning sources before delivery.
struct ScanSettings: Sendable {
    var url: String?
    /// A path, or `host:port`.
    var socket: String?
    var timeout: Duration = .seconds(10)
    var failure = ScanFailureMode.closed

    /// `nil` if sources are not scanned.
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
