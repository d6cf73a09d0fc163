import FoundationEssentials
package import Logging
import NIOCertificateReloading
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// The certificate of a server, read again when its files change. Connections that are open keep theirs.
package struct ReloadingCertificate: ServiceLifecycle.Service {
    /// How often the files are looked at.
    private static let interval: Duration = .seconds(1)

    /// What new connections use.
    let context: NIOSSLContext
    private let files: TLSFiles
    private let reloader: TimedCertificateReloader
    private let logger: Logger
    private let contents: [Data?]

    /// - Throws: ``TLSFiles/Unusable``, which names what can't be used.
    package init(_ files: TLSFiles, logger: Logger) throws(TLSFiles.Unusable) {
        self.files = files
        self.logger = logger
        contents = files.contents
        reloader = TimedCertificateReloader(
            refreshInterval: Self.interval,
            certificateSource: .init(location: .memory { try files.certificatePEM() }, format: .pem),
            privateKeySource: .init(location: .memory { try files.keyPEM() }, format: .pem))
        try Self.load(files, by: reloader)
        do {
            var configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: reloader)
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            context = try NIOSSLContext(configuration: configuration)
        } catch { throw Self.unusable(files, error) }
    }

    /// Looks at the files until the shutdown. Ones that can't be used leave what there was, and the log says so.
    ///
    /// The reloader's own `run` would read and parse them each time, on a thread of Swift's tasks.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var seen = contents
            while (try? await Task.sleep(for: Self.interval)) != nil {
                let now = try? await NIOThreadPool.singleton.runIfActive { [seen] in
                    let now = files.contents
                    if now != seen { reload() }
                    return now
                }
                seen = now ?? seen
            }
        }
    }

    private func reload() {
        do throws(TLSFiles.Unusable) {
            try Self.load(files, by: reloader)
            logger.info("reloaded the TLS certificate")
        } catch {
            logger.error("cannot reload the TLS certificate", metadata: ["reason": "\(error)"])
        }
    }

    private static func load(
        _ files: TLSFiles, by reloader: TimedCertificateReloader
    ) throws(TLSFiles.Unusable) {
        do { try reloader.reload() } catch let error as TLSFiles.Unusable { throw error } catch {
            throw unusable(files, error)
        }
    }

    private static func unusable(_ files: TLSFiles, _ error: any Error) -> TLSFiles.Unusable {
        TLSFiles.Unusable(
            description: "the certificate '\(files.certificate)' doesn't match the key '\(files.key)': \(error)")
    }
}
