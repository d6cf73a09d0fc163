import API
import SatchelCore
import Foundation
import Ingest
import Logging

/// The settings of `satchel serve`. ``Setting/all`` describes each.
struct ServiceConfiguration: Sendable {
    /// A directory, `memory:` or a PostgreSQL URL: see ``StoreLocation``.
    var store = StoreOptions.defaultDirectory
    /// `s3://bucket/prefix`; `nil` if the store keeps its bytes itself.
    var blobs: String?
    /// A local directory for received sources and staged outputs, if the store is not local.
    var spool = StoreOptions.defaultSpool
    var database = DatabaseSettings()
    var bucket = BucketSettings()
    var claimDuration: Duration = .seconds(30)
    var accessKeys = StoreOptions.defaultKeys
    var listen = ListenAddress(host: "127.0.0.1", port: 8080)
    /// Sockets passed by the service manager. They replace ``listen``.
    var sockets: [PassedSocket] = []
    var grace: Duration = .seconds(25)
    /// `nil` for half of the machine's memory.
    var memory: Int64?
    /// `nil` for the number of cores plus one.
    var codecs: Int?
    var sandbox = SandboxDemand.standard
    var fastHuffman = true
    /// The path of the profiles file.
    var profiles: String?
    var fetchAllow: [String] = []
    var fetchRedirects = Fetcher.defaultRedirects
    var webhookAllow: [String] = []
    /// Origins.
    var fetchTrace: [String] = []
    var scan = ScanSettings()
    /// Paths of PEM files.
    var tlsCertificate: String?
    var tlsKey: String?
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.json
    var sweepInterval: Duration = .seconds(300)
    var auditKept = AuditEntry.keep
    /// `publicURL` is empty if none was given.
    var settings = ServiceSettings(publicURL: "")

    /// The addresses that the service listens on, for messages.
    var places: String { sockets.isEmpty ? "\(listen)" : sockets.map(\.description).joined(separator: ", ") }

    /// Whether only programs on this machine can connect.
    var isLocal: Bool { sockets.isEmpty ? listen.isLoopback : sockets.allSatisfy(\.isLocal) }

    /// The first network address; `nil` if all sockets are in the file system.
    var firstAddress: ListenAddress? {
        if sockets.isEmpty { return listen }
        for case .network(let address) in sockets.map(\.place) { return address }
        return nil
    }

    /// The origins that receive `traceparent`: the configured ones and the service itself.
    var tracedOrigins: TracedOrigins {
        TracedOrigins((fetchTrace + [settings.publicURL]).compactMap { try? FetchURL($0).origin })
    }

    enum SandboxDemand: String, CaseIterable, Sendable {
        case standard, full, none
    }
}

extension ListenAddress {
    /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or `:8080` for all interfaces.
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

    /// Whether only programs on this machine can connect.
    var isLoopback: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}
