import SatchelCore
import Crypto
import FoundationEssentials

/// AES-256-GCM as a whole: its tag stands behind the ciphertext (XEP-0454, section 3).
enum AESGCMCipher: MediaCipher {
    static let tagBytes = 16

    static func decrypt(
        _ ciphertext: borrowing Ciphertext, with key: MediaEncryption.Key, to plaintext: inout MemoryFile
    ) throws(AttachmentError) {
        guard ciphertext.bytes >= tagBytes else {
            throw .decryptionFailed(reason: "it is shorter than its tag of \(tagBytes) bytes")
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
            throw .decryptionFailed(reason: "its tag doesn't match its bytes, key and IV")
        }
        try plaintext.write(opened)
    }

    static func encrypt(
        _ plaintext: borrowing Ciphertext, to output: borrowing Descriptor
    ) throws(AttachmentError) -> MediaEncryption.Key? {
        let key = MediaEncryption.Key(key: random(EncryptionScheme.aesgcm.keyBytes), iv: random(12))
        let bytes = try plaintext.mapped()
        do {
            let box = try AES.GCM.seal(
                bytes, using: SymmetricKey(data: key.key), nonce: AES.GCM.Nonce(data: key.iv ?? Data()))
            try write(box.ciphertext, to: output)
            try write(box.tag, to: output)
            return key
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .brokenCipher
        }
    }
}
