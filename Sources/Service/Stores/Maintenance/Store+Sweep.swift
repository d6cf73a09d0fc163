public import SatchelCore

/// What a sweep removed.
public struct SweepReport: Hashable, Sendable, Codable {
    /// Attachments whose retention was over.
    public var expired: Int
    /// Blobs that no record referred to.
    public var orphans: Int
    /// Their bytes.
    public var bytes: Int64
    /// Files in the making and sources that nobody works on.
    public var leftovers: Int
    /// Of what the records had written down as superfluous.
    public var collected = 0
}

extension Store {
    /// Orphans younger than this may be about to be delivered.
    static let youth: Duration = .seconds(3600)

    /// Removes what outlived its retention, and what no record refers to: older than an hour, or all of it when the
    /// store is held exclusively. Drops keys that no token needs any more.
    ///
    /// - Parameters:
    ///   - inTurn: Whether to leave to others what one process does for all.
    ///   - audits: Whether to look through all blobs also where the records write down what is superfluous.
    ///   - auditKept: How long entries of the audit list are.
    public func sweep(
        inTurn: Bool = false, audits: Bool = false, auditKept: Duration = AuditEntry.keep
    ) async throws(AttachmentError) -> SweepReport {
        try await sweep(
            sparing: isExclusive ? nil : Self.youth, inTurn: inTurn, audits: audits, auditKept: auditKept)
    }

    /// - Parameter age: What is younger stays; nil spares nothing.
    func sweep(
        sparing age: Duration?, inTurn: Bool = false, audits: Bool = true, auditKept: Duration = AuditEntry.keep
    ) async throws(AttachmentError) -> SweepReport {
        let isOld = { @Sendable (of: Duration) in age.map { of >= $0 } ?? true }
        let has = { (task: UpkeepTask) async throws(AttachmentError) -> Bool in
            inTurn ? try await records.leads(task) : true
        }
        var report = SweepReport(expired: 0, orphans: 0, bytes: 0, leftovers: 0)
        var place: ExpiryPlace?
        while try await has(.expiry) {
            let part = try await records.expire(limit: Self.part, from: place)
            report.expired += part.attachments
            place = part.next
            if place == nil { break }
        }
        while try await has(.expiry) {
            if try await records.endUploads(.due, limit: Self.part) < Self.part { break }
        }
        while try await has(.expiry) {
            if try await records.forgetAudit(olderThan: auditKept, limit: Self.part) < Self.part { break }
        }
        if try await has(.expiry) { try await completeRemovals() }
        report.collected = try await records.collectGarbage()
        if audits || !records.notesGarbage { try await sweepBlobs(where: isOld, &report) }
        if try await has(.sources) { try await sweepSources(where: isOld, &report) }
        report.leftovers += try await staging.removeAbandoned(where: isOld)
        try await records.forgetEndedWorkers()
        // A key that sealed what is sealed anew is needed no longer.
        try await sealAnew()
        do {
            try keys.prune(keeping: await records.keysInUse())
        } catch let error as StoreError {
            throw .storeFailed(reason: error.description)
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "\(type(of: error))")
        }
        return report
    }

    private func sweepBlobs(
        where isOld: (Duration) -> Bool, _ report: inout SweepReport
    ) async throws(AttachmentError) {
        try await Self.forEachPage(of: blobs.list) { page throws(AttachmentError) in
            // A read first: nearly all are referred to, and only what isn't needs a write.
            let old = page.filter { isOld($0.age) }
            let candidates = try await records.unreferenced(among: old.map(\.name))
            guard !candidates.isEmpty else { return }
            let removed = Set(try await records.discard(candidates))
            report.orphans += removed.count
            report.bytes += old.reduce(0) { $0 + (removed.contains($1.name) ? $1.bytes : 0) }
        }
    }

    private func sweepSources(
        where isOld: (Duration) -> Bool, _ report: inout SweepReport
    ) async throws(AttachmentError) {
        try await Self.forEachPage(of: sources.list) { page throws(AttachmentError) in
            let old = page.filter { isOld($0.age) }.map(\.name)
            let unneeded = try await records.unneeded(among: old)
            try await sources.remove(unneeded)
            report.leftovers += unneeded.count
        }
    }

    /// Objects that are looked at together.
    static let part = 500

    /// Takes all that a store holds, part by part.
    static func forEachPage<Element>(
        of list: (_ cursor: String?, _ limit: Int) async throws(AttachmentError) -> Page<Element>,
        _ take: ([Element]) async throws(AttachmentError) -> Void
    ) async throws(AttachmentError) {
        var cursor: String?
        repeat {
            let page = try await list(cursor, part)
            try await take(page.elements)
            cursor = page.next
        } while cursor != nil
    }
}
