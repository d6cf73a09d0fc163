import SatchelCore
import Bytes
import Foundation
import Glibc
import Platform
import GRDB
import Postgres
import PostgresTestSupport
import S3
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// A clock that moves only when a test says so.
final class TestClock: Sendable {
    private let time = Mutex(Instant(milliseconds: 1_763_720_100_000))

    var now: Instant {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    func advance(_ duration: Duration) {
        time.withLock { $0 = $0 + duration }
    }

    private let latest = Mutex(Instant(milliseconds: 0))

    /// As a database server's that never goes back, which all its nodes share.
    var server: Instant {
        let now = now
        return latest.withLock { latest in
            latest = max(latest, now)
            return latest
        }
    }
}

/// A database with the schema of the records, on the server of this process.
struct RecordDatabase: Sendable {
    let server: PostgresServer
    let name: String

    init() throws {
        server = try .shared()
        name = try server.makeDatabase(like: try Self.template.get())
    }

    /// One that is there.
    init(server: PostgresServer, name: String) {
        self.server = server
        self.name = name
    }

    /// Beside busy loops a statement, or the next one of a transaction, may take its time.
    var url: String {
        let patient = ["statement_timeout", "idle_in_transaction_session_timeout"].map { "-c%20\($0)%3D600000" }
        return server.url(name) + "&options=" + patient.joined(separator: "%20")
    }

    /// Made once, and copied for each.
    private static let template = Result {
        let server = try PostgresServer.shared()
        let name = try server.makeDatabase()
        try server.execute(PostgresSchema.beginning.joined(separator: ";"), in: name)
        for step in Schema.steps {
            for part in step.postgres {
                switch part {
                case .together(let statements): try server.execute(statements.joined(separator: ";"), in: name)
                case .index(let index, let columns): try server.execute("CREATE INDEX \(index) ON \(columns)", in: name)
                case .repeated(let statement): try server.execute(statement, in: name)
                }
            }
            try server.execute(
                "UPDATE schema_version SET version = \(step.version), least_node = \(step.leastNode)", in: name)
        }
        return name
    }

    /// A node of its own with each opening.
    ///
    /// - Parameters:
    ///   - garbage: In the place of what removes from the bytes.
    ///   - writers: Connections for writes.
    ///   - timing: Nodes say goodbye or are killed by the test, however busy the machine is, and there is no outage that others
    ///     would have to come back from first.
    func open(
        bytesIn memory: StoreMemory, _ clock: TestClock, behind pooler: PgBouncer? = nil,
        garbage: (any GarbageCollector)? = nil,
        garbageDelay: Duration = .zero, writers: Int = 4,
        timing: PostgresNode.Timing = PostgresNode.Timing(
            deadAfter: .seconds(300), steadiness: .zero, rescue: .zero)
    ) throws -> Store {
        let parameters = try PostgresParameters(
            pooler?.url(name) ?? url, application: "tests", isPooled: pooler != nil)
        return try Store(bytesIn: memory) { keys, own in
            RecordStore(
                PostgresPool(parameters, writers: writers, limit: .seconds(600)), keys: keys, garbage: garbage ?? own,
                garbageDelay: garbageDelay, clock: .fixed { clock.server }, timing: timing)
        }
    }

    /// The same with the bytes in a bucket.
    ///
    /// - Parameter path: A directory, for the keys and for what is received and made.
    func open(in path: String, bytes: ByteStores, _ clock: TestClock) throws -> Store {
        for name in ["spool", "staging"] { try Files.makeDirectories(FilePath("\(path)/store/\(name)")) }
        let parameters = try PostgresParameters(url, application: "tests")
        return try Store(
            scratch: path + "/store", keys: path + "/keys", bytes: bytes
        ) { keys, garbage in
            RecordStore(
                PostgresPool(parameters, limit: .seconds(600)), keys: keys, garbage: garbage, garbageDelay: .zero,
                clock: .fixed { clock.server },
                timing: PostgresNode.Timing(deadAfter: .seconds(300), steadiness: .zero, rescue: .zero))
        }
    }

