import SatchelCore
import Jobs
import Logging

extension JobReport {
    /// What is logged of each job that finishes on this node.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "job": "\(job.rawValue)", "tenant": "\(tenant.rawValue)", "state": "\(state.rawValue)",
            "profile": "\(profile)", "priority": "\(priority.rawValue)",
            "generation": .stringConvertible(generation), "attempt": .stringConvertible(attempt),
            "attachments": .array(attachments.map { .dictionary($0.metadata) }),
            "stages": .dictionary(stages.mapValues { .stringConvertible($0) }),
            "seconds": .stringConvertible(seconds),
        ]
        metadata["lane"] = lane.map { "\($0.rawValue)" }
        metadata["queue_seconds"] = queueSeconds.map { .stringConvertible($0) }
        metadata["work_seconds"] = workSeconds.map { .stringConvertible($0) }
        // 00-<trace>-<span>-<flags>
        if let parts = traceparent?.split(separator: "-"), parts.count > 1 { metadata["trace_id"] = "\(parts[1])" }
        return metadata
    }
}

extension JobReport.Attachment {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["id": "\(id.rawValue)", "state": "\(state.rawValue)"]
        metadata["kind"] = kind.map { "\($0.rawValue)" }
        metadata["fidelity"] = fidelity.map { "\($0.rawValue)" }
        metadata["code"] = code.map { "\($0.rawValue)" }
        metadata["bytes"] = bytes.map { .stringConvertible($0) }
        return metadata
    }
}
