import SatchelCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ingest

/// Encrypted sources, as Python's `cryptography` and published vectors have them.
@Suite struct DecryptionTests {
    /// What a source of these bytes holds.
    private func opened(_ bytes: Data, _ encryption: MediaEncryption) async throws -> Data {
        let directory = try TemporaryDirectory(inMemory: true)
        let file = directory.path + "/source"
        try bytes.write(to: URL(filePath: file))
        let source = Descriptor(owning: unsafe open(file, O_RDONLY))
        let plaintext = try await encryption.decrypted(source)
        let handle = FileHandle(fileDescriptor: plaintext.descriptor.number, closeOnDealloc: false)
        let data = try handle.readToEnd() ?? Data()
        let bytes = plaintext.bytes
        #expect(Int64(data.count) == bytes)
        return data
    }

    private func refusal(_ bytes: Data, _ encryption: MediaEncryption) async -> AttachmentError? {
        await #expect(throws: AttachmentError.self) { try await opened(bytes, encryption) }
    }

    private func random(_ count: Int, _ random: inout SeededGenerator) -> Data {
        var data = Data(capacity: count + 8)
        while data.count < count { unsafe withUnsafeBytes(of: random.next()) { unsafe data.append(contentsOf: $0) } }
        return data.prefix(count)
    }

    // MARK: Beside an independent judge

    @Test func `what Python encrypts is opened to the byte, at lengths around blocks, pieces and nothing`() async throws
    {
        var generator = SeededGenerator()
        var files: [EncryptionJudge.Plain] = []
        let piece = Int(Ciphertext.piece)
        for scheme in EncryptionScheme.allCases {
            var lengths = [0, 1, 15, 16, 17, 31, 32, 33, piece - 32, piece - 16, piece - 1, piece, piece + 1]
            lengths.append(2 * piece + 5)
            for _ in 0..<12 { lengths.append(.random(in: 0...5000, using: &generator)) }
            for length in lengths {
                files.append(.init(scheme, random(length, &generator), using: &generator))
            }
        }
        for (file, encrypted) in zip(files, try EncryptionJudge.encrypt(files)) {
            let plaintext = try await opened(encrypted.bytes, encrypted.encryption)
            #expect(plaintext == file.bytes, "\(file.scheme) of \(file.bytes.count) bytes")
        }
    }

