import Attachments
import FoundationEssentials
import Platform

/// How the files of one scheme are opened.
protocol MediaCipher {
    /// Compares all of the ciphertext with what was said of it, and only then decrypts any of it.
    ///
    /// - Parameter key: Fits the scheme.
    /// - Throws: `decryption_failed`; `store_failed` where there is no memory for the plaintext.
    static func decrypt(
        _ ciphertext: borrowing Ciphertext, with key: MediaEncryption.Key, to plaintext: inout MemoryFile
    ) throws(AttachmentError)
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
    func memory(of ciphertext: Int64) -> Int64 {
        self == .aesgcm ? 2 * ciphertext : ciphertext
    }
}

extension AttachmentError {
    /// What a cipher library says of a key or a length that was looked at before.
    static let brokenCipher = AttachmentError.decryptionFailed(reason: "it can't be decrypted with this key")
}
