import SatchelCore
import FoundationEssentials
import Platform

/// How the files of one scheme are opened, and made.
protocol MediaCipher {
    /// Compares all of the ciphertext with what was said of it, and only then decrypts any of it.
    ///
    /// - Parameter key: Fits the scheme.
    /// - Throws: `decryption_failed`; `store_failed` where there is no memory for the plaintext.
    static func decrypt(
        _ ciphertext: borrowing Ciphertext, with key: MediaEncryption.Key, to plaintext: inout MemoryFile
    ) throws(AttachmentError)

    /// Encrypts all of a file with a key by chance.
    ///
    /// - Returns: The key, and what else opens what was written; nil where files of the scheme are only taken.
    /// - Throws: `invalid_source` where the file can't be read; `store_failed`, `store_full`.
    static func encrypt(
        _ plaintext: borrowing Ciphertext, to output: borrowing Descriptor
    ) throws(AttachmentError) -> MediaEncryption.Key?
}

extension MediaCipher {
    static func encrypt(
        _ plaintext: borrowing Ciphertext, to output: borrowing Descriptor
    ) throws(AttachmentError) -> MediaEncryption.Key? { nil }

    /// Bytes that nobody can guess.
    static func random(_ count: Int) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max) })
    }

    static func write(_ data: Data, to output: borrowing Descriptor) throws(AttachmentError) {
        // Its closure throws untyped.
        let outcome = unsafe data.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in unsafe try Files.write(bytes, to: output, to: "write a rendition") }
        }
        do { try outcome.get() } catch { throw AttachmentError(error) }
    }
}

extension EncryptionScheme {
    var cipher: any MediaCipher.Type {
        switch self {
        case .matrix: MatrixCipher.self
        case .aesgcm: AESGCMCipher.self
        case .signal: SignalCipher.self
        }
    }

    /// Bytes of memory that opening a file takes: its plaintext, and once more where it comes as a whole.
    package func memory(of ciphertext: Int64) -> Int64 {
        self == .aesgcm ? 2 * ciphertext : ciphertext
    }
}

extension AttachmentError {
    /// What a cipher library says of a key or a length that was looked at before.
    static let brokenCipher = AttachmentError.decryptionFailed(reason: "it can't be decrypted with this key")
}
