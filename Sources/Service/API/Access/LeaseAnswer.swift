import SatchelCore

extension Service {
    /// A lease as the API shows it.
    func body(of lease: LeaseRecord, _ token: AccessToken, to attachment: AttachmentRecord) -> JSONFields {
        let opened = attachment.renditions.filter { lease.renditions?.contains($0.key) ?? true }
        // The rendition to show, of those that the lease opens.
        let best = ([attachment.best].compactMap(\.self) + [.main, .poster, .thumbnail, .waveform, .original])
            .first { opened[$0] != nil }
        var renditions: [RenditionRole: JSONFields] = [:]
        for (role, rendition) in opened {
            renditions[role] = [
                "uti": rendition.uti, "mediaType": rendition.mediaType, "bytes": rendition.bytes,
                "width": rendition.width, "height": rendition.height,
                "url": contentURL(token, role, rendition.mediaType),
                "encryption": encryption(of: rendition, attachment.tenant),
            ]
        }
        return [
            "id": lease.id, "attachmentId": lease.attachment, "grantId": lease.grant, "startedAt": lease.startedAt,
            "expiresAt": lease.expiresAt, "best": best, "renditions": renditions,
        ]
    }
}

extension GrantRecord {
    /// A grant as the API shows it to whoever it is given to.
    func shown(with token: AccessToken) -> JSONFields {
        [
            "id": id, "token": token.secretText, "attachmentId": attachment, "parentId": parent,
            "renditions": renditions, "leaseLimit": leaseLimit, "createdAt": createdAt, "expiresAt": expiresAt,
        ]
    }
}
