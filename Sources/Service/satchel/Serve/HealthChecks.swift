import API
import SatchelCore
import CodecPool
import Ingest
import Platform
import Stores

extension Duration {
    /// What one clock is ahead of another, such as "12 s ahead of"; `nil` up to 5 s.
    var clockDifference: String? {
        let seconds = Int(abs(inSeconds).rounded())
        return seconds > 5 ? "\(seconds) s \(self > .zero ? "ahead of" : "behind")" : nil
    }
}

/// The checks of `/readyz`.
enum HealthChecks {
    static func all(
        of store: Store, spool: Spool, codecs: CodecPool, _ settings: ServiceSettings
    ) -> [ServiceHealth.Check] {
        let common = [
            ServiceHealth.Check("store", advice: "See the log, and run 'satchel doctor' to check the store.") {
                do {
                    _ = try await store.records.now()
                    _ = try await store.records.statistics()
                    // Fails if the disk is read-only, full or missing. The uncommitted file leaves no trace.
                    try await BlockingWork.run { () throws(AttachmentError) in
                        var file = try spool.create()
                        try unsafe withUnsafeBytes(of: UInt8(1)) { bytes throws(AttachmentError) in
                            try unsafe file.write(bytes)
                        }
                    }
                    return nil
                } catch {
                    return (error as? AttachmentError)?.message ?? "the store fails"
                }
            },
            ServiceHealth.Check(
                "disk", advice: "Free some space, or keep less, by quotas or shorter retention in the profiles."
            ) {
                guard let free = try? await store.freeBytes() else { return "the free space is unknown" }
                guard free < settings.intake.freeBytes else { return nil }
                return
                    "\(Quantity.bytes(free)) free, less than intake.free_bytes (\(Quantity.bytes(settings.intake.freeBytes)))"
            },
            // Not required: the store's time decides.
            ServiceHealth.Check(
                "clock", isRequired: false,
                advice: "Synchronize the clock of this machine, for example with chrony or systemd-timesyncd."
            ) {
                let words = (Instant.wallClock() - store.records.time).clockDifference
                return words.map { "this machine's clock is \($0) the store's" }
            },
            // Not required: content is still served, and submissions are answered with 429.
            ServiceHealth.Check(
                "queue", isRequired: false,
                advice: "Wait, or add workers. Until then, submissions are answered with 429."
            ) {
                guard let statistics = try? await store.records.statistics() else { return "the queue can't be read" }
                let pending = statistics.queues.values.reduce(0) { $0 + $1.pending }
                guard pending >= settings.intake.queue else { return nil }
                return "\(pending) jobs are waiting, as many as intake.queue allows"
            },
        ]
        guard settings.role.works else { return common }
        return common + [
            ServiceHealth.Check("codecs", advice: "Run 'satchel doctor' to see why.") {
                await codecs.isWorking ? nil : "no codec process can be started"
            },
            // This check is not required: work continues more slowly, and content is still served.
            ServiceHealth.Check(
                "limits", isRequired: false,
                advice: "Raise the limits of processes, open files and memory, or lower 'codecs'. See the log."
            ) { codecs.shortage },
        ]
    }
}
