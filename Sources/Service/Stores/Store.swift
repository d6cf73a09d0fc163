public import SatchelCore
public import Bytes
internal import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// A managed store: a directory with records, blobs and what they need.
///
///     records.sqlite   jobs, attachments, the queue, access; with .version-N, as they were before an upgrade
///     blobs/ab/        immutable bytes, named by their hash
///     staging/         files in the making, where the file system has no unnamed ones
///     spool/           sources: accepted, and being received
///     workers/         a lock for each living worker
///     revocations      a count that rises with whatever takes access back
///     removals         held while somebody copies the store
///     opening          held while somebody opens the store
///     reserve          space for commands that free space on a full disk
///     lock             shared by all who use the store, exclusive for whoever cleans it alone
///
/// The keys of tokens are outside, so that a backup of the store opens nothing.
///
/// A store in memory has a directory too, which goes with it: for what is being received, locks of workers, and its keys.
public struct Store: Sendable {
    /// Absolute, or as it was given; where records and bytes are elsewhere, what is being received and made on this machine
    /// lies here.
    public let directory: String
    public let records: RecordStore
    public internal(set) var blobs: any BlobStore
    public let sources: any SourceStore
    /// Where outputs are staged that ``blobs`` take.
    public let staging: any StagingArea
    let keys: KeyRing
    /// Nil where nothing can be copied.
    let removals: RemovalHold?
    private let place: Place

    /// What keeps the store where it is.
    private enum Place: Sendable {
        case directory(StoreLock, StoreReserve?)
        case memory(StoreMemory)
        case elsewhere
    }

    /// The version of the records' schema.
    public static var schemaVersion: Int { Schema.version }

    /// The directory in which a spool receives what ``sources`` take.
    public var scratch: String { directory + "/spool" }

    /// Whether no other process has the store open, nor can until this one closes it.
    public var isExclusive: Bool {
        switch place {
        case .directory(let lock, _): lock.isExclusive
        case .memory, .elsewhere: false
        }
    }

    /// Whether the store can only be read.
    var isReadOnly: Bool { if case .directory(let lock, _) = place { lock.isReadOnly } else { false } }

    /// Creates or completes the file `reserve` of a store in a directory, if there is space for it.
    public func keepReserve() {
        if case .directory = place, !isReadOnly { StoreReserve.keep(in: FilePath(directory)) }
    }

    /// Opens a store in memory.
    ///
    /// - Parameter memory: What an earlier opening had; else everything begins here.
    public init(
        in memory: StoreMemory, clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) throws(StoreError) {
        try self.init(bytesIn: memory) { keys, garbage in
            RecordStore(
                SQLiteEngine(
                    memory.records, workers: WorkerLocks(directory: FilePath(memory.directory).appending("workers")),
                    revocations: memory.revocations, clock: clock), keys: keys, garbage: garbage)
        }
    }

    /// Opens a store whose records are elsewhere, and whose bytes are in memory.
    init(
        bytesIn memory: StoreMemory, records: (KeyRing, any GarbageCollector) -> RecordStore
    ) throws(StoreError) {
        directory = memory.directory
        sources = memory.sources
        staging = MemoryStagingArea(scratch: FilePath(memory.directory).appending("spool"))
        keys = try KeyRing(path: memory.directory + "/keys")
        let records = records(keys, StoreGarbage(blobs: memory.blobs, sources: memory.sources))
        self.records = records
        blobs = records.engine.guarding(memory.blobs)
        removals = nil
        place = .memory(memory)
    }