    /// All rows of all tables but those of the nodes.
    func dump() throws -> [String] {
        let tables = try server.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'nodes' ORDER BY 1", in: name)
        return try tables.compactMap { $0[0] }.flatMap { table in
            try server.execute("SELECT t::text FROM \(table) t ORDER BY 1", in: name).map { "\(table): \($0[0] ?? "")" }
        }
    }

    /// As if all nodes, but for one, had been killed, and that had been noticed.
    func killNodes(besides living: String = "") throws {
        try server.execute("DELETE FROM nodes WHERE id::text <> '\(living)'", in: name)
    }
}

/// A kind of store: every suite runs over all of them, but where a test is about one alone. Others join here.
enum Backend: String, CaseIterable, CustomTestStringConvertible {
    /// Records in SQLite, bytes in files.
    case files
    /// Records in SQLite and bytes, both in memory.
    case memory
    /// SQLite's records, with the bytes in a bucket.
    case bucket
    /// Records in PostgreSQL, bytes in memory.
    case postgres
    /// Records in PostgreSQL, bytes in a bucket: as nodes have them.
    case cluster
    /// Records in PostgreSQL, bytes in files.
    case postgresAndFiles

    var testDescription: String { rawValue }

    /// One backend for each engine of records. Runs that try every case add the other places of bytes, and SQLite in memory,
    /// whose statements are those of SQLite in a file.
    static var allCases: [Backend] {
        of([.files, .postgres] + (Sweep.isFull ? [.memory, .bucket, .cluster, .postgresAndFiles] : []))
    }

    /// For tests of races. In memory all share one connection, so nothing runs side by side.
    static var racing: [Backend] { allCases.filter { $0 != .memory } }

    /// For tests of what every opening of a store keeps for itself.
    static let openings = of([.files, .memory, .postgres])

    /// For tests of what keeps bytes.
    static let keepingBytes = of([.files, .memory, .bucket])

    /// Those that this run tries.
    static func of(_ backends: [Backend]) -> [Backend] { TestSelection.cases(backends) { $0.hasBucket } }

    /// Nodes of a database have to ask.
    var countsRevocations: Bool { !keepsRecordsInPostgres }

    var keepsRecordsInPostgres: Bool { [.postgres, .cluster, .postgresAndFiles].contains(self) }

    /// Whether the bytes are in a bucket.
    var hasBucket: Bool { self == .bucket || self == .cluster }

    /// Whether the bytes are in memory.
    var keepsBytesInMemory: Bool { self == .memory || self == .postgres }

    /// Whether a directory has shelves for them.
    var hasShelves: Bool { !keepsBytesInMemory && self != .cluster }
}

/// A store in a directory, in memory, or in a database of its own.
struct Fixture: ~Copyable {
    let directory: TemporaryDirectory
    let clock = TestClock()
    let store: Store
    private let memory: StoreMemory?
    /// Nil where the bytes are no bucket's.
    private let prefix: String?
    let database: RecordDatabase?

    /// - Parameter onDisk: For tests of what only a disk shows, such as how writes gather while one waits for it.
    init(_ backend: Backend = .files, onDisk: Bool = false) throws {
        let directory = try TemporaryDirectory(inMemory: !onDisk)
        let memory = backend.keepsBytesInMemory ? try StoreMemory() : nil
        let prefix = backend.hasBucket ? UUID().uuidString.lowercased() : nil
        let database = backend.keepsRecordsInPostgres ? try RecordDatabase() : nil
        store = try Self.open(directory.path, memory, prefix, database, clock)
        self.memory = memory
        self.prefix = prefix
        self.database = database
        self.directory = directory
    }

    private static func open(
        _ path: String, _ memory: StoreMemory?, _ prefix: String?, _ database: RecordDatabase?, _ clock: TestClock,
        exclusively: Bool = false
    ) throws -> Store {
        if let memory, let database { return try database.open(bytesIn: memory, clock) }
        if let memory { return try Store(in: memory) { clock.now } }
        let bytes = try prefix.map { try ByteStores.bucket(prefix: $0, scratch: path + "/store/spool") }
        if let database { return try database.open(in: path, bytes: bytes ?? .files(in: path + "/store"), clock) }
        return try Store.open(
            at: path + "/store", keys: path + "/keys", exclusively: exclusively, bytes: bytes
        ) { clock.now }
    }

