import SatchelCore
import Crypto
import CryptoExtras
import FoundationEssentials

/// AES-256-CTR over all bytes, and SHA-256 of the ciphertext.
///
/// The counter is the whole IV. Matrix has it begin with 8 random bytes and end with 8 zeros, so that it never runs over;
/// any other is counted on as 128 bits (NIST SP 800-38A, appendix B.1), as the libraries of its clients do.
enum MatrixCipher: MediaCipher {
    static func decrypt(
        _ ciphertext: borrowing Ciphertext, with key: MediaEncryption.Key, to plaintext: inout MemoryFile
    ) throws(AttachmentError) {
        var hash = SHA256()
        for range in Ciphertext.pieces(of: 0..<ciphertext.bytes) { hash.update(data: try ciphertext.read(range)) }
        guard let expected = key.sha256, hash.finalize() == expected else {
            throw .decryptionFailed(reason: "its bytes don't match the hash 'sha256' that came with its key")
        }
        for range in Ciphertext.pieces(of: 0..<ciphertext.bytes) {
            try plaintext.write(try crypt(try ciphertext.read(range), at: range.lowerBound, with: key))
        }
    }

    static func encrypt(
        _ plaintext: borrowing Ciphertext, to output: borrowing Descriptor
    ) throws(AttachmentError) -> MediaEncryption.Key? {
        var key = MediaEncryption.Key(
            key: random(EncryptionScheme.matrix.keyBytes), iv: random(8) + Data(count: 8))
        var hash = SHA256()
        for range in Ciphertext.pieces(of: 0..<plaintext.bytes) {
            let piece = try crypt(try plaintext.read(range), at: range.lowerBound, with: key)
            hash.update(data: piece)
            try write(piece, to: output)
        }
        key.sha256 = Data(hash.finalize())
        return key
    }

    /// Encrypts or decrypts a piece, which is the same.
    ///
    /// - Parameter offset: Where the piece begins: a multiple of 16.
    static func crypt(
        _ piece: [UInt8], at offset: Int64, with key: MediaEncryption.Key
    ) throws(AttachmentError) -> Data {
        let start = (key.iv ?? Data()).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let counter = start &+ UInt128(offset / 16)
        let bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: counter >> UInt128($0)) }
        do {
            return try AES._CTR.encrypt(
                piece, using: SymmetricKey(data: key.key), nonce: AES._CTR.Nonce(nonceBytes: bytes))
        } catch {
            throw .brokenCipher
        }
    }
}
