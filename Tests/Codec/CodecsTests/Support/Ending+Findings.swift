import SatchelCore

extension Ending {
    var losses: [Finding] { diagnosis.losses }
    var omissions: [Finding] { diagnosis.omissions }
    var evidence: [Finding] { diagnosis.evidence }
    var changes: [Finding] { diagnosis.changes }
}

extension Finding {
    /// A finding of which the version of a library is left out.
    var unsigned: Finding {
        var finding = self
        finding.library = nil
        return finding
    }
}

extension AttachmentError {
    /// What an unreadable file was refused for; nil of other refusals.
    var finding: Finding? {
        guard case .unreadable(let finding) = self else { return nil }
        return finding.unsigned
    }
}
