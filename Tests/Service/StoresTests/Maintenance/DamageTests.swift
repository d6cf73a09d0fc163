import Foundation
import Glibc
import TestSupport
import Testing

@testable import SatchelCore
@testable import Stores

/// A database that a disk or a person damaged. SQLite's own program says where its parts are.
@Suite(.timeLimit(.minutes(5))) struct DamageTests {
    enum Damage: String, CaseIterable, CustomTestStringConvertible {
        case table, index, lists, header, schema, freelist, middle, half, page, nothing, reference

        var testDescription: String { rawValue }

        /// Changes a closed database.
        func apply(to path: String) throws {
            func page(of name: String) throws -> Int {
                let text = try sqlite(path, "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
                return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            }
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            switch self {
            case .table: try overwrite(path, at: (page(of: "attachments") - 1) * 4096)
            case .index: try overwrite(path, at: (page(of: "renditions_by_blob") - 1) * 4096)
            case .lists: try overwrite(path, at: (page(of: "blobs") - 1) * 4096)
            case .header: try overwrite(path, at: 0)
            case .schema: try overwrite(path, at: 2048)
            case .freelist:
                let trunk = try Data(contentsOf: URL(filePath: path))[32..<36].reduce(0) { $0 << 8 | Int($1) }
                #expect(trunk > 0, "there is no free page to damage")
                try overwrite(path, at: (trunk - 1) * 4096)
            case .middle: try overwrite(path, at: size / 2)
            case .half: #expect(unsafe truncate(path, size / 2) == 0)
            case .page: #expect(unsafe truncate(path, 4096) == 0)
            case .nothing: #expect(unsafe truncate(path, 0) == 0)
            case .reference: try sqlite(path, "PRAGMA foreign_keys = OFF; \(Self.dangling)")
            }
        }

        /// A row whose parent isn't there.
        private static let dangling =
            "INSERT INTO console_sessions VALUES (hex(zeroblob(32)), 'session', 't', '[]', 'none', 1, 1, 2)"

        private func overwrite(_ path: String, at offset: Int) throws {
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }))
            try file.close()
        }
    }

    /// A store that was closed, with a backup from before its last delivery and with free pages.
    private static func prepare(in home: String) async throws -> (database: String, backup: String, keys: String) {
        let (path, keys, backup) = (home + "/store", home + "/keys", home + "/backup")
        do {
            let store = try Store.open(at: path, keys: keys)
            for number in 0..<40 { try await store.deliver([.main: "\(number)"]) }
            _ = try await store.backup(into: BackupDirectory(at: backup))
            try await store.deliver([.main: "later"])
        }
        // All that is in the log comes into the file.
        try sqlite(
            path + "/records.sqlite",
            "CREATE TABLE gone AS SELECT * FROM attachments a, (SELECT 1 FROM attachments LIMIT 9); DROP TABLE gone; PRAGMA wal_checkpoint(TRUNCATE)"
        )
        return (path + "/records.sqlite", backup, keys)
    }

    @Test(arguments: Damage.allCases)
    func `a damaged database is found by each check, and never replaces a backup or becomes a store`(
        damage: Damage
    ) async throws {
        let home = try TemporaryDirectory(inMemory: true)
        let (database, backup, keys) = try await Self.prepare(in: home.path)
        let store = URL(filePath: database).deletingLastPathComponent().path(percentEncoded: false)
        try Store.check(at: store)
        try Store.check(at: store, quickly: true)
        let before = try Data(contentsOf: URL(filePath: backup + "/records.sqlite"))
        try damage.apply(to: database)

        func isMalformed(_ error: (any Error)?) -> Bool {
            if case StoreError.malformed(_, let faults)? = error { return !faults.isEmpty }
            return (error as? AttachmentError)?.code == .storeFailed
        }
        #expect(isMalformed(#expect(throws: StoreError.self) { try Store.check(at: store) }))
        // The quick one leaves out what is right in itself.
        if damage != .reference {
            #expect(isMalformed(#expect(throws: StoreError.self) { try Store.check(at: store, quickly: true) }))
        }
        let refusal = await #expect(throws: (any Error).self) {
            let opened = try Store.open(at: store, keys: keys, create: false)
            _ = try await opened.backup(into: BackupDirectory(at: backup))
        }
        #expect(isMalformed(refusal), "\(String(describing: refusal))")
        #expect(!"\(String(describing: refusal))".contains("ry again"))
        #expect(try Data(contentsOf: URL(filePath: backup + "/records.sqlite")) == before)
        #expect(try sqlite(backup + "/records.sqlite", "PRAGMA integrity_check") == "ok\n")

        // A backup behaves the same way.
        try FileManager.default.removeItem(atPath: backup + "/records.sqlite")
        try FileManager.default.copyItem(atPath: database, toPath: backup + "/records.sqlite")
        let target = home.path + "/restored"
        let kept = await #expect(throws: StoreError.self) {
            try await BackupDirectory(existingAt: backup).restore(to: target, keys: keys)
        }
        #expect(isMalformed(kept), "\(String(describing: kept))")
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test(arguments: ["restore", "nothing"])
    func `a store whose blobs are there is not taken for a new one, and without blobs it is`(kept: String) async throws
    {
        let home = try TemporaryDirectory(inMemory: true)
        let path = home.path + "/store"
        do {
            let store = try Store.open(at: path, keys: home.path + "/keys")
            if kept == "restore" { try await store.deliver([.main: "kept"]) }
        }
        #expect(unsafe truncate(path + "/records.sqlite", 0) == 0)
        if kept == "restore" {
            #expect(throws: StoreError.malformed(path: path + "/records.sqlite", faults: ["it is empty"])) {
                try Store.open(at: path, keys: home.path + "/keys")
            }
        } else {
            _ = try Store.open(at: path, keys: home.path + "/keys")
        }
    }

    @Test(.hasCases(for: .ceph), arguments: VerifyTests.backends)
    func
        `verify names what needs a damaged or missing blob, and removes it when asked, with an entry in the audit list`(
            backend: Backend
        ) async throws
    {
        let fixture = try Fixture(backend)
        let store = fixture.store
        let whole = try await store.deliver([.main: "whole"])
        let ada = TenantID(rawValue: "ada")
        let hurt = try await store.deliver([.main: "main", .thumbnail: "thumbnail"], tenant: ada)
        let missing = try #require(try await store.records.blob(of: .thumbnail, of: hurt.id, tenant: ada))
        try await store.blobs.remove([missing])
        let report = try await store.verify()
        let affected = PlacedRendition(blob: missing, tenant: ada, attachment: hurt.id, role: .thumbnail)
        #expect(report.missing == [missing] && !report.isSound && report.deleted.isEmpty)
        #expect(
            report.affected.map {
                ($0.blob, $0.tenant, $0.attachment, $0.role) == (affected.blob, ada, hurt.id, .thumbnail)
            } == [true])
        #expect(report.affected.first?.path == hurt.source.path ?? hurt.source.name)
        #expect(try await store.records.attachment(hurt.id, of: ada) != nil)

        let removing = try await store.verify(removing: true)
        #expect(removing.deleted == [hurt.id] && removing.isSound)
        #expect(try await store.records.attachment(hurt.id, of: ada) == nil)
        #expect(try await store.records.attachment(whole.id, of: .local) == whole)
        let entries = try await store.records.audit(of: ada, where: AuditFilter(), after: nil, limit: 9).elements
        #expect(entries.map(\.action) == [.deleted] && entries.first?.attachment == hurt.id)
        let after = try await store.verify(removing: true)
        #expect(after.isSound && after.affected.isEmpty && after.deleted.isEmpty)
    }
}
