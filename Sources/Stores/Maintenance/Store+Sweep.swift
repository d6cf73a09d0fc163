public import Attachments
internal import FoundationEssentials
internal import Glibc

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
}

extension Store {
    /// Orphans younger than this may be about to be delivered.
    static let youth: Duration = .seconds(3600)

    /// Removes what outlived its retention, and what no record refers to: older than an hour, or all of it when the
    /// store is held exclusively. Drops keys that no token needs any more.
    public func sweep() async throws(AttachmentError) -> SweepReport {
        try await sweep(sparing: isExclusive ? nil : Self.youth)
    }

    /// - Parameter age: What is younger stays; nil spares nothing.
    func sweep(sparing age: Duration?) async throws(AttachmentError) -> SweepReport {
        let isOld = { (facts: Duration) in age.map { facts >= $0 } ?? true }
        var report = SweepReport(expired: 0, orphans: 0, bytes: 0, leftovers: 0)
        var place: ExpiryPlace?
        repeat {
            let part = try await records.expire(limit: 500, from: place)
            try blobs.remove(part.blobs)
            report.expired += part.attachments
            place = part.next
        } while place != nil
        let old = try blobs.list().filter { isOld($0.age) }
        for start in stride(from: 0, to: old.count, by: 500) {
            let part = old[start..<min(start + 500, old.count)]
            // A read first: nearly all are referred to, and only what isn't needs a write.
            let candidates = try await records.unreferenced(among: part.map(\.name))
            guard !candidates.isEmpty else { continue }
            let removed = Set(try await records.markRemoved(candidates))
            try blobs.remove(Array(removed))
            report.orphans += removed.count
            report.bytes += part.reduce(0) { $0 + (removed.contains($1.name) ? $1.bytes : 0) }
        }
        report.leftovers += try blobs.removeAbandonedStaging(where: isOld)
        report.leftovers += try await removeAbandonedSpool(where: isOld)
        try records.forgetEndedWorkers()
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

    private func removeAbandonedSpool(where isOld: (Duration) -> Bool) async throws(AttachmentError) -> Int {
        do {
            var count = 0
            for name in try Files.names(in: spool) {
                guard let facts = try Files.facts(of: spool + "/" + name), isOld(facts.age) else { continue }
                if try await records.needsSpool(name) { continue }
                if try Files.remove(spool + "/" + name) { count += 1 }
            }
            return count
        } catch let error as SystemError {
            throw AttachmentError(error)
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "\(type(of: error))")
        }
    }
}
