import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ingest

/// Files that are encrypted here, as Python's `cryptography` reads them.
@Suite struct EncryptionTests {
    private func encrypted(_ data: Data, by scheme: EncryptionScheme) throws -> (Data, MediaEncryption) {
        let directory = try TemporaryDirectory(inMemory: true)
        let (source, target) = (directory.path + "/source", directory.path + "/target")
        try data.write(to: URL(filePath: source))
        let output = Descriptor(owning: unsafe open(target, O_WRONLY | O_CREAT, 0o600))
        let encryption = try scheme.encrypt(Descriptor(owning: unsafe open(source, O_RDONLY)), to: output)
        return (try Data(contentsOf: URL(filePath: target)), encryption)
    }

    private func description(_ encryption: MediaEncryption) throws -> String {
        let key = try #require(encryption.key)
        guard encryption.scheme == .matrix else {
            return "{\"scheme\": \"aesgcm\", \"fragment\": \"\(key.fragment)\"}"
        }
        return """
            {"scheme": "matrix", "v": "v2", "iv": "\(try #require(key.iv).unpaddedBase64)",
             "hashes": {"sha256": "\(try #require(key.sha256).unpaddedBase64)"},
             "key": {"kty": "oct", "alg": "A256CTR", "ext": true, "key_ops": ["encrypt", "decrypt"],
                     "k": "\(key.key.base64URL)"}}
            """
    }

    @Test(arguments: EncryptionScheme.ofRenditions)
    func `what is encrypted here is opened to the byte by Python, and by ourselves`(scheme: EncryptionScheme)
        async throws
    {
        var random = SeededGenerator(seed: 21)
        let piece = Int(Ciphertext.piece)
        var keys: Set<Data> = []
        for length in [0, 1, 15, 16, 17, 4096, piece - 1, piece, piece + 33] {
            let data = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
            let (ciphertext, encryption) = try encrypted(data, by: scheme)
            #expect(try EncryptionJudge.decrypt(ciphertext, try description(encryption)) == data, "\(length)")
            let key = try #require(encryption.key)
            #expect(key.fits(scheme) && keys.insert(key.key + (key.iv ?? Data())).inserted)
            if length > 15 { #expect(ciphertext.range(of: data.prefix(16)) == nil) }
            if scheme == .matrix { #expect(key.iv?.suffix(8) == Data(count: 8)) }
            var changed = ciphertext
            if let last = changed.indices.last { changed[last] ^= 1 }
            if !changed.isEmpty { #expect(try EncryptionJudge.decrypt(changed, try description(encryption)) == nil) }
        }
    }

    @Test func `nothing is encrypted by a scheme that is only taken`() {
        #expect(throws: AttachmentError.self) { _ = try encrypted(Data("a".utf8), by: .signal) }
        #expect(EncryptionScheme.ofRenditions == [.matrix, .aesgcm])
    }
}
