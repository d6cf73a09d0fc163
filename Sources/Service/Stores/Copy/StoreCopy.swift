internal import SatchelCore
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
        guard let records = (source.records as? SQLRecordStore)?.engine as? SQLiteEngine,
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
                        try await self.records.copiedColumns(of: table), thenAt: Self.place(part.next, after: index))
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

    /// Rows with the names of sources that their submissions have at the target.
    private func translated(_ rows: [String], in target: CopyTarget) async throws -> [String] {
        var submissions: [Int: (row: [String: AnyJSON], submission: JobSubmission)] = [:]
        for (index, row) in rows.enumerated() {
            // The others stay as they were written.
            guard row.contains("\\\"spool\\\"") else { continue }
            let row = try Column.value([String: AnyJSON].self, from: row)
            guard case .text(let text)? = row["submission"] else { continue }
            submissions[index] = (row, try Column.value(JobSubmission.self, from: text))
        }
        let sources = submissions.values.flatMap {
            $0.submission.attachments.compactMap(\.location.sourceName?.rawValue)
        }
        let names = try await target.names(of: Array(Set(sources)))
        var rows = rows
        for (index, (row, submission)) in submissions {
            var (row, submission) = (row, submission)
            for number in submission.attachments.indices {
                // What isn't needed any more was not copied.
                guard let name = submission.attachments[number].location.sourceName, let copy = names[name.rawValue]
                else { continue }
                submission.attachments[number].location = .spool(name: SourceName(rawValue: copy))
            }
            row["submission"] = .text(try Column.text(submission))
            rows[index] = try Column.text(row)
        }
        return rows
    }

    /// A value of a row.
    private enum AnyJSON: Codable {
        case null
        case number(Int64)
        case text(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let number = try? value.decode(Int64.self) {
                self = .number(number)
            } else {
                self = .text(try value.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .null: try value.encodeNil()
            case .number(let number): try value.encode(number)
            case .text(let text): try value.encode(text)
            }
        }
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
