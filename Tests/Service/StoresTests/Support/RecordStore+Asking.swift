import SatchelCore
import Postgres
import Testing

@testable import Stores

extension RecordStore {
    func dueNotifications(
        limit: Int, besides others: Set<NotificationName> = []
    ) async throws -> DueNotifications {
        try await dueNotifications(limit: limit, besides: others) { _, _ in nil }
    }

    /// The job that an idempotency key stands for; nil if the key may be used for another one.
    func job(submittedWith idempotencyKey: String, of tenant: TenantID) async throws -> JobRecord? {
        try await read { work in
            try work.run(
                "SELECT job FROM idempotency_keys WHERE tenant = $1 AND key = $2 AND created_at > $3",
                [.raw(tenant), .text(idempotencyKey), .time(work.now - IdempotencyKey.lifetime)]
            ).first.map { try work.jobRecord($0.int64("job")) }
        }
    }
}
