import SatchelCore
import API
import Foundation
import Ingest
import Jobs
import Logging
import S3

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

/// Settings for the database that nodes share.
struct DatabaseSettings: Sendable {
    /// The number of connections for writes. Half as many more are for reads.
    var connections = 4
    /// Whether connections go through a pooler in transaction mode.
    var isPooled = false
    var wakeups = NodeWakeups.auto
    var deadAfter: Duration = .seconds(10)
    var garbageDelay: Duration = .seconds(60)
    /// The URL at which other nodes reach this one; `{host}` stands for this machine's name.
    var advertises: String?
}

/// The ways in which nodes of a store in PostgreSQL learn about new work.
enum NodeWakeups: String, CaseIterable, Sendable {
    /// By `LISTEN` and `NOTIFY` if they work, and otherwise by polling.
    case auto
    /// By polling.
    case off
}

/// Settings for the bucket that nodes share.
struct BucketSettings: Sendable {
    enum Encryption: String, CaseIterable, Sendable {
        case none, s3, kms
    }

    var endpoint: String?
    /// `nil` for that of `AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`, in this order.
    var region: String?
    var usesPathStyle = false
    var certificateAuthorities: String?
    var encryption = Encryption.none
    var key: String?
    var storageClass: String?
    var connections = 64

    /// - Parameter location: `s3://bucket/prefix`.
    func configuration(
        of location: String, _ environment: [String: String]
    ) throws(S3Error) -> S3Configuration {
        func set(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        return try S3Configuration(
            location, region: region ?? set("AWS_REGION") ?? set("AWS_DEFAULT_REGION") ?? "us-east-1",
            endpoint: endpoint, usesPathStyle: usesPathStyle, certificateAuthorities: certificateAuthorities,
            encryption: {
                switch encryption {
                case .none: .bucket
                case .s3: .store
                case .kms: .managed(key: key)
                }
            }(), storageClass: storageClass, connections: connections)
    }
}

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
