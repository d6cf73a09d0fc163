public import Attachments
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// A managed store: a directory with records, blobs and what they need.
///
///     records.sqlite   jobs, attachments, the queue, access
///     blobs/ab/        immutable bytes, named by their hash
///     staging/         files in the making, where the file system has no unnamed ones
///     spool/           sources that were accepted and not yet worked on
///     workers/         a lock for each living worker
///     revocations      a count that rises with whatever takes access back
///     opening          held while somebody opens the store
///     lock             shared by all who use the store, exclusive for whoever cleans it alone
///
/// The keys of tokens are outside, so that a backup of the store opens nothing.
///
/// A store in memory has a directory too, which goes with it: for the spool, and for its keys.
public struct Store: Sendable {
    /// Absolute, or as it was given.
    public let directory: String
    public let records: any RecordStore
    public let blobs: any BlobStore
    /// The version of the records' schema.
    public let schemaVersion: String
    let keys: KeyRing
    private let place: Place

    /// What keeps the store where it is.
    private enum Place: Sendable {
        case directory(StoreLock)
        case memory(StoreMemory)
    }

    /// Where accepted sources are kept.
    public var spool: String { directory + "/spool" }

    /// Whether no other process has the store open, nor can until this one closes it.
    public var isExclusive: Bool {
        switch place {
        case .directory(let lock): lock.isExclusive
        case .memory: false
        }
    }

    /// Opens a store in memory.
    ///
    /// - Parameter memory: What an earlier opening had; else everything begins here.
    public init(
        in memory: StoreMemory, clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) throws(StoreError) {
        directory = memory.directory
        let (blobs, spool) = (memory.blobs, memory.directory + "/spool")
        self.blobs = blobs
        keys = try KeyRing(path: memory.directory + "/keys")
        records = MemoryRecordStore(
            memory.records, tokens: keys, discard: { blobs.remove($0) },
            discardSpool: { names in
                for name in names { _ = try? Files.remove(spool + "/" + name) }
            }, clock: clock)
        schemaVersion = "memory"
        place = .memory(memory)
    }

    /// Opens a store, and makes or updates it where that is needed.
    ///
    /// - Parameters:
    ///   - keys: The file with the keys of tokens, outside `directory`; made on first use.
    ///   - create: Whether to make the store where there is nothing.
    ///   - exclusively: Asks to have the store alone; ``isExclusive`` tells whether that worked. For cleaning only: a
    ///     sweep then takes everything that no record refers to, however young.
    ///   - clock: Where time comes from.
    public static func open(
        at directory: String, keys: String, create: Bool = true, exclusively: Bool = false,
        clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) throws(StoreError) -> Store {
        try Store(directory: directory, keys: keys, create: create, exclusively: exclusively, clock: clock)
    }

    private init(
        directory: String, keys: String, create: Bool, exclusively: Bool, clock: @escaping @Sendable () -> Instant
    ) throws(StoreError) {
        var directory = directory
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        let database = directory + "/records.sqlite"
        do {
            let isVacant = try Self.isVacant(directory)
            let isThere = try !isVacant && Files.facts(of: database) != nil
            if !isThere {
                guard isVacant else { throw StoreError.notAStore(path: directory) }
                guard create else { throw StoreError.missing(path: directory) }
                try Files.makeDirectories(directory)
            }
            place = .directory(try StoreLock(of: directory, exclusively: exclusively))
            // One at a time: two first openings would both make the schema.
            let opening = try Files.open(
                directory + "/opening", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600, to: "open the store's lock")
            while flock(opening.number, LOCK_EX) != 0 {
                guard errno == EINTR else { throw SystemError("lock the store") }
            }
            if !isThere {
                try FileBlobStore.prepare(directory)
                try Files.makeDirectory(directory + "/spool")
                try Files.makeDirectory(directory + "/workers")
                // Before the records have a name, by which the store is known to be whole.
                try Files.syncDirectory(directory)
                // Made here, so that it and the journals beside it, which take its mode, are for the owner alone.
                _ = try Files.open(
                    database, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600, to: "make the records '\(database)'")
            }
            // A copy of a store may lack those that were empty.
            for name in ["staging", "spool", "workers"] where try Files.facts(of: directory + "/" + name) == nil {
                try Files.makeDirectory(directory + "/" + name)
            }
            let blobs = FileBlobStore(directory: directory)
            self.keys = try KeyRing(path: keys)
            let records = try SQLiteRecordStore(
                path: database, workersDirectory: directory + "/workers", revocations: directory + "/revocations",
                keys: self.keys,
                discard: { names in
                    // Nobody waits for this, and what stays behind is found by the next sweep.
                    _ = try? blobs.remove(names)
                },
                discardSpool: { [spool = directory + "/spool"] names in
                    for name in names { _ = try? Files.remove(spool + "/" + name) }
                }, clock: clock)
            schemaVersion = records.schemaVersion
            self.records = records
            self.blobs = blobs
            self.directory = directory
        } catch let error as SystemError {
            throw StoreError(error, at: directory)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .inaccessible(path: directory, reason: "\(error)")
        }
    }

    /// What an earlier opening that was cut off may have left.
    private static let ownNames: Set = [
        "lock", "blobs", "opening", "staging", "spool", "workers", "revocations", "records.sqlite-wal",
        "records.sqlite-shm",
        "records.sqlite-journal",
    ]

    /// Nothing is there, or nothing but what a store begins with.
    private static func isVacant(_ directory: String) throws(SystemError) -> Bool {
        do {
            guard try Files.facts(of: directory) != nil else { return true }
            return try Files.names(in: directory).allSatisfy(ownNames.contains)
        } catch {
            if error.code == ENOTDIR { return false }
            throw error
        }
    }

    /// Deletes an attachment: its record and all access first, then the files that nobody else refers to.
    ///
    /// - Returns: False where the tenant has no such attachment.
    public func delete(_ attachment: AttachmentID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        guard let names = try await records.delete(attachment, of: tenant) else { return false }
        try blobs.remove(names)
        return true
    }

    /// Deletes a job with all its attachments; false where the tenant has no such job.
    public func deleteJob(_ job: JobID, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        guard let names = try await records.deleteJob(job, of: tenant) else { return false }
        try blobs.remove(names)
        return true
    }

    /// Gives up blobs that were committed and will not be delivered. One that a record refers to stays.
    public func abandon(_ names: [BlobName]) async throws(AttachmentError) {
        try blobs.remove(await records.markRemoved(names))
    }

    /// What a tenant's webhooks are signed with now, for its receivers.
    public func webhookSecret(of tenant: TenantID) throws(StoreError) -> WebhookSecret? {
        try webhookSecrets(of: tenant).first
    }

    /// What a tenant's webhooks are signed with, the current secret first: after a rotation of the keys the older ones
    /// stay good for as long as the keys are kept, so that receivers can change over.
    public func webhookSecrets(of tenant: TenantID) throws(StoreError) -> [WebhookSecret] {
        try keys.webhookSecrets(of: tenant)
    }

    /// Puts a new key in front for all tokens from now on; those that live stay good.
    public func rotateKeys() throws(StoreError) {
        try keys.rotate()
    }
}
