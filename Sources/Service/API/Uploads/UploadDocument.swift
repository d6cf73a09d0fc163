import SatchelCore

extension UploadRecord {
    /// An upload as the API shows it. Its job is the one that has it, or will be submitted with it.
    var shown: JSONFields {
        [
            "id": id.rawValue, "state": state, "length": length, "offset": offset, "name": terms.name,
            "typeHint": terms.typeHint, "sha256": sha256 ?? terms.sha256, "job": terms.job?.id.rawValue,
            "usedBy": usedBy, "createdAt": createdAt, "expiresAt": expiresAt, "finishedAt": finishedAt,
            "error": error,
        ]
    }
}
