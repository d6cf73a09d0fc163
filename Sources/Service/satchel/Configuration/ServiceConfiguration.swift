import API
import SatchelCore
import Foundation
import Ingest
import Logging

/// Everything that an operator decides about `satchel serve`. What each value means is said in ``Setting/all``.
struct ServiceConfiguration: Sendable {
    /// A directory, `memory:` or a URL of PostgreSQL: see ``StoreLocation``.
    var store = StoreOptions.defaultDirectory
    /// `s3://bucket/prefix`; nil where the store keeps its bytes itself.
    var blobs: String?
    /// Where a node receives sources and stages outputs whose records and bytes are elsewhere.
    var spool = StoreOptions.defaultSpool
    var database = DatabaseSettings()
    var bucket = BucketSettings()
    var claimDuration: Duration = .seconds(30)
    var accessKeys = StoreOptions.defaultKeys
    var listen = ListenAddress(host: "127.0.0.1", port: 8080)
    /// What whoever started the service listens on for it; where there is any, nothing is done about ``listen``.
    var sockets: [PassedSocket] = []
    var grace: Duration = .seconds(25)
    /// Nil: half of the machine's.
    var memory: Int64?
    /// Nil: one more than cores.
    var codecs: Int?
    var sandbox = SandboxDemand.standard
    var fastHuffman = true
    /// A file.
    var profiles: String?
    var fetchAllow: [String] = []
    var webhookAllow: [String] = []
    /// Origins.
    var fetchTrace: [String] = []
    var scan = ScanSettings()
    /// Files.
    var tlsCertificate: String?
    var tlsKey: String?
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.json
    var sweepInterval: Duration = .seconds(300)
    var auditKept = AuditEntry.keep
    /// With an empty `publicURL` where none was given.
    var settings = ServiceSettings(publicURL: "")

    /// Where it is listened, for people.
    var places: String { sockets.isEmpty ? "\(listen)" : sockets.map(\.description).joined(separator: ", ") }

    /// Whether nobody but this machine can connect.
    var isLocal: Bool { sockets.isEmpty ? listen.isLoopback : sockets.allSatisfy(\.isLocal) }

    /// The first address that is listened on; nil where all are sockets of the file system.
    var firstAddress: ListenAddress? {
        if sockets.isEmpty { return listen }
        for case .network(let address) in sockets.map(\.place) { return address }
        return nil
    }

    /// Who may know which trace a fetch belongs to: who is listed, and the service itself.
    var tracedOrigins: TracedOrigins {
        TracedOrigins((fetchTrace + [settings.publicURL]).compactMap { try? FetchURL($0).origin })
    }

    enum SandboxDemand: String, CaseIterable, Sendable {
        case standard, full, none
    }
}

extension ListenAddress {
    /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` or `:8080` for every interface.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        self.init(host: host.isEmpty || host == "*" ? "0.0.0.0" : host, port: port)
    }

    /// Whether nobody but this machine can connect.
    var isLoopback: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}
