import API
import SatchelCore
import CodecPool
import Ingest
import Stores

/// What must be well for the service to be ready.
enum HealthChecks {
    static func all(
        of store: Store, spool: Spool, codecs: CodecPool, _ settings: ServiceSettings
    ) -> [ServiceHealth.Check] {
        let common = [
            ServiceHealth.Check("store", advice: "The log says more. 'satchel doctor' looks at the store.") {
                do {
                    _ = try await store.records.now()
                    _ = try await store.records.statistics()
                    // A disk that is read-only, full or gone shows here. What isn't committed has no name that stays.
                    var file = try spool.create()
                    try unsafe Array("1".utf8).withUnsafeBytes { try unsafe file.write($0) }
                    return nil
                } catch {
                    return (error as? AttachmentError)?.message ?? "it fails"
                }
            },
            ServiceHealth.Check(
                "disk", advice: "Free some room, or have less kept: by quotas, or a shorter retention of the profiles."
            ) {
                guard let free = try? await store.freeBytes() else { return "its room can't be told" }
                guard free < settings.intake.freeBytes else { return nil }
                return
                    "\(Quantity.bytes(free)) are free, less than intake.free_bytes (\(Quantity.bytes(settings.intake.freeBytes)))"
            },
            // Content is there all the same, and a submission is answered with 429.
            ServiceHealth.Check(
                "queue", isRequired: false,
                advice: "Wait, or have more workers: submissions are answered with 429 until then."
            ) {
                guard let statistics = try? await store.records.statistics() else { return "it can't be looked at" }
                let pending = statistics.queues.values.reduce(0) { $0 + $1.pending }
                guard pending >= settings.intake.queue else { return nil }
                return "\(pending) jobs wait, as many as intake.queue allows"
            },
        ]
        guard settings.role.works else { return common }
        return common + [
            ServiceHealth.Check("codecs", advice: "'satchel doctor' says what keeps them from starting.") {
                await codecs.isWorking ? nil : "no codec process can be started; see 'satchel doctor'"
            }
        ]
    }
}
