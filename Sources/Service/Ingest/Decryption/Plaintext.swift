package import SatchelCore
import Platform

/// What a source holds that was encrypted: a sealed file that lies in memory, and is gone with the descriptor.
package struct Plaintext: ~Copyable, Sendable {
    package let descriptor: Descriptor
    package let bytes: Int64

    /// The file, for whoever keeps it.
    consuming func taken() -> Descriptor { descriptor }
}

extension EncryptionScheme {
    /// Encrypts all of a file with a key by chance, and writes it where `output` stands.
    ///
    /// - Throws: `source_too_large`, `invalid_source`, `store_failed`, `store_full`.
    package func encrypt(
        _ plaintext: consuming Descriptor, to output: borrowing Descriptor
    ) throws(AttachmentError) -> MediaEncryption {
        let bytes: Int64
        do { bytes = try Files.size(of: plaintext) } catch { throw AttachmentError(error) }
        guard bytes <= Self.maximumBytes else { throw .sourceTooLarge(bytes: bytes, limit: Self.maximumBytes) }
        guard let key = try cipher.encrypt(Ciphertext(file: plaintext, bytes: bytes), to: output) else {
            throw .invalidSource(reason: "the encryption scheme '\(rawValue)' is unknown")
        }
        return MediaEncryption(self, key)
    }
}

extension MediaEncryption {
    /// Bytes of memory that a source of so many takes while it is opened and read.
    package func memory(of bytes: Int64) -> Int64 { scheme.memory(of: bytes) }

    /// Opens a source: all of its bytes are compared with what came with its key before any is decrypted.
    ///
    /// - Throws: `decryption_failed`, `source_too_large`, `invalid_source`; `store_failed` where there is no memory.
    package func decrypted(
        _ source: borrowing Descriptor
    ) async throws(AttachmentError) -> Plaintext {
        guard let key else {
            throw .decryptionFailed(reason: "its key was deleted when its job ended")
        }
        let number: Int32
        do { number = try source.duplicate().release() } catch { throw AttachmentError(error) }
        let (plaintext, bytes) = try await BlockingWork.run { () throws(AttachmentError) in
            try decrypted(Descriptor(owning: number), with: key)
        }
        return Plaintext(descriptor: Descriptor(owning: plaintext), bytes: bytes)
    }

    private func decrypted(
        _ source: consuming Descriptor, with key: Key
    ) throws(AttachmentError) -> (plaintext: Int32, bytes: Int64) {
        guard key.fits(scheme) else { throw .brokenCipher }
        let bytes: Int64
        do { bytes = try Files.size(of: source) } catch { throw AttachmentError(error) }
        guard bytes <= EncryptionScheme.maximumBytes else {
            throw .sourceTooLarge(bytes: bytes, limit: EncryptionScheme.maximumBytes)
        }
        var plaintext = try MemoryFile()
        try scheme.cipher.decrypt(Ciphertext(file: source, bytes: bytes), with: key, to: &plaintext)
        let written = plaintext.bytes
        return (try plaintext.seal().release(), written)
    }
}