    /// Opens a store whose records and bytes are elsewhere.
    ///
    /// - Parameters:
    ///   - scratch: A directory, with `spool` and `staging` in it.
    ///   - needsKeys: Whether the records need the keys that they were made with.
    init(
        scratch: String, keys: String, bytes: ByteStores, needsKeys: Bool = false,
        records: (KeyRing, any GarbageCollector) -> RecordStore
    ) throws(StoreError) {
        directory = scratch
        sources = bytes.sources
        let path = FilePath(scratch)
        staging = FileStagingArea(directory: path.appending("staging"), scratch: path.appending("spool"))
        self.keys = try KeyRing(KeyFile(path: keys)) { () throws(StoreError) in needsKeys }
        let records = records(self.keys, StoreGarbage(blobs: bytes.blobs, sources: bytes.sources))
        self.records = records
        blobs = records.engine.guarding(bytes.blobs)
        removals = nil
        place = .elsewhere
    }

    /// Opens a store, and makes or updates it where that is needed.
    ///
    /// - Parameters:
    ///   - keys: The file with the keys of tokens, outside `directory`; made on first use.
    ///   - create: Whether to make the store where there is nothing. If not, a store that can't be written to is opened
    ///     to be read.
    ///   - exclusively: Asks to have the store alone; ``isExclusive`` tells whether that worked. For cleaning only: a
    ///     sweep then takes everything that no record refers to, however young.
    ///   - freesSpace: Whether to use the store's reserve if the disk is full.
    ///   - bytes: What keeps blobs and sources; nil for the directory itself. Such a store has no backup.
    ///   - clock: Where time comes from.
    public static func open(
        at directory: String, keys: String, create: Bool = true, exclusively: Bool = false, freesSpace: Bool = false,
        bytes: ByteStores? = nil, clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) throws(StoreError) -> Store {
        try Store(
            directory: directory, keys: keys, create: create, exclusively: exclusively, freesSpace: freesSpace,
            bytes: bytes, clock: clock)
    }

    private init(
        directory: String, keys: String, create: Bool, exclusively: Bool, freesSpace: Bool, bytes: ByteStores?,
        clock: @escaping @Sendable () -> Instant
    ) throws(StoreError) {
        var directory = directory
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        let path = FilePath(directory)
        let database = path.appending("records.sqlite")
        do {
            let isVacant = try Self.isVacant(path)
            let isThere = try !isVacant && Files.facts(of: database) != nil
            if isThere, try Files.facts(of: database)?.bytes == 0 { try Self.check(at: directory) }
            if !isThere {
                guard isVacant else { throw StoreError.notAStore(path: directory) }
                guard create else { throw StoreError.missing(path: directory) }
                try Files.makeDirectories(path)
            }
            // One at a time: two first openings would both make the schema, or stand in the way of each other's upgrade.
            let isReadOnly = isThere && !create && !Files.isWritable(path)
            let opening = try StoreLock.openFile("opening", in: path, isReadOnly: isReadOnly)
            try StoreLock.wait(for: opening, LOCK_EX, in: path)
            let lock = try StoreLock(of: path, exclusively: exclusively, isReadOnly: isReadOnly)
            place = .directory(lock, freesSpace && !isReadOnly ? StoreReserve(givenUpIn: path) : nil)
            let removals = isReadOnly ? nil : try RemovalHold(path: path.appending("removals"))
            if !isThere {
                // Before the records have a name, by which the store is known to be whole.
                try Self.prepare(path)
                // Made here, so that it and the journals beside it, which take its mode, are for the owner alone.
                _ = try Files.open(
                    database, .readWrite, [.create, .noFollow], permissions: .ownerReadWrite,
                    to: "make the records '\(database)'")
            }
            // A copy of a store may lack those that were empty.
            for name in Self.directories where try !isReadOnly && Files.facts(of: path.appending(name)) == nil {
                try Files.makeDirectory(path.appending(name))
            }
            let blobs = bytes?.blobs ?? FileBlobStore(store: path, removals: removals)
            let sources = bytes?.sources ?? FileSourceStore(directory: path.appending("spool"), removals: removals)
            self.keys = try KeyRing(KeyFile(path: keys)) { () throws(StoreError) in
                isThere ? try SQLiteEngine.needsKeys(at: database.string) : false
            }
            let workers = WorkerLocks(directory: path.appending("workers"))
            records = RecordStore(
                SQLiteEngine(
                    try SQLiteEngine.connect(to: database.string, workers: workers, lock: lock), workers: workers,
                    revocations: isReadOnly ? nil : try RevocationCounter(path: path.appending("revocations")),
                    clock: clock),
                keys: self.keys, garbage: StoreGarbage(blobs: blobs, sources: sources))
            self.blobs = blobs
            self.sources = sources
            self.removals = bytes == nil ? removals : nil
            staging = FileStagingArea(directory: path.appending("staging"), scratch: path.appending("spool"))
            self.directory = directory
        } catch let error as SystemError {
            throw StoreError(error, at: directory)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .inaccessible(path: directory, reason: "\(error)")
        }
    }

