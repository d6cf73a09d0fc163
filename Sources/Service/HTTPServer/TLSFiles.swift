import FoundationEssentials
import NIOSSL
import SwiftASN1

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

    /// Their bytes; nil for what can't be read.
    var contents: [Data?] { [certificate, key].map(FileManager.default.contents) }

    /// The certificates alone, without what people keep beside them.
    func certificatePEM() throws(Unusable) -> [UInt8] {
        do {
            _ = try NIOSSLCertificate.fromPEMFile(certificate)
            return try Self.documents(in: certificate) { $0 == "CERTIFICATE" }
        } catch {
            throw Unusable(description: "'\(certificate)' is not a readable PEM file with certificates: \(error)")
        }
    }

    /// The key alone.
    func keyPEM() throws(Unusable) -> [UInt8] {
        do {
            _ = try NIOSSLPrivateKey(file: key, format: .pem)
            return try Self.documents(in: key) { $0.hasSuffix("PRIVATE KEY") }
        } catch {
            throw Unusable(description: "'\(key)' is not a readable PEM file with a private key: \(error)")
        }
    }

    private static func documents(in path: String, _ isWanted: (String) -> Bool) throws -> [UInt8] {
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        let documents = try PEMDocument.parseMultiple(pemString: text).filter { isWanted($0.discriminator) }
        return Array(documents.map(\.pemString).joined(separator: "\n").utf8)
    }
}
