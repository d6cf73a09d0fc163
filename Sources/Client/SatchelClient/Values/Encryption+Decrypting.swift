internal import Crypto
internal import CryptoExtras
public import Foundation

extension Encryption {
    /// Decrypts a fetched file. All bytes are authenticated before any plaintext is written.
    ///
    /// With `matrix`, the file is read in pieces. With `aesgcm`, memory use is twice the size of the file.
    ///
    /// - Parameters:
    ///   - file: The encrypted file, which is kept.
    ///   - target: The file to write. An existing file is replaced. If the call throws, the file does not exist.
    /// - Throws: ``SatchelError`` with the code ``SatchelError/Code/decryptionFailed``, or a file error of `Foundation`.
    public func decrypt(_ file: URL, to target: URL) throws {
        switch self {
        case .matrix(let encrypted):
            let key = try CounterKey(encrypted)
            let source = try FileHandle(forReadingFrom: file)
            defer { try? source.close() }
            var hash = SHA256()
            while let piece = try source.read(upToCount: Self.piece), !piece.isEmpty { hash.update(data: piece) }
            try key.check(hash)
            try source.seek(toOffset: 0)
            do {
                try Data().write(to: target)
                let output = try FileHandle(forWritingTo: target)
                defer { try? output.close() }
                var blocks: UInt64 = 0
                while let piece = try source.read(upToCount: Self.piece), !piece.isEmpty {
                    try output.write(contentsOf: key.crypt(piece, after: blocks))
                    blocks += UInt64(Self.piece / CounterKey.blockBytes)
                }
            } catch {
                try? FileManager.default.removeItem(at: target)
                throw error
            }
        case .aesgcm, .signal, .unknown:
            try decrypt(Data(contentsOf: file, options: .mappedIfSafe)).write(to: target, options: .atomic)
        }
    }

    /// Decrypts fetched bytes.
    ///
    /// - Throws: ``SatchelError`` with the code ``SatchelError/Code/decryptionFailed``.
    public func decrypt(_ bytes: Data) throws -> Data {
        switch self {
        case .matrix(let encrypted):
            let key = try CounterKey(encrypted)
            var hash = SHA256()
            hash.update(data: bytes)
            try key.check(hash)
            return try key.crypt(bytes, after: 0)
        case .aesgcm(let fragment): return try Self.opened(bytes, fragment)
        case .signal: throw SatchelError.undecryptable("This library doesn't open files of Signal.")
        case .unknown(let scheme):
            throw SatchelError.undecryptable(
                "This library doesn't know the scheme '\(scheme)', or the service has lost the key.")
        }
    }

    /// Read at once: whole blocks, and little of what an extension may use.
    private static let piece = 1 << 18

    private static let tagBytes = 16
    private static let keyBytes = 32

    /// By XEP-0454: the tag stands behind the ciphertext.
    private static func opened(_ bytes: Data, _ fragment: String) throws -> Data {
        guard let secret = Data(hexadecimal: fragment), [12, 16].contains(secret.count - keyBytes) else {
            throw SatchelError.undecryptable("There is no IV and key in the fragment.")
        }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: secret.dropLast(keyBytes)), ciphertext: bytes.dropLast(tagBytes),
                tag: bytes.suffix(tagBytes))
            return try AES.GCM.open(box, using: SymmetricKey(data: secret.suffix(keyBytes)))
        } catch {
            throw SatchelError.damaged
        }
    }
}

/// AES-256-CTR as Matrix has it: the counter is the whole IV, in 128 bits.
private struct CounterKey {
    static let blockBytes = 16

    private let key: SymmetricKey
    private let iv: [UInt8]
    private let sha256: Data

    init(_ file: EncryptedFile) throws {
        guard let key = Data(unpadded: file.key.k), key.count == 32, let iv = Data(unpadded: file.iv),
            iv.count == Self.blockBytes, let sha256 = file.hashes["sha256"].flatMap(Data.init(unpadded:))
        else { throw SatchelError.undecryptable("Its key, IV and hash are none of Matrix's.") }
        self.key = SymmetricKey(data: key)
        self.iv = Array(iv)
        self.sha256 = sha256
    }

    /// - Parameter hash: Of all bytes that were fetched.
    func check(_ hash: SHA256) throws {
        guard Data(hash.finalize()) == sha256 else { throw SatchelError.damaged }
    }

    /// - Parameter blocks: That stand before it.
    func crypt(_ piece: Data, after blocks: UInt64) throws -> Data {
        var (counter, carry) = (iv, blocks)
        for index in counter.indices.reversed() where carry > 0 {
            let sum = UInt64(counter[index]) + carry & 0xFF
            counter[index] = UInt8(truncatingIfNeeded: sum)
            carry = carry >> 8 + sum >> 8
        }
        do {
            return try AES._CTR.encrypt(piece, using: key, nonce: AES._CTR.Nonce(nonceBytes: counter))
        } catch {
            throw SatchelError.damaged
        }
    }
}

extension SatchelError {
    fileprivate static func undecryptable(_ detail: String) -> SatchelError {
        SatchelError(code: .decryptionFailed, detail: detail)
    }

    fileprivate static let damaged = undecryptable(
        "The bytes aren't those that were encrypted with this key: the file is damaged, or another.")
}

extension Data {
    /// Base64 of either alphabet, without padding or with.
    fileprivate init?(unpadded text: String) {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            .prefix { $0 != "=" }
        self.init(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
    }

    /// Two digits a byte.
    fileprivate init?(hexadecimal text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self.init(
            stride(from: 0, to: digits.count, by: 2).map { UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1]) }
        )
    }
}
