public import SatchelCore
internal import Postgres

/// When what is superfluous goes.
enum GarbageTiming {
    /// After a claim was taken away or given back: whoever had it writes nothing under it any more by then.
    static let claims: Duration = .seconds(3600)
    /// What a node removes by itself after its commit is left to it for so long.
    static let grace: Duration = .seconds(60)
    /// Of one who does something for all, without asking again.
    static let lead: Duration = .seconds(10)
    /// The pause after the first failure, which doubles with each.
    static let pause: Duration = .seconds(30)
    static let longestPause: Duration = .seconds(3600)
}

extension RecordStore {
    /// Removes what was written down as superfluous and is due, where that is this process's turn.
    ///
    /// - Returns: How much there was.
    public func collectGarbage() async throws(AttachmentError) -> Int {
        guard let cluster = engine.cluster else { return 0 }
        var collected = 0
        // What can't be removed is due later, so that each round sees less.
        while try await cluster.leads(UpkeepTask.garbage.rawValue) {
            let due = try await dueGarbage()
            guard !due.isEmpty else { break }
            var gone: [Int64] = []
            for claim in due where claim.kind == .claim {
                // What was delivered under it is in use.
                if !claim.isDelivered {
                    guard (try? await garbage.removeAll(under: ClaimID(rawValue: claim.name))) != nil else { continue }
                }
                gone.append(claim.id)
            }
            let (blobs, sources) = (due.filter { $0.kind == .blob }, due.filter { $0.kind == .source })
            if await remove(blobs.map { BlobName(rawValue: $0.name) }, []) { gone += blobs.map(\.id) }
            if await remove([], sources.map { SourceName(rawValue: $0.name) }) { gone += sources.map(\.id) }
            try await settle(due.map(\.id), gone: gone)
            collected += gone.count
        }
        return collected
    }

    private func remove(_ blobs: [BlobName], _ sources: [SourceName]) async -> Bool {
        (try? await garbage.remove(blobs, sources)) != nil
    }

    /// A row of `garbage`.
    private struct Garbage {
        enum Kind: String {
            case blob
            case source
            case claim
        }

        var id: Int64
        var kind: Kind
        var name: String
        /// Of a claim.
        var isDelivered: Bool
    }

    private func dueGarbage() async throws(AttachmentError) -> [Garbage] {
        try await read { work in
            try work.run(
                """
                SELECT garbage.id, kind, name, coalesce(jobs.delivered_claim::text = garbage.name, false) AS delivered
                FROM garbage LEFT JOIN jobs ON jobs.key = garbage.job
                WHERE due_at <= $1 ORDER BY due_at, garbage.id LIMIT $2
                """, [.time(work.now), .int(Store.part)]
            ).map { row in
                Garbage(
                    id: try row.int64("id"), kind: try row.value("kind"), name: try row.text("name"),
                    isDelivered: try row.bool("delivered"))
            }
        }
    }

    /// What is gone needs no row any more; what isn't is tried again later.
    private func settle(_ due: [Int64], gone: [Int64]) async throws(AttachmentError) {
        try await write { work in
            _ = try work.send([
                Statement("DELETE FROM garbage WHERE id = ANY($1::bigint[])", [.ints(gone.map { $0 })]),
                Statement(
                    """
                    UPDATE garbage SET tries = tries + 1, due_at = $2::bigint + least($3 * 2 ^ least(tries, 20), $4)::bigint
                    WHERE id = ANY($1::bigint[])
                    """,
                    [
                        .ints(due.map { $0 }), .time(work.now), .int(GarbageTiming.pause.wholeMilliseconds),
                        .int(GarbageTiming.longestPause.wholeMilliseconds),
                    ]),
            ])
        }
    }

    /// Removes what a commit made superfluous, where that isn't kept for a while. Where it isn't written down, a sweep does what
    /// is cut off.
    func remove(_ waste: RecordTransaction.Waste) async {
        guard !waste.blobs.isEmpty || !waste.sources.isEmpty, garbageDelay == .zero,
            await remove(waste.blobs, waste.sources), !waste.rows.isEmpty
        else { return }
        let rows = waste.rows.map { Optional($0) }
        try? await engine.send { _ in
            [Statement("DELETE FROM garbage WHERE id = ANY($1::bigint[])", [.ints(rows)])]
        } _: { _ in
        }
    }
}

extension RecordTransaction {
    /// Notes a claim that is taken away or given back: what was written under it is removed when nobody can write under it
    /// any more.
    func forgo(_ claim: String?, of job: Int64) throws {
        _ = try send(forgoing(claim, of: job))
    }

    /// What notes that.
    func forgoing(_ claim: String?, of job: Int64) -> [Statement] {
        guard store.notesGarbage, let claim else { return [] }
        return [
            Statement(
                "INSERT INTO garbage (kind, job, name, due_at) VALUES ('claim', $1, $2, $3)",
                [.int(job), .text(claim), .time(now + GarbageTiming.claims)])
        ]
    }
}
