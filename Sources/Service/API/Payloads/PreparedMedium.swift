import SatchelCore
import Payloads

/// An attachment that is ready, with the renditions that a payload shows of it.
struct PreparedMedium: Hashable, Sendable {
    let attachment: AttachmentRecord
    /// To be shown.
    let best: RenditionRole
    private let rendition: Rendition
    /// The small one is fetched first; a poster is as large as a picture.
    let preview: RenditionRole?
    /// Pictures in the place of what is none, the best first.
    private let standIns: [RenditionRole]

    /// Nil where nothing of it is ready.
    ///
    /// - Parameter format: Some have places for pictures alone.
    init?(_ attachment: AttachmentRecord, for format: PayloadFormat = .apns) {
        guard let best = attachment.best, let rendition = attachment.renditions[best] else { return nil }
        self.attachment = attachment
        self.best = best
        self.rendition = rendition
        preview = [RenditionRole.thumbnail, .poster, .waveform].first {
            $0 != best && attachment.renditions[$0] != nil
        }
        standIns =
            format == .apns || rendition.mediaType.format.picture != nil
            ? []
            : [.poster, .thumbnail, .waveform].filter { attachment.renditions[$0] != nil }
    }

    /// What a link has to open.
    var roles: [RenditionRole] {
        let others = [preview].compactMap(\.self) + standIns
        return others.reduce(into: [best]) { roles, role in
            if !roles.contains(role) { roles.append(role) }
        }
    }

    /// What warnings are made of.
    ///
    /// - Parameter identifier: The payload's.
    func facts(_ identifier: String) -> NotificationFacts.Medium {
        NotificationFacts.Medium(identifier, rendition.mediaType, width: rendition.width, height: rendition.height)
    }

    /// As it is in a payload, with links that `token` opens.
    func delivered(by token: AccessToken, _ service: Service) -> DeliveredMedium {
        func encryption(_ rendition: Rendition) -> JSONValue? {
            service.payloadEncryption(of: rendition, attachment.tenant)
        }
        var options = attachment.options
        options.typeHint = rendition.uti
        return DeliveredMedium(
            url: service.contentURL(token, best, rendition.mediaType), type: rendition.mediaType,
            bytes: rendition.bytes, width: rendition.width, height: rendition.height,
            encryption: encryption(rendition),
            previewURL: preview.flatMap { role in
                attachment.renditions[role].map { service.contentURL(token, role, $0.mediaType) }
            },
            previewEncryption: preview.flatMap { attachment.renditions[$0] }.flatMap(encryption),
            thumbhash: attachment.placeholder?.thumbhash, options: options,
            standIns: standIns.compactMap { role in
                attachment.renditions[role].map { rendition in
                    DeliveredMedium.File(
                        url: service.contentURL(token, role, rendition.mediaType), type: rendition.mediaType,
                        bytes: rendition.bytes)
                }
            })
    }
}

extension MediumFailure {
    /// Why nothing of an attachment is ready.
    ///
    /// - Parameter deadline: Seconds that were waited for it.
    init(_ attachment: AttachmentRecord, deadline: Double) {
        if let error = attachment.error {
            self.init(error)
        } else {
            self.init(.deadlineExceeded(seconds: deadline))
        }
    }
}

/// A medium of a payload, and what became of it.
struct EnrichedMedium: Hashable, Sendable {
    var identifier: String
    /// Nil where it is gone.
    var record: AttachmentRecord?
    var outcome: MediumOutcome
    /// Why one of its places doesn't show it, though it is ready.
    var unfit: MediumFailure?
    /// Where its renditions are, as far as links open them.
    var urls: [RenditionRole: String] = [:]
    /// When these end; nil where there are none.
    var expiresAt: Instant?
}

extension EnrichedMedium {
    /// Remembers of places that don't show their media the first that is this one's.
    mutating func mark(_ places: [UnfitPlace]) {
        unfit = places.first { $0.medium == identifier }?.failure
    }
}