    var records: RecordStore { store.records }

    /// For what is about SQLite alone.
    var sqlite: RecordStore { store.sqlite }

    /// For what is about PostgreSQL alone.
    var postgres: RecordStore {
        precondition(store.records.engine.cluster != nil, "this store isn't in PostgreSQL")
        return store.records
    }

    /// That of a store in PostgreSQL.
    func requireDatabase() throws -> RecordDatabase {
        let database = database
        return try #require(database)
    }

    /// Opens the same store once more, as another process would.
    func reopened(exclusively: Bool = false) throws -> Store {
        try Self.open(directory.path, memory, prefix, database, clock, exclusively: exclusively)
    }
}

extension ByteStores {
    /// A part of the gateway's bucket.
    static func bucket(
        _ bucket: String = S3Gateway.bucket, prefix: String, scratch: String
    ) throws -> ByteStores {
        let client = try S3Client.ofGateway(bucket, prefix: prefix)
        return ByteStores(blobs: S3BlobStore(client), sources: S3SourceStore(client, scratch: scratch))
    }
}

extension ByteStores {
    /// In a directory, as a store there has them.
    static func files(in directory: String) throws -> ByteStores {
        let path = FilePath(directory)
        try Files.makeDirectories(path.appending("spool"))
        try FileBlobStore.prepare(path)
        let removals = try RemovalHold(path: path.appending("removals"))
        return ByteStores(
            blobs: FileBlobStore(store: path, removals: removals),
            sources: FileSourceStore(directory: path.appending("spool"), removals: removals))
    }
}

extension S3Client {
    static func ofGateway(_ bucket: String, prefix: String) throws -> S3Client {
        let gateway = try S3Gateway.shared()
        return try S3Client(
            // Tests of this target keep every thread; then a request waits for its turn again and again.
            S3Configuration(
                "s3://\(bucket)/\(prefix)", endpoint: gateway.endpoint, usesPathStyle: true,
                time: .seconds(600), connectTime: .seconds(60), idleTime: .seconds(300)),
            credentials: S3Credentials(accessKey: gateway.accessKey, secretKey: gateway.secretKey))
    }
}

extension Store {
    /// For what is about SQLite alone.
    var sqlite: RecordStore {
        precondition(records.engine is SQLiteEngine, "this store isn't in SQLite")
        return records
    }

    /// For what is about files alone.
    var files: FileBlobStore {
        guard let files = blobs as? FileBlobStore else { preconditionFailure("these blobs aren't files") }
        return files
    }
}

extension Store {
    /// Stages and seals `text`, as a codec process and the service would.
    func commit(_ text: String, under claim: ClaimID = .generate()) async throws -> CommittedBlob {
        try await commit(Data(text.utf8), under: claim)
    }

    func commit(_ data: Data, under claim: ClaimID = .generate()) async throws -> CommittedBlob {
        var staged = try staging.stage()
        do {
            let writer = FileHandle(fileDescriptor: staged.takeWriter().release(), closeOnDealloc: true)
            try writer.write(contentsOf: data)
            try writer.close()
        }
        return try await commit(staged.file, expecting: Int64(data.count), under: claim)
    }

    func commit(
        _ file: ScratchFile, expecting bytes: Int64, under claim: ClaimID = .generate()
    ) async throws(AttachmentError) -> CommittedBlob {
        try await blobs.put(
            try await staging.close(file, expecting: bytes, writersAreDead: false), under: claim)
    }

    func claim(of submission: JobSubmission = .sample()) async throws -> Claim? {
        _ = try await records.submit(submission)
        return try await claimNext()
    }

    func claimNext() async throws -> Claim? {
        try await records.claim(
            ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "worker"), for: .seconds(60)
        ).first
    }

    func text(of name: BlobName) async throws -> String {
        String(decoding: try await blobs.read(0..<1 << 20, of: name), as: UTF8.self)
    }

    /// The names of all blobs.
    func blobNames() async throws -> Set<BlobName> {
        var names: Set<BlobName> = []
        try await Self.forEachPage(of: blobs.list) { names.formUnion($0.map(\.name)) }
        return names
    }

