internal import SatchelCore
public import Bytes
internal import GRDB
internal import Postgres

/// Moves a store in a directory into a database and what keeps bytes for many nodes. The store stays as it is.
///
/// What is copied is ``CopiedTable/all``, and bytes before the records that refer to them. Each part is one transaction with
/// the place behind it, so that a copy that was killed goes on with the next attempt and does nothing twice; what was put
/// into a bucket and not written down yet is the next sweep's.
public struct StoreCopy: Sendable {
    let source: Store
    let records: SQLiteEngine
    let database: StoreDatabase
    let bytes: ByteStores
    /// Rows that travel together.
    var partSize = 500

    /// - Parameters:
    ///   - source: Held exclusively, but to look how much there is.
    ///   - database: With this version's schema, and nothing else but the beginning of a copy of the same store.
    ///   - bytes: What keeps blobs and sources there.
    /// - Throws: `notCopied`.
    public init(of source: Store, to database: StoreDatabase, bytes: ByteStores) throws(StoreError) {
        guard let records = source.records.engine as? SQLiteEngine,
            records.connections is DatabasePool
        else { throw .notCopied(path: source.directory) }
        self.source = source
        self.records = records
        self.database = database
        self.bytes = bytes
    }

    /// Looks how much there is to copy, and whether the target would take it.
    ///
    /// - Returns: What there is, and whether a part or all of it is there.
    /// - Throws: As ``run(_:)``.
    public func look() async throws -> (amount: CopyAmount, isBegun: Bool) {
        let (amount, fingerprint) = try await records.copiedAmount()
        let state = try await inTarget { target in try await target.state(fingerprint) }
        return (amount, state != .vacant)
    }

    /// Copies all, or what is left of it.
    ///
    /// - Parameter progress: Called as it goes on, from any thread.
    /// - Throws: A `StoreError` where the store is in use, the target is no place for it, or what was copied isn't equal; an
    ///   `AttachmentError` where a disk, the database or the bucket fails: the next attempt goes on.
    public func run(_ progress: @escaping @Sendable (CopyProgress) -> Void = { _ in }) async throws -> CopyReport {
        guard source.isExclusive else { throw StoreError.inUse(path: source.directory) }
        let (amount, fingerprint) = try await records.copiedAmount()
        return try await inTarget { target in
            var report = CopyReport(amount: amount)
            switch try await target.begin(source.directory, fingerprint, at: CopyPlace(stage: Self.stages[0])) {
            case .ended: report.wasDone = true
            case .vacant: try await run(from: CopyPlace(stage: Self.stages[0]), amount, into: target, progress)
            case .begun(let place): try await run(from: place, amount, into: target, progress)
            }
            for lost in try await target.losses() {
                switch (lost.kind, lost.loss) {
                case ("blob", .missing): report.missing.append(BlobName(rawValue: lost.name))
                case ("blob", .damaged): report.damaged.append(BlobName(rawValue: lost.name))
                case (_, .missing): report.missingSources.append(SourceName(rawValue: lost.name))
                case (_, .damaged): report.damagedSources.append(SourceName(rawValue: lost.name))
                }
            }
            report.missingKeys = try await source.records.keysInUse().subtracting(source.keys.kids)
            return report
        }
    }

    private func inTarget<Value: Sendable>(_ body: (CopyTarget) async throws -> Value) async throws -> Value {
        do {
            return try await database.withPool { pool in try await body(CopyTarget(pool)) }
        } catch {
            if error is StoreError { throw error }
            throw AttachmentError(storing: error)
        }
    }

    // MARK: Stages

    static let sourcesStage = "sources"
    static let blobsStage = "blobs"
    private static let lastStage = "counts"
    private static let stages = [sourcesStage, blobsStage] + CopiedTable.all.map(\.name) + [lastStage]

    private func run(
        from place: CopyPlace, _ amount: CopyAmount, into target: CopyTarget,
        _ progress: @escaping @Sendable (CopyProgress) -> Void
    ) async throws {
        guard let start = Self.stages.firstIndex(of: place.stage) else {
            throw StoreError.newerSchema(path: "\(database)")
        }
        let there = try await target.count(CopiedTable.all.map(\.name) + ["blobs", "copied_objects"])
        let sources = CopyTally(.sources, there["copied_objects"], of: amount.sources, progress)
        let blobs = CopyTally(.blobs, there["blobs"], of: amount.blobs, progress)
        let records = CopyTally(
            .records, CopiedTable.all.compactMap { there[$0.name] }.reduce(0, +), of: amount.rows.values.reduce(0, +),
            progress)
        for index in start..<Self.stages.count - 1 {
            var key = index == start ? place.after : nil
            repeat {
                let next: [String]?
                switch Self.stages[index] {
                case Self.sourcesStage: next = try await copySources(after: key, into: target, sources)
                case Self.blobsStage: next = try await copyBlobs(after: key, into: target, blobs)
                default:
                    let table = CopiedTable.all[index - 2]
                    let part = try await self.records.copiedRows(of: table, after: key, limit: partSize)
                    try await target.add(
                        translated(part.elements, in: target), to: table,
                        by: table.insertion(self.records.copiedColumns(of: table)),
                        thenAt: Self.place(part.next, after: index))
                    records.add(part.elements.count)
                    next = part.next
                }
                if index < 2 { try await target.advance(to: Self.place(next, after: index)) }
                key = next
            } while key != nil
        }
        try await compare(amount, with: target)
        try await target.end()
    }

    /// Where a copy is behind a part of a stage.
    private static func place(_ next: [String]?, after index: Int) -> CopyPlace {
        next == nil ? CopyPlace(stage: stages[index + 1]) : CopyPlace(stage: stages[index], after: next)
    }

    /// Rows with the names of sources that their submissions have at the target. A submission is a text within its row.
    private func translated(_ rows: [String], in target: CopyTarget) async throws -> [String] {
        let source = #/(\\"spool\\":\{\\"name\\":\\")([^\\]+)/#
        let names = try await target.names(of: rows.flatMap { $0.matches(of: source).map { String($0.2) } })
        // What isn't needed any more was not copied.
        return rows.map { row in row.replacing(source) { "\($0.1)\(names[String($0.2)] ?? String($0.2))" } }
    }

    private func compare(_ amount: CopyAmount, with target: CopyTarget) async throws {
        let wanted = amount.rows.merging(["blobs": amount.blobs]) { $1 }
        let found = try await target.count(wanted.keys.sorted())
        let unequal = wanted.sorted { $0.key < $1.key }.filter { found[$0.key] != $0.value }
        guard unequal.isEmpty else {
            throw StoreError.unequalCopy(
                path: "\(database)",
                reasons: unequal.map { "\($0.key) has \(found[$0.key] ?? 0) of \($0.value) rows" })
        }
    }
}
