import Attachments
import Crypto
import FoundationEssentials

/// AES-256-GCM as a whole: its tag stands behind the ciphertext (XEP-0454, section 3).
enum AESGCMCipher: MediaCipher {
    static let tagBytes = 16

    static func decrypt(
        _ ciphertext: borrowing Ciphertext, with key: MediaEncryption.Key, to plaintext: inout MemoryFile
    ) throws(AttachmentError) {
        guard ciphertext.bytes >= tagBytes else {
            throw .decryptionFailed(reason: "it ends before its tag, which are its last \(tagBytes) bytes")
        }
        let opened: Data
        do {
            let bytes = try ciphertext.mapped()
            // The library gives out nothing unless the tag is right.
            opened = try AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: key.iv ?? Data()), ciphertext: bytes.dropLast(tagBytes),
                    tag: bytes.suffix(tagBytes)),
                using: SymmetricKey(data: key.key))
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .decryptionFailed(reason: "its tag isn't that of its bytes under this key and IV")
        }
        try plaintext.write(opened)
    }
}
