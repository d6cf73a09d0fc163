public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func overview(of tenant: TenantID) async throws(AttachmentError) -> TenantOverview {
        read { tables, now in
            var overview = TenantOverview(at: now)
            for (key, tally) in tables.tallies
            where key.tenant == tenant && key.minute >= now - TenantOverview.span {
                overview.tallies[key] = tally
            }
            overview.usage = tables.usage(of: tenant)
            overview.usage.liveLeases = tables.liveLeases(of: tenant, at: now).count
            func live(_ kind: AccessEntry.Kind) -> Int {
                tables.access.values.count { $0.tenant == tenant && $0.kind == kind && $0.isLive(at: now) }
            }
            overview.links = min(live(.link), TenantOverview.most)
            overview.grants = min(live(.grant), TenantOverview.most)
            let due = tables.notifications.values.count { notification in
                notification.tenant == tenant && notification.state == .pending
                    && notification.next.map { $0.at <= now + TenantOverview.span } ?? false
            }
            overview.dueNotifications = min(due, TenantOverview.most)
            let calls = tables.calls.values.filter { $0.tenant == tenant }
            overview.failedCalls = min(calls.count { $0.state == .failed }, TenantOverview.most)
            overview.failingCalls = calls.filter { $0.state == .waiting }.prefix(TenantOverview.most)
                .count { $0.attempt > 0 }
            return overview
        }
    }

    public func failures(
        of tenant: TenantID, with code: ErrorCode?, since: Instant?
    ) async throws(AttachmentError) -> [FailureGroup] {
        read { tables, _ in
            let failed = tables.attachments.values.map(\.record).filter { record in
                record.tenant == tenant && record.state == .failed
                    && since.map { $0 <= record.finishedAt ?? $0 } ?? true
            }
            return FailureGroup.inOrder(
                (code.map { [$0] } ?? ErrorCode.allCases).compactMap { FailureGroup(of: $0, failed) })
        }
    }

    public func access(
        to attachment: AttachmentID, of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AccessEntry> {
        read { tables, _ in
            let found = (tables.accessTo[.init(tenant: tenant, id: attachment)] ?? [])
                .filter { id in cursor.map { $0 < id } ?? true }.sorted()
            return Self.page(found.compactMap { tables.access[$0] }, limit, cursor: \.id)
        }
    }
}
