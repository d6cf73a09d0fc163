import SatchelCore
import Jobs
import Logging

/// Logs each job that finishes on this node.
final class JobEnds: Sendable {
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func ended(_ job: JobReport) {
        logger.info("job", metadata: Self.metadata(job))
    }

    private static func metadata(_ job: JobReport) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "job": "\(job.job.rawValue)", "tenant": "\(job.tenant.rawValue)", "state": "\(job.state.rawValue)",
            "profile": "\(job.profile)", "priority": "\(job.priority.rawValue)",
            "generation": .stringConvertible(job.generation), "attempt": .stringConvertible(job.attempt),
            "attachments": .array(job.attachments.map { .dictionary(self.metadata($0)) }),
            "stages": .dictionary(job.stages.mapValues { .stringConvertible($0) }),
            "seconds": .stringConvertible(job.seconds),
        ]
        metadata["lane"] = job.lane.map { "\($0.rawValue)" }
        metadata["queue_seconds"] = job.queueSeconds.map { .stringConvertible($0) }
        metadata["work_seconds"] = job.workSeconds.map { .stringConvertible($0) }
        // 00-<trace>-<span>-<flags>
        if let parts = job.traceparent?.split(separator: "-"), parts.count > 1 { metadata["trace_id"] = "\(parts[1])" }
        return metadata
    }

    private static func metadata(_ attachment: JobReport.Attachment) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["id": "\(attachment.id.rawValue)", "state": "\(attachment.state.rawValue)"]
        metadata["kind"] = attachment.kind.map { "\($0.rawValue)" }
        metadata["fidelity"] = attachment.fidelity.map { "\($0.rawValue)" }
        metadata["code"] = attachment.code.map { "\($0.rawValue)" }
        metadata["bytes"] = attachment.bytes.map { .stringConvertible($0) }
        return metadata
    }
}
