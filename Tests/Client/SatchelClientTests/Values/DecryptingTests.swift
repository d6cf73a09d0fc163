import SatchelCore
import Foundation
import SatchelClient
import TestSupport
import Testing

/// What the client makes of files that Python's `cryptography` encrypted.
@Suite struct DecryptingTests {
    private func decoded(_ file: EncryptionJudge.Encrypted) throws -> Encryption {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Encryption.self, from: Data(file.description.utf8))
    }

    private func isUndecryptable(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return (error as? SatchelError)?.code == .decryptionFailed }
        return false
    }

    @Test(arguments: EncryptionScheme.ofRenditions)
    func `a file is opened to the byte, whole and in pieces, and nothing is left of one that was changed`(
        scheme: EncryptionScheme
    ) throws {
        var random = SeededGenerator(seed: 41)
        let piece = 1 << 18
        var files = [0, 1, 15, 16, 17, piece - 1, piece, piece + 33].map { length in
            EncryptionJudge.Plain(
                scheme, Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }), using: &random)
        }
        // A counter that runs over, in the second piece as well.
        if scheme == .matrix {
            for iv in [Data(repeating: 0xFF, count: 16), Data(repeating: 0xFF, count: 14) + Data([0xC0, 0x02])] {
                var file = try #require(files.last)
                file.iv = iv
                files.append(file)
            }
        }
        let directory = try TemporaryDirectory()
        let (source, target) = (directory.url.appending(path: "a"), directory.url.appending(path: "b"))
        for (plain, file) in zip(files, try EncryptionJudge.encrypt(files)) {
            let encryption = try decoded(file)
            #expect(try encryption.decrypt(file.bytes) == plain.bytes)
            try file.bytes.write(to: source)
            try encryption.decrypt(source, to: target)
            #expect(try Data(contentsOf: target) == plain.bytes, "\(plain.bytes.count) bytes")
            try FileManager.default.removeItem(at: target)
            guard !file.bytes.isEmpty else { continue }
            for place in Set([0, file.bytes.count / 2, file.bytes.count - 1]) {
                var changed = file.bytes
                changed[place] ^= 1
                try changed.write(to: source)
                #expect(isUndecryptable { try encryption.decrypt(source, to: target) })
                #expect(isUndecryptable { _ = try encryption.decrypt(changed) })
            }
            #expect(isUndecryptable { _ = try encryption.decrypt(file.bytes.dropLast()) })
            #expect(!FileManager.default.fileExists(atPath: target.path(percentEncoded: false)))
        }
    }

    @Test(arguments: [
        #"{"scheme": "aesgcm", "fragment": ""}"#, #"{"scheme": "aesgcm", "fragment": "00zz"}"#,
        #"{"scheme": "aesgcm", "lost": true}"#, #"{"scheme": "rot13"}"#,
        #"{"scheme": "matrix", "v": "v2", "key": {"kty": "oct", "alg": "A256CTR", "k": ""}, "iv": "AAAAAAAAAAAAAAAAAAAAAA", "hashes": {"sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"}}"#,
        #"{"scheme": "signal", "key": "AAAA", "digest": "AAAA", "size": 1}"#,
    ])
    func `what lacks a key is read, and opens nothing`(text: String) throws {
        let encryption = try JSONDecoder().decode(Encryption.self, from: Data(text.utf8))
        #expect(isUndecryptable { _ = try encryption.decrypt(Data()) })
    }
}
