internal import GRDB
internal import Bytes
internal import Platform
internal import SystemPackage

extension SQLiteEngine {
    /// Checks the structure of a database, and that its rows refer to rows that are there.
    ///
    /// - Parameter isQuick: Leaves out the comparison of indexes with their tables.
    /// - Throws: ``StoreError/malformed(path:faults:)``, and others where the file can't be read.
    static func check(at path: String, quickly isQuick: Bool = false) throws(StoreError) {
        let faults = try open(path, toRead: true) { database in
            let faults = try String.fetchAll(database, sql: "PRAGMA \(isQuick ? "quick_check" : "integrity_check")")
                .flatMap { $0.split(separator: "\n").map(String.init) }.filter { $0 != "ok" && !$0.hasPrefix("***") }
            return try isQuick
                ? faults
                : faults
                    + Row.fetchAll(database, sql: "PRAGMA foreign_key_check").map {
                        "a row of '\($0["table"] as String)' refers to a missing row of '\($0["parent"] as String)'"
                    }
        }
        if !faults.isEmpty { throw .malformed(path: path, faults: faults) }
    }
}

extension Store {
    /// Checks the database of a store in a directory, if there is one, without changing anything.
    ///
    /// - Throws: ``StoreError/malformed(path:faults:)``.
    public static func check(at directory: String, quickly isQuick: Bool = false) throws(StoreError) {
        let path = FilePath(directory).appending("records.sqlite")
        guard let facts = try? Files.facts(of: path) else { return }
        // It never gets shorter than a page once something was written.
        if facts.bytes == 0 {
            guard !hasBlobs(beside: path.string) else { throw .malformed(path: path.string, faults: ["it is empty"]) }
            return
        }
        try SQLiteEngine.check(at: path.string, quickly: isQuick)
    }

    /// Whether a database has the directory of blobs beside it, which no other program's has.
    static func hasParts(beside path: String) -> Bool {
        Files.isDirectory(FilePath(path).removingLastComponent().appending("blobs"))
    }

    /// Whether any blob lies beside a database.
    static func hasBlobs(beside path: String) -> Bool {
        let blobs = FilePath(path).removingLastComponent().appending("blobs")
        return FileBlobStore.shelves.contains { (try? Files.names(in: blobs.appending($0)).isEmpty) == false }
    }
}
