import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

/// Certificates from files that change.
@Suite(.timeLimit(.minutes(10))) struct ReloadingCertificateTests {
    /// Counts lines by level.
    private final class Log: LogHandler, Sendable {
        let lines = Mutex<[String]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .debug }
            set {}
        }

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }

    private static func makeCertificate(_ name: String, at files: TLSFiles) async throws {
        try await onThread {
            try Program.makeCertificate(name, certificate: files.certificate, key: files.key)
        }
    }

    private static func files(in directory: borrowing TemporaryDirectory, _ name: String = "") -> TLSFiles {
        TLSFiles(certificate: directory.path + "/\(name)certificate.pem", key: directory.path + "/\(name)key.pem")
    }

    @Test func `files that can't be used are named before anything is served`() async throws {
        let directory = try TemporaryDirectory()
        let logger = Logger(label: "test")
        let files = Self.files(in: directory)
        try Data("rubbish".utf8).write(to: URL(filePath: files.certificate))
        #expect { try ReloadingCertificate(files, logger: logger) } throws: { "\($0)".contains(files.certificate) }
        try await Self.makeCertificate("one", at: files)
        let other = Self.files(in: directory, "other-")
        try await Self.makeCertificate("other", at: other)
        #expect {
            try ReloadingCertificate(TLSFiles(certificate: files.certificate, key: other.key), logger: logger)
        } throws: {
            let text = "\($0)"
            return $0 is TLSFiles.Unusable && text.contains(files.certificate) && text.contains(other.key)
        }
        try Data("rubbish".utf8).write(to: URL(filePath: other.key))
        #expect {
            try ReloadingCertificate(TLSFiles(certificate: files.certificate, key: other.key), logger: logger)
        } throws: { "\($0)".contains(other.key) && !"\($0)".contains(files.certificate) }
    }

    @Test func `what people keep beside certificate and key does no harm`() async throws {
        let directory = try TemporaryDirectory()
        let files = Self.files(in: directory)
        try await Self.makeCertificate("one", at: files)
        let certificate = try String(contentsOfFile: files.certificate, encoding: .utf8)
        let key = try String(contentsOfFile: files.key, encoding: .utf8)
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let all = "Our server, until 2027:\n" + parameters + key + certificate
        for path in [files.certificate, files.key] { try Data(all.utf8).write(to: URL(filePath: path)) }
        _ = try ReloadingCertificate(files, logger: Logger(label: "test"))
    }

    @Test func `a broken file leaves what there was, and is told of once`() async throws {
        let directory = try TemporaryDirectory()
        let files = Self.files(in: directory)
        try await Self.makeCertificate("first", at: files)
        let log = Log()
        try await TrivialServer.run(tls: files, logger: Logger(label: "test", factory: { _ in log })) { port in
            let trusted = directory.path + "/trusted.pem"
            try FileManager.default.copyItem(atPath: files.certificate, toPath: trusted)
            func shown() async throws -> ProgramResult {
                try await onThread {
                    try Program.tool("curl").run([
                        "-sSv", "--max-time", "20", "--cacert", trusted, "https://localhost:\(port)/",
                    ])
                }
            }
            #expect(try await shown().errorText.contains("CN=first"))
            try Data("rubbish".utf8).write(to: URL(filePath: files.certificate))
            try await eventually { log.lines.withLock { $0.contains { $0.contains("cannot reload") } } }
            let still = try await shown()
            #expect(still.status == 0 && still.errorText.contains("CN=first"))
            try await Self.makeCertificate("second", at: files)
            try await eventually { log.lines.withLock { $0.contains { $0.contains("reloaded the TLS certificate") } } }
            try Data(contentsOf: URL(filePath: files.certificate)).write(to: URL(filePath: trusted))
            try await eventually { try await shown().errorText.contains("CN=second") }
            let complaints = log.lines.withLock { $0.count { $0.contains("cannot reload") && $0.contains("PEM") } }
            #expect(complaints == 1)
        }
    }
}
