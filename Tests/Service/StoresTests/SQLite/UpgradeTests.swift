import SatchelCore
import Bytes
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing

@testable import Stores

/// Upgrades of a store in a directory, with steps that a next version may bring.
@Suite struct UpgradeTests {
    private static func step(_ sql: String) -> SchemaStep {
        SchemaStep(
            version: Schema.version + 1, summary: "Adds notes to jobs.", leastNode: Schema.version, sqlite: sql,
            postgres: [])
    }

    private static let next = step("ALTER TABLE jobs ADD COLUMN note TEXT; UPDATE jobs SET note = id;")

    /// A store in a directory, in which a program of the next version opens the records.
    private struct Place: ~Copyable {
        let directory: TemporaryDirectory
        var path: String { directory.path + "/store" }
        var records: String { path + "/records.sqlite" }
        var copy: String { SQLiteSchema.copy(of: records, version: Schema.version) }

        init() throws { directory = try TemporaryDirectory(inMemory: true) }

        func open() throws -> Store { try Store.open(at: path, keys: directory.path + "/keys") }

        func openNext(_ step: SchemaStep) throws -> DatabasePool {
            try SQLiteEngine.connect(
                to: records, workers: WorkerLocks(directory: FilePath(path + "/workers")),
                lock: StoreLock(of: FilePath(path), exclusively: false), steps: Schema.steps + [step])
        }

        func version(_ file: String) throws -> String { try sqlite(file, "PRAGMA user_version") }
    }

    @Test func `an older schema is upgraded after the records were copied, and the older program refuses it then`()
        async throws
    {
        let place = try Place()
        do { _ = try await place.open().records.submit(.sample(id: JobID(rawValue: "a"))) }
        do {
            let pool = try place.openNext(Self.next)
            let notes = try await pool.read { try String.fetchAll($0, sql: "SELECT note FROM jobs") }
            #expect(notes == ["a"])
            let hasReferences = try await pool.writeWithoutTransaction { database in
                try Bool.fetchOne(database, sql: "PRAGMA foreign_keys")
            }
            #expect(hasReferences == true)
        }
        #expect(try place.version(place.records) == "\(Schema.version + 1)\n")
        #expect(throws: StoreError.newerSchema(path: place.records)) { try place.open() }
        // The way back.
        #expect(try place.version(place.copy) == "\(Schema.version)\n")
        let mode = try FileManager.default.attributesOfItem(atPath: place.copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.records + name) }
        try FileManager.default.moveItem(atPath: place.copy, toPath: place.records)
        #expect(try await place.open().records.job(JobID(rawValue: "a"), of: .local) != nil)
    }

    @Test func `a store that another process has open isn't upgraded`() async throws {
        let place = try Place()
        do {
            let store = try place.open()
            #expect(throws: StoreError.inUse(path: place.path)) { _ = try place.openNext(Self.next) }
            #expect(!FileManager.default.fileExists(atPath: place.copy))
            _ = try await store.records.submit(.sample())
            // What needs no upgrade opens beside it.
            _ = try place.open()
        }
        _ = try place.openNext(Self.next)
        #expect(try place.version(place.records) == "\(Schema.version + 1)\n")
    }

    @Test(arguments: [
        "ALTER TABLE jobs ADD COLUMN note TEXT; UPDATE jobs SET nothing = 1;",
        // A reference that leads nowhere.
        "ALTER TABLE jobs ADD COLUMN note TEXT; UPDATE jobs SET profile = 99;",
    ])
    func `a step that fails changes nothing, and is taken again`(sql: String) async throws {
        let place = try Place()
        do { _ = try await place.open().records.submit(.sample()) }
        #expect(throws: StoreError.self) { _ = try place.openNext(Self.step(sql)) }
        #expect(try place.version(place.records) == "\(Schema.version)\n")
        let columns = try sqlite(place.records, "SELECT name FROM pragma_table_info('jobs')")
        #expect(columns.contains("state") && !columns.contains("note"))
        _ = try place.openNext(Self.next)
        #expect(try place.version(place.records) == "\(Schema.version + 1)\n")
    }

    @Test func `a plan names the steps that are missing`() throws {
        let place = try Place()
        #expect(throws: StoreError.missing(path: place.path)) { try Store.upgradePlan(at: place.path) }
        do { _ = try place.open() }
        #expect(try Store.upgradePlan(at: place.path) == SchemaPlan(from: Schema.version))
        #expect(SchemaPlan(from: Schema.version).steps.isEmpty)
        let plan = SchemaPlan(from: Schema.version, Schema.steps + [Self.next])
        #expect(plan.steps == [.init(version: Schema.version + 1, summary: "Adds notes to jobs.")])
    }

    @Test func `a store of a development version is refused, and stays as it is`() throws {
        let place = try Place()
        do { _ = try place.open() }
        try sqlite(place.records, "PRAGMA application_id = 1398895698; PRAGMA user_version = 0")
        let before = try sqlite(place.records, ".dump")
        let refusal = StoreError.developmentStore(path: place.records)
        #expect(throws: refusal) { try place.open() }
        #expect(throws: refusal) { try Store.upgradePlan(at: place.path) }
        #expect(try sqlite(place.records, ".dump") == before && before.contains("CREATE TABLE jobs"))
        #expect(try sqlite(place.records, "PRAGMA application_id") == "1398895698\n")
    }
}
