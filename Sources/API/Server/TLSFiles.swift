import Attachments
import FoundationEssentials
import Glibc
import Logging
import NIOSSL
import Synchronization

/// The files that TLS is made from, both PEM.
public struct TLSFiles: Hashable, Sendable {
    /// The certificate, followed by those that lead to a root.
    public var certificate: String
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// What is wrong with the files.
    public struct Unusable: Error, CustomStringConvertible, Sendable {
        public var description: String
    }
}

/// The TLS context for new connections, made anew when its files change. Connections that are open keep theirs.
final class TLSContexts: Sendable {
    /// Tells one version of a file from the next.
    private struct Version: Equatable {
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
        var bytes: Int64
    }

    private struct State {
        var context: NIOSSLContext
        var versions: [Version]
        var lookedAt: ContinuousClock.Instant
    }

    /// How often new connections may cause a look at the files.
    private static let interval: Duration = .seconds(1)

    private let files: TLSFiles
    private let logger: Logger
    private let state: Mutex<State>

    init(_ files: TLSFiles, logger: Logger) throws(TLSFiles.Unusable) {
        self.files = files
        self.logger = logger
        let versions = Self.versions(of: files)
        state = Mutex(State(context: try Self.context(of: files), versions: versions, lookedAt: .now))
    }

    /// What a new connection uses. Files that can't be used any more leave what there was, and say so in the log.
    var current: NIOSSLContext {
        state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.lookedAt >= Self.interval else { return state.context }
            state.lookedAt = now
            let versions = Self.versions(of: files)
            guard versions != state.versions else { return state.context }
            state.versions = versions
            do throws(TLSFiles.Unusable) {
                state.context = try Self.context(of: files)
                logger.info("the TLS certificate was read again")
            } catch {
                logger.error("the changed TLS files can't be used", metadata: ["reason": "\(error)"])
            }
            return state.context
        }
    }

    private static func context(of files: TLSFiles) throws(TLSFiles.Unusable) -> NIOSSLContext {
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMFile(files.certificate) } catch {
            throw TLSFiles.Unusable(
                description: "'\(files.certificate)' is no readable PEM file with certificates: \(error)")
        }
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(file: files.key, format: .pem) } catch {
            throw TLSFiles.Unusable(description: "'\(files.key)' is no readable PEM file with a private key: \(error)")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do { return try NIOSSLContext(configuration: configuration) } catch {
            throw TLSFiles.Unusable(
                description: "the certificate '\(files.certificate)' doesn't go with the key '\(files.key)': \(error)")
        }
    }

    private static func versions(of files: TLSFiles) -> [Version] {
        [files.certificate, files.key].map { path in
            var facts = stat()
            guard unsafe stat(path, &facts) == 0 else {
                return Version(inode: 0, seconds: 0, nanoseconds: 0, bytes: -1)
            }
            return Version(
                inode: UInt64(facts.st_ino), seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec,
                bytes: Int64(facts.st_size))
        }
    }
}
