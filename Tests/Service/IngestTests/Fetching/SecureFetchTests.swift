import SatchelCore
import Foundation
import NIOSSL
import ServiceTestSupport
import TestSupport
import Testing

@testable import Ingest

/// TLS against a certificate for `media.example` made for the test.
@Suite(.timeLimit(.minutes(10))) struct SecureFetchTests: ~Copyable {
    private let directory: TemporaryDirectory
    private let certificate: String
    private let tls: NIOSSLContext

    init() throws {
        let directory = try TemporaryDirectory()
        let certificate = directory.path + "/certificate.pem"
        let key = directory.path + "/key.pem"
        try Program.makeCertificate(
            "media.example", for: "DNS:media.example", certificate: certificate, key: key)
        tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: key, format: .pem))))
        self.certificate = certificate
        self.directory = directory
    }

    private func fetcher(trusting roots: NIOSSLTrustRoots) throws -> Fetcher {
        Fetcher(
            guardedBy: FetchGuard(allowing: [try FetchAllowance("127.0.0.1")]),
            into: try Spool(at: directory.path + "/spool"), userAgent: "Satchel/test",
            resolve: { _ in [.v4(0x7F00_0001)] }, trustRoots: roots)
    }

    @Test func `the pinned connection asks for the certificate of the URL's host`() async throws {
        let fetcher = try fetcher(trusting: .file(certificate))
        let requests = try await LocalOrigin.runBytewise(tls: tls) { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        } _: { server in
            let source = try await fetcher.fetch(server.url("/x", host: "media.example"))
            #expect(source.bytes == 5)
            return (server.heads, server.port)
        }
        #expect(requests.0.first?.lowercased().contains("host: media.example:\(requests.1)\r\n") == true)
    }

    @Test(arguments: ["other.example", "127.0.0.1"])
    func `a certificate for another host is refused`(host: String) async throws {
        let fetcher = try fetcher(trusting: .file(certificate))
        try await LocalOrigin.runBytewise(tls: tls) { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        } _: { server in
            let error = await #expect(throws: AttachmentError.self) {
                try await fetcher.fetch(server.url("/x", host: host))
            }
            #expect(error?.message.contains("certificate") == true, "\(String(describing: error))")
            #expect(error?.cause == FetchCause(.tls))
            #expect(server.heads.isEmpty)
        }
    }

    @Test func `a certificate that nobody vouches for is refused`() async throws {
        let fetcher = try fetcher(trusting: .default)
        try await LocalOrigin.runBytewise(tls: tls) { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        } _: { server in
            let error = await #expect(throws: AttachmentError.self) {
                try await fetcher.fetch(server.url("/x", host: "media.example"))
            }
            #expect(error?.message.contains("certificate") == true, "\(String(describing: error))")
            #expect(error?.cause == FetchCause(.tls))
            #expect(server.heads.isEmpty)
        }
    }

    @Test func `a redirect from https to http is refused`() async throws {
        let fetcher = try fetcher(trusting: .file(certificate))
        try await LocalOrigin.runBytewise { _, answer in
            try await answer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        } _: { plain in
            let target = plain.url("/", host: "media.example")
            try await LocalOrigin.runBytewise(tls: tls) { _, answer in
                try await answer.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
            } _: { server in
                let error = await #expect(throws: AttachmentError.self) {
                    try await fetcher.fetch(server.url("/", host: "media.example"))
                }
                #expect(error == .fetchFailed(.redirect, reason: "it redirects from https to http"))
            }
            #expect(plain.heads.isEmpty)
        }
    }
}
