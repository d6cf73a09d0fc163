public import SatchelCore
import Crypto
public import FoundationEssentials
import Platform

extension Profile {
    /// SHA-256 over the profile's values, lower-case hexadecimal: two profiles with the same digest do the same.
    public var digest: String {
        get throws {
            SHA256.hash(data: try JSON.encode(self)).hexadecimal
        }
    }
}

/// What tells that the same work was already done.
public enum WorkKey {
    /// The key of a file under a profile: over its path, size, modification time and the profile's digest, so that a
    /// changed file or a changed profile is new work, and a file that was restored from a backup is not.
    public static func of(path: Data, state: FileState, profileDigest: String) -> String {
        of([path, Data("\(state.bytes)".utf8), Data("\(state.modified)".utf8), Data(profileDigest.utf8)])
    }

    /// The key of an object under a profile: over its bucket and key, its state and the profile's digest.
    public static func of(bucket: String, key: String, state: ObjectState, profileDigest: String) -> String {
        of([
            Data("s3://\(bucket)/".utf8), Data(key.utf8), Data(state.etag.utf8), Data("\(state.bytes)".utf8),
            Data(profileDigest.utf8),
        ])
    }

    /// The key of a job that was asked for in these words: its sources with all that is wanted of them, the profile's
    /// digest, the mode, the deadline, and by which scheme what is made is encrypted.
    public static func of(
        _ attachments: [AttachmentSubmission], profileDigest: String, mode: JobMode, deadline: Double?,
        encrypt: EncryptionScheme? = nil
    ) throws -> String {
        of(
            [
                try JSON.encode(attachments), Data(profileDigest.utf8), Data(mode.rawValue.utf8),
                Data((deadline.map { "\($0)" } ?? "").utf8),
            ] + (encrypt.map { [Data($0.rawValue.utf8)] } ?? []))
    }

    /// The name of a run that machines share, of all that decides what is done.
    public static func ofRun(_ description: String) -> String { of([Data(description.utf8)]) }

    /// Every part is preceded by its length, so that no two lists of parts share a key.
    private static func of(_ parts: [Data]) -> String {
        var hash = SHA256()
        for part in parts {
            hash.update(data: Data("\(part.count):".utf8))
            hash.update(data: part)
        }
        return hash.finalize().hexadecimal
    }
}
