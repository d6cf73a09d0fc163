import SatchelCore
import Crypto
import CryptoExtras
import FoundationEssentials

/// An IV of 16 bytes, AES-256-CBC, and HMAC-SHA256 over both; the digest is SHA-256 of all three. What is encrypted is
/// padded twice: by zeros to a length that tells less (the file's own length stands beside the key), and by PKCS #7
/// (`AttachmentCipherOutputStream` of Signal's clients).
enum SignalCipher: MediaCipher {
    private static let blockBytes: Int64 = 16
    private static let macBytes: Int64 = 32

    static func decrypt(
        _ ciphertext: borrowing Ciphertext, with key: MediaEncryption.Key, to plaintext: inout MemoryFile
    ) throws(AttachmentError) {
        let body = blockBytes..<max(blockBytes, ciphertext.bytes - macBytes)
        guard !body.isEmpty, body.count % Int(blockBytes) == 0 else {
            throw .decryptionFailed(reason: "its length does not fit an IV, whole blocks and an HMAC")
        }
        var digest = SHA256()
        var code = HMAC<SHA256>(key: SymmetricKey(data: key.key.suffix(32)))
        for range in Ciphertext.pieces(of: 0..<body.upperBound) {
            let piece = try ciphertext.read(range)
            digest.update(data: piece)
            code.update(data: piece)
        }
        let mac = try ciphertext.read(body.upperBound..<ciphertext.bytes)
        digest.update(data: mac)
        guard let expected = key.sha256, digest.finalize() == expected else {
            throw .decryptionFailed(reason: "its bytes don't match the digest that came with its key")
        }
        guard code.finalize() == Data(mac) else {
            throw .decryptionFailed(reason: "its HMAC doesn't match its bytes and key")
        }
        var before = try ciphertext.read(0..<blockBytes)
        var last = Data()
        for range in Ciphertext.pieces(of: body) {
            let piece = try ciphertext.read(range)
            last = try blocks(piece, after: before, key: key.key.prefix(32))
            try plaintext.write(last)
            before = Array(piece.suffix(Int(blockBytes)))
        }
        let padding = last.last ?? 0
        guard (1...UInt8(blockBytes)).contains(padding), last.suffix(Int(padding)).allSatisfy({ $0 == padding }) else {
            throw .decryptionFailed(reason: "the decrypted data has no padding")
        }
        let size = key.size ?? 0
        guard size <= plaintext.bytes - Int64(padding) else {
            throw .decryptionFailed(
                reason: "it has \(plaintext.bytes - Int64(padding)) bytes, not the \(size) in 'size'")
        }
        try plaintext.cut(to: size)
    }
    /// Decrypts whole blocks.
    ///
    /// - Parameter before: The block of ciphertext before them, or the IV.
    static func blocks(_ piece: [UInt8], after before: [UInt8], key: Data) throws(AttachmentError) -> Data {
        do {
            return try AES._CBC.decrypt(
                piece, using: SymmetricKey(data: key), iv: AES._CBC.IV(ivBytes: before), noPadding: true)
        } catch {
            throw .brokenCipher
        }
    }
}