    /// The names of all sources.
    func sourceNames() async throws -> Set<SourceName> {
        var names: Set<SourceName> = []
        try await Self.forEachPage(of: sources.list) { names.formUnion($0.map(\.name)) }
        return names
    }

    /// A source that was handed in.
    func accept(_ text: String) async throws -> SourceName {
        let path = scratch + "/" + UUID().uuidString + ".part"
        try Files.write(Array(text.utf8), to: FilePath(path))
        let reader = try Files.open(FilePath(path), .readOnly, to: "open a source")
        return try await sources.put(
            HashedFile(ScratchFile(reader: reader, path: path), sha256: "", bytes: Int64(text.utf8.count)))
    }

    /// Accepts, claims and delivers one attachment whose renditions have the given texts.
    @discardableResult
    func deliver(
        _ texts: [RenditionRole: String], tenant: TenantID = .local, profile: Profile = .archive
    ) async throws -> AttachmentRecord {
        let run = RunID.generate()
        _ = try await records.submit([.sample(tenant: tenant, profile: profile, run: run)], SubmissionOptions())
        let claim = try #require(
            try await records.claim(
                ClaimCapacity(1), from: .run(run), by: WorkerID(rawValue: run.rawValue), for: .seconds(60)
            ).first)
        var blobs: [RenditionRole: CommittedBlob] = [:]
        for (role, text) in texts { blobs[role] = try await commit(text) }
        let job = try await records.deliver([.delivered(claim.attachments[0], blobs)], under: claim)
        return try #require(job.attachments.first)
    }
}

extension JobSubmission {
    static func sample(
        tenant: TenantID = .local, id: JobID = .generate(), profile: Profile = .archive, mode: JobMode = .lenient,
        priority: JobPriority = .bulk, deadline: Double? = nil, run: RunID? = nil, work: String? = nil,
        identifiers: [String] = ["photo"]
    ) -> JobSubmission {
        JobSubmission(
            tenant: tenant, id: id, profile: profile, mode: mode, priority: priority, deadline: deadline,
            metadata: ["message_id": "88213"], run: run, workKey: work,
            attachments: identifiers.map { identifier in
                AttachmentSubmission(
                    identifier: identifier, location: .url("https://example.com/\(identifier)", headers: [:]),
                    name: identifier + ".jpg", declaredType: "image/jpeg",
                    options: DisplayOptions(thumbnailHidden: true))
            })
    }
}

extension AttachmentOutcome {
    static func delivered(_ id: AttachmentID, _ blobs: [RenditionRole: CommittedBlob]) -> AttachmentOutcome {
        AttachmentOutcome(
            id: id,
            result: .success(
                AttachmentResult(
                    fidelity: .full, best: .main,
                    renditions: blobs.mapValues { blob in
                        DeliveredRendition(
                            rendition: Rendition(
                                mediaType: .jpeg, width: 40, height: 30, duration: nil, bytes: blob.bytes,
                                sha256: blob.sha256),
                            blob: blob.name)
                    },
                    options: DisplayOptions(), trim: nil, placeholder: Placeholder(color: "#6a5d4f"),
                    contentSizeRatio: 0.75)),
            kind: .image, source: SourceFacts(name: "photo.jpg", bytes: 10, decodedType: .jpeg),
            steps: [Step(name: "main", seconds: 0.1)])
    }

    static func failed(_ id: AttachmentID, _ error: AttachmentError) -> AttachmentOutcome {
        AttachmentOutcome(
            id: id, result: .failure(error), kind: nil, source: SourceFacts(name: "photo.jpg"),
            steps: [Step(name: "identify", seconds: 0.1)])
    }
}

extension RecordStore {
    /// The engine of a store in SQLite.
    var file: SQLiteEngine {
        guard let file = engine as? SQLiteEngine else { preconditionFailure("this store isn't in SQLite") }
        return file
    }

    var connections: any DatabaseWriter { file.connections }
    var commits: GroupCommit { file.commits }

    /// The engine of a store in PostgreSQL.
    var database: PostgresEngine {
        guard let database = engine.cluster else { preconditionFailure("this store isn't in PostgreSQL") }
        return database
    }

    var pool: PostgresPool { database.pool }
    var wakeups: PostgresWakeups { database.wakeups }
}
