internal import Postgres
internal import SatchelCore

/// Why a store could not be opened or tended. Each is one sentence that says what would help.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is something else at `path`.
    case notAStore(path: String)
    /// There is no store at `path`, and none was to be made.
    case missing(path: String)
    /// The directory or a file in it can't be written or read; `reason` is the kernel's.
    case inaccessible(path: String, reason: String)
    /// No room for bytes or names.
    case full(path: String)
    /// Written by a later version of Satchel.
    case newerSchema(path: String)
    /// Written by an earlier version of Satchel, and not brought up to date.
    case olderSchema(path: String)
    /// Made before there was a release.
    case developmentStore(path: String)
    /// Nodes of a version that can't work beside an upgrade use the records.
    case olderNodes(path: String)
    /// A database without records.
    case noSchema(path: String)
    /// The database can't be used; `reason` is a sentence that says what would help.
    case unusableDatabase(reason: String)
    /// The database can't be used now, but perhaps soon; `reason` is a sentence that says what would help.
    case unreachableDatabase(reason: String)
    /// Somebody else could read the key file.
    case exposedKeys(path: String)
    /// The key file is not what it should be.
    case damagedKeys(path: String, reason: String)
    /// The key file is another's, so that this process only reads it.
    case givenKeys(path: String)
    /// There is no key file, and the store has records that need it.
    case lostKeys(path: String)
    /// There is no key file, and none can be made; `reason` is the kernel's.
    case missingKeys(path: String, reason: String)
    /// The database answered with an error.
    case database(path: String, reason: String)
    /// The database at `path` is damaged; each fault is a line.
    case malformed(path: String, faults: [String])
    /// A copy to `path` needs more bytes than are free there.
    case noRoom(path: String, needed: Int64, free: Int64)
    /// Another process uses what is wanted alone.
    case inUse(path: String)
    /// There is something in the store at `path` that would be lost.
    case notEmpty(path: String)
    /// There is something else than a backup at `path`.
    case notABackup(path: String)
    /// There is no backup at `path`, or none that was finished.
    case noBackup(path: String)
    /// Another process has held the store for longer than `seconds`.
    case busy(path: String, seconds: Int)
    /// A store that is to be copied isn't one in a directory.
    case notCopied(path: String)
    /// What is to take a copy has records of its own.
    case occupied(path: String)
    /// What is to take a copy has the beginning of that of another store, which was at `source`.
    case otherCopy(path: String, source: String)
    /// The store is to be a copy of the one at `source`, of which a part is missing.
    case unfinishedCopy(path: String, source: String)
    /// A copy isn't what was copied; each reason is a clause.
    case unequalCopy(path: String, reasons: [String])

    public var description: String {
        switch self {
        case .notAStore(let path):
            "'\(path)' is not a Satchel store. Choose an empty or a new directory with --store."
        case .missing(let path):
            "There is no Satchel store at '\(path)'. Choose another directory with --store, or add something first."
        case .inaccessible(let path, let reason):
            "'\(path)' can't be used as a store: \(reason). Choose another directory with --store, or correct its permissions."
        case .full(let path):
            "The disk at '\(path)' is full. Free some space or inodes, then try again."
        case .newerSchema(let path):
            "The store at '\(path)' was written by a newer version of Satchel. Use that version, or a later one."
        case .olderSchema(let path):
            "The records in '\(path)' were written by an older version of Satchel. Run satchel store migrate first."
        case .developmentStore:
            "This store was made by a development version of Satchel before 0.1.0. Start with an empty store and run your batch again."
        case .olderNodes(let path):
            "Nodes of an older version of Satchel use the records in '\(path)'. Stop them, then run satchel store migrate again."
        case .noSchema(let path):
            "'\(path)' has no Satchel records. Run satchel store migrate, or correct the URL in --store."
        case .unusableDatabase(let reason), .unreachableDatabase(let reason): reason
        case .exposedKeys(let path):
            "The key file '\(path)' can be read by others. Run chmod 600 on it, or mount it with mode 0440. If others may have read it, write the word 'new' into it, which revokes all access."
        case .damagedKeys(let path, let reason):
            "The key file '\(path)' can't be used: \(reason). Restore it, or write the word 'new' into it, which revokes all access."
        case .givenKeys(let path):
            "The keys in '\(path)' are given to this process read-only, so it can't rotate them. Add a new key before the others in the file's source."
        case .lostKeys(let path):
            "The key file '\(path)' is missing, and the store has API keys, leases, links, grants or encrypted data. Restore the file, or name another with SATCHEL_ACCESS_KEYS. If it is lost, write the word 'new' into it with mode 0600, which revokes all access."
        case .missingKeys(let path, let reason):
            "There are no keys at '\(path)', and none can be created there: \(reason). Provide the file, or name another with SATCHEL_ACCESS_KEYS."
        case .database(let path, let reason):
            "The records in '\(path)' can't be used: \(reason)."
        case .malformed(let path, let faults):
            "The database '\(path)' is damaged: \(faults.first ?? "unreadable"). Move the store away, then restore a backup with 'satchel store restore'."
        case .noRoom(let path, let needed, let free):
            "The copy to '\(path)' needs \(needed) bytes, and \(free) are free there. Nothing was copied. Free some space, or choose another directory."
        case .inUse(let path):
            "Another process uses '\(path)'. Wait for it to end, or stop it, then try again."
        case .notEmpty(let path):
            "The store at '\(path)' isn't empty and won't be overwritten. Choose another directory with --store, or move that one away."
        case .notABackup(let path):
            "'\(path)' is neither empty nor an earlier backup. Choose a new directory."
        case .noBackup(let path):
            "'\(path)' is not a backup, or its backup was never finished. Choose another directory."
        case .busy(let path, let seconds):
            "Another process has locked the store at '\(path)' for \(seconds) s. Wait for it to end, then try again."
        case .notCopied(let path):
            "Only a store in a directory can be copied, and '\(path)' is not one."
        case .occupied(let path):
            "The store at '\(path)' already has records, which won't be overwritten. Create an empty database, run 'satchel store migrate' with it, then try again."
        case .otherCopy(let path, let source):
            "The database '\(path)' has an unfinished copy of the store at '\(source)', or of an earlier state of it. Create an empty database, run 'satchel store migrate' with it, then try again."
        case .unfinishedCopy(let path, let source):
            "The store at '\(path)' is an unfinished copy of the one at '\(source)'. Run 'satchel store copy' again to continue."
        case .unequalCopy(let path, let reasons):
            "The copy at '\(path)' differs from its source: \(reasons.joined(separator: "; ")). Create an empty database, run 'satchel store migrate' with it, then try again."
        }
    }
}

extension StoreError {
    init(_ error: PostgresError) {
        let isUnknownHost = if case .unknownHost = error { true } else { false }
        let reason = error.description
        self =
            error.isPassing || isUnknownHost ? .unreachableDatabase(reason: reason) : .unusableDatabase(reason: reason)
    }

    init(_ error: SystemError, at path: String) {
        self = error.isOutOfSpace ? .full(path: path) : .inaccessible(path: path, reason: error.reason)
    }
}