    @Test func `an IV whose counter runs over is counted on as Python does`() async throws {
        var generator = SeededGenerator(seed: 2)
        var files: [EncryptionJudge.Plain] = []
        for blocks in [0, 1, 2, 65_536, 65_537] {
            var file = EncryptionJudge.Plain(.matrix, random(3 << 20, &generator), using: &generator)
            let last = UInt128.max - UInt128(blocks)
            file.iv = Data(stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: last >> UInt128($0)) })
            files.append(file)
        }
        for (file, encrypted) in zip(files, try EncryptionJudge.encrypt(files)) {
            #expect(try await opened(encrypted.bytes, encrypted.encryption) == file.bytes)
        }
    }

    @Test func `whatever is changed of a file, or of what came with its key, nothing of it is given out`() async throws
    {
        var generator = SeededGenerator(seed: 3)
        let files = EncryptionScheme.allCases.flatMap { scheme in
            (0..<6).map { _ in
                EncryptionJudge.Plain(
                    scheme, random(.random(in: 1...3000, using: &generator), &generator), using: &generator)
            }
        }
        for (file, encrypted) in zip(files, try EncryptionJudge.encrypt(files)) {
            for change in Change.allCases {
                var bytes = encrypted.bytes
                var encryption = encrypted.encryption
                guard change.apply(to: &bytes, &encryption, using: &generator) else { continue }
                let error = await refusal(bytes, encryption)
                #expect(error?.code == .decryptionFailed, "\(file.scheme): \(change)")
                #expect(error?.isRetryable == false)
            }
        }
    }

    /// What somebody may do to a file on its way.
    private enum Change: CaseIterable {
        case flippedBit, shortened, lengthened, emptied, otherKey, otherDigest, otherIV, longerSize

        /// - Returns: Whether there was something to change that has to be noticed.
        func apply(
            to bytes: inout Data, _ encryption: inout MediaEncryption, using generator: inout SeededGenerator
        ) -> Bool {
            func flip(_ data: inout Data) {
                let index = Int.random(in: data.indices, using: &generator)
                data[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            guard var key = encryption.key else { return false }
            switch self {
            case .flippedBit: flip(&bytes)
            case .shortened: bytes.removeLast(.random(in: 1...bytes.count, using: &generator))
            case .lengthened: bytes.append(0)
            case .emptied: bytes = Data()
            case .otherKey:
                // Matrix's hash is all that there is to compare: another key opens it to something else.
                guard encryption.scheme != .matrix else { return false }
                // Of Signal's key, the half that is compared with is the second.
                key.key[key.key.count - 1] ^= 1
            case .otherDigest:
                guard var digest = key.sha256 else { return false }
                flip(&digest)
                key.sha256 = digest
            case .otherIV:
                guard encryption.scheme == .aesgcm, var iv = key.iv else { return false }
                flip(&iv)
                key.iv = iv
            case .longerSize:
                guard key.size != nil else { return false }
                key.size = Int64(bytes.count)
            }
            encryption.key = key
            return true
        }
    }

    @Test func `what isn't padded as Signal pads, or longer than it says, is refused in words`() async throws {
        var generator = SeededGenerator(seed: 4)
        var file = EncryptionJudge.Plain(.signal, random(100, &generator), using: &generator)
        file.padding = 0
        let encrypted = try EncryptionJudge.encrypt(file)
        var longer = encrypted.encryption
        longer.key?.size = 101
        let error = await refusal(encrypted.bytes, longer)
        #expect(error?.message.contains("it has 100 bytes, not the 101") == true)
        var other = encrypted.encryption
        // Another key for the cipher, and the right one for the HMAC.
        other.key?.key[0] ^= 1
        #expect(await refusal(encrypted.bytes, other)?.code == .decryptionFailed)
    }

    // MARK: Published vectors

    /// matrix-org/matrix-encrypt-attachment, `test/decrypt.Spec.js`, those of `v2`.
    @Test(arguments: [
        (
            "", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", ""
        ),
        (
            "5xJZTt5cQicm+9f4", "//////////8AAAAAAAAAAA", "__________________________________________8",
            "YzF08lARDdOCzJpzuSwsjTNlQc4pHxpdHcXiD/wpK6k", "SGVsbG8sIFdvcmxk"
        ),
        (
            "zhtFStAeFx0s+9L/sSQO+WQMtldqYEHqTxMduJrCIpnkyer09kxJJuA4K+adQE4w+7jZe/vR9kIcqj9rOhDR8Q",
            "//////////8AAAAAAAAAAA", "__________________________________________8",
            "IOq7/dHHB+mfHfxlRY5XMeCWEwTPmlf4cJcgrkf6fVU",
            "YWxwaGFudW1lcmljYWxseWFscGhhbnVtZXJpY2FsbHlhbHBoYW51bWVyaWNhbGx5YWxwaGFudW1lcmljYWxseQ"
        ),
    ])
    func `Matrix's vectors are opened`(
        _ vector: (ciphertext: String, iv: String, key: String, sha256: String, plaintext: String)
    ) async throws {
        let key = MediaEncryption.Key(
            key: try #require(Data(anyBase64: vector.key)), iv: Data(anyBase64: vector.iv),
            sha256: Data(anyBase64: vector.sha256))
        let ciphertext = try #require(Data(anyBase64: vector.ciphertext))
        #expect(try await opened(ciphertext, MediaEncryption(.matrix, key)) == Data(anyBase64: vector.plaintext))
    }

    /// Of SP 800-38A, appendix F: the four blocks that its examples encrypt, and the key of AES-256.
    private static let blocks = bytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
            + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
    private static let key = Data(bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }

    @Test func `NIST's counter mode is ours, in one piece and in several`() throws {
        // F.5.5 and F.5.6.
        let key = MediaEncryption.Key(
            key: Self.key, iv: Data(Self.bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")))
        let ciphertext = Self.bytes(
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
                + "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6")
        #expect(try Array(MatrixCipher.crypt(ciphertext, at: 0, with: key)) == Self.blocks)
        for start in stride(from: 0, to: 64, by: 16) {
            let piece = Array(ciphertext[start..<start + 16])
            #expect(
                try Array(MatrixCipher.crypt(piece, at: Int64(start), with: key))
                    == Array(Self.blocks[start..<start + 16]))
        }
    }

    @Test func `NIST's chained blocks are ours, in one piece and in several`() throws {
        // F.2.5 and F.2.6.
        let iv = Self.bytes("000102030405060708090a0b0c0d0e0f")
        let ciphertext = Self.bytes(
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
                + "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b")
        #expect(try Array(SignalCipher.blocks(ciphertext, after: iv, key: Self.key)) == Self.blocks)
        for start in stride(from: 0, to: 64, by: 16) {
            let before = start == 0 ? iv : Array(ciphertext[start - 16..<start])
            let piece = Array(ciphertext[start..<start + 16])
            #expect(
                try Array(SignalCipher.blocks(piece, after: before, key: Self.key))
                    == Array(Self.blocks[start..<start + 16]))
        }
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B: cases 13, 14 and 15.
    @Test(arguments: [
        ("000000000000000000000000", "", "530f8afbc74536b9a963b4f1c4cb738b", "", ""),
        (
            "000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
            "00000000000000000000000000000000", ""
        ),
        (
            "cafebabefacedbaddecaf888", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
                + "b094dac5d93471bdec1a502270e3cc6c",
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255", ""
        ),
    ])
    func `the vectors of GCM are opened`(
        _ vector: (iv: String, key: String, ciphertext: String, plaintext: String, end: String)
    ) async throws {
        let key = vector.key.isEmpty ? String(repeating: "0", count: 64) : vector.key
        let encryption = MediaEncryption(.aesgcm, MediaEncryption.Key(fragment: vector.iv + key))
        let ciphertext = Data(Self.bytes(vector.ciphertext))
        #expect(try await opened(ciphertext, encryption) == Data(Self.bytes(vector.plaintext)))
    }

    // MARK: Where the plaintext lies

    @Test func `plaintext lies in a sealed file in memory, which is gone with its descriptor`() async throws {
        var generator = SeededGenerator(seed: 5)
        let encrypted = try EncryptionJudge.encrypt(.init(.matrix, random(4000, &generator), using: &generator))
        let directory = try TemporaryDirectory(inMemory: true)
        let file = directory.path + "/source"
        try encrypted.bytes.write(to: URL(filePath: file))
        let source = Descriptor(owning: unsafe open(file, O_RDONLY))
        let plaintext = try await encrypted.encryption.decrypted(source)
        let number = plaintext.descriptor.number
        let name = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
        #expect(name == "/memfd:satchel (deleted)")
        #expect(fcntl(number, F_GETFL) & O_ACCMODE == O_RDONLY)
        // F_GET_SEALS of Linux; F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE.
        #expect(fcntl(number, 1034) == 1 | 2 | 4 | 8)
        // Whoever opens it anew can't write either.
        let writer = unsafe open("/proc/self/fd/\(number)", O_RDWR)
        let written = unsafe write(writer, [1 as UInt8], 1)
        #expect(writer >= 0 && written == -1 && errno == EPERM)
        close(writer)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["source"])
    }

    @Test func `more than there may be in memory is refused before it is read, and a forgotten key in words`()
        async throws
    {
        let directory = try TemporaryDirectory(inMemory: true)
        let file = directory.path + "/source"
        let source = Descriptor(owning: unsafe open(file, O_RDWR | O_CREAT, 0o600))
        #expect(ftruncate(source.number, off_t(EncryptionScheme.maximumBytes + 1)) == 0)
        let key = MediaEncryption.Key(key: Data(count: 32), iv: Data(count: 16), sha256: Data(count: 32))
        await #expect(throws: AttachmentError.sourceTooLarge(bytes: 100_000_001, limit: 100_000_000)) {
            _ = try await MediaEncryption(.matrix, key).decrypted(source)
        }
        let forgotten = await #expect(throws: AttachmentError.self) {
            _ = try await MediaEncryption(.matrix, key).withoutKey.decrypted(source)
        }
        #expect(
            forgotten?.code == .decryptionFailed && forgotten?.message.contains("deleted when its job ended") == true)
    }

    // MARK: aesgcm URLs

    @Test func `an aesgcm URL is fetched by https, and is refused without what is secret`() throws {
        let (iv, key) = (String(repeating: "0a", count: 12), String(repeating: "C3", count: 32))
        for iv in [iv, iv + "00000000"] {
            let url = try #require(try AESGCMURL("AESGCM://Media.example.com:8443/a%20b.jpg?x=1#\(iv)\(key)"))
            #expect(url.url == "https://media.example.com:8443/a%20b.jpg?x=1")
            #expect(url.encryption.scheme == .aesgcm && url.encryption.key?.fragment == iv + key.lowercased())
            #expect(url.encryption.key?.iv?.count == iv.count / 2)
        }
        #expect(try AESGCMURL("https://media.example.com/#\(iv)\(key)") == nil)
        for text in [
            "aesgcm://media.example.com/a", "aesgcm://media.example.com/a#", "aesgcm://media.example.com/a#\(key)",
            "aesgcm://media.example.com/a#\(iv)\(key)0", "aesgcm://media.example.com/a#\(iv)\(key)00",
            "aesgcm://media.example.com/a#\(iv)zz\(key.dropFirst(2))", "aesgcm:media.example.com/a#\(iv)\(key)",
            "aesgcm://u:p@media.example.com/a#\(iv)\(key)", "aesgcm://#\(iv)\(key)",
        ] {
            let error = #expect(throws: AttachmentError.self) { _ = try AESGCMURL(text) }
            #expect(error?.code == .invalidSource, "\(text)")
            #expect(error.map { !$0.message.contains("C3C3") && !"\($0)".contains("C3C3") } ?? false)
        }
    }
}