    /// Beside those of the blobs.
    private static let directories = ["staging", "spool", "workers"]

    /// What an earlier opening that was cut off may have left.
    private static let ownNames: Set = [
        "lock", "blobs", "opening", "removals", "records.new", "records.new-journal", "staging", "spool", "workers",
        "revocations", "reserve", "records.sqlite-wal", "records.sqlite-shm", "records.sqlite-journal",
    ]

    /// All that a store has before it has records.
    private static func prepare(_ directory: FilePath) throws(SystemError) {
        try FileBlobStore.prepare(directory)
        for name in directories { try Files.makeDirectory(directory.appending(name)) }
        try Files.syncDirectory(directory)
    }

    /// Makes a store without records, for those that are brought back: where nothing is, or a store in which nothing is.
    ///
    /// - Returns: Held so that nobody else uses it.
    static func makeVacant(at directory: String) throws(StoreError) -> StoreLock {
        let path = FilePath(directory)
        return try StoreError.at(directory) {
            let isThere = try Files.facts(of: path.appending("records.sqlite")) != nil
            guard try isThere || isVacant(path) else { throw StoreError.notAStore(path: directory) }
            try Files.makeDirectories(path)
            let lock = try StoreLock(of: path, exclusively: true)
            guard lock.isExclusive else { throw StoreError.inUse(path: directory) }
            if isThere {
                guard try SQLiteEngine.isEmpty(at: directory + "/records.sqlite") else {
                    throw StoreError.notEmpty(path: directory)
                }
                for name in ["records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "revocations"] {
                    try Files.remove(path.appending(name))
                }
            }
            try prepare(path)
            return lock
        }
    }

    /// Nothing is there, or nothing but what a store begins with.
    private static func isVacant(_ directory: FilePath) throws(SystemError) -> Bool {
        do {
            guard try Files.facts(of: directory) != nil else { return true }
            return try Files.names(in: directory).allSatisfy(ownNames.contains)
        } catch {
            if error.code == ENOTDIR { return false }
            throw error
        }
    }

    /// What a tenant's webhooks are signed with, the current secret first: after a rotation older ones stay good for a
    /// while, and after one of the store's keys for as long as those are kept, so that receivers can change over.
    public func webhookSecrets(of tenant: TenantID) async throws(AttachmentError) -> [SigningSecret] {
        try secrets(of: tenant, by: await records.signingNumbers(of: tenant))
    }

    /// Signs with another secret from now on, and for a while also with those before.
    ///
    /// - Returns: As ``webhookSecrets(of:)`` has them then.
    /// - Throws: `quota_exceeded` where too many would be good at once.
    public func rotateWebhookSecret(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningSecret] {
        try secrets(of: tenant, by: await records.rotateSigningNumber(of: tenant, overlap: overlap))
    }

    private func secrets(
        of tenant: TenantID, by numbers: [SigningNumber]
    ) throws(AttachmentError) -> [SigningSecret] {
        do throws(StoreError) {
            return try keys.webhookSecrets(of: tenant, by: numbers)
        } catch {
            throw .storeFailed(reason: error.description)
        }
    }

    /// Seals the keys of all renditions that are kept encrypted with the current one.
    public func sealAnew() async throws(AttachmentError) {
        while try await records.sealAnew() > 0 {}
    }
}
