import Attachments
import Payloads

/// A notification as somebody wants to see it before it is sent, or as it was handed over.
struct NotificationPreview: Sendable {
    /// As it is handed over.
    var payload: [UInt8]
    var type = PushType.alert
    /// The one of that id; nil where there is none.
    var category: Category?
    /// In the order in which they are shown.
    var media: [EnrichedMedium] = []
    /// What was left out for size.
    var dropped: [String] = []
    /// When the first link ends; nil where there is none.
    var linksEnd: Instant?
    /// Until when the push service tries to deliver; nil where that isn't said.
    var pushEnds: Instant?
    /// Where responses go, such as `/r/satr_…`; nil: nobody takes any, and what is done shows on the page alone.
    var respond: String?

    /// Of the payload; null where it is none.
    var document: JSONValue { (try? JSONDocument.read(payload, .passedOn).root) ?? .null }

    /// Media that are there, the first of which is shown.
    var shown: [(medium: EnrichedMedium, delivered: DeliveredMedium)] {
        media.compactMap { medium in (try? medium.outcome.get()).map { (medium, $0) } }
    }

    /// What warnings are made of.
    var facts: NotificationFacts {
        var facts = NotificationFacts(
            of: document, type: type, category: category, media: media.map(\.facts), dropped: dropped)
        facts.linksEnd = linksEnd
        facts.pushEnds = pushEnds
        return facts
    }
}

extension NotificationFacts {
    /// - Parameters:
    ///   - payload: As it is handed over, or as it came.
    ///   - category: The one that it names; nil where there is none.
    init(of payload: JSONValue, type: PushType, category: Category?, media: [Medium], dropped: [String]) {
        let aps = payload["aps"]
        let alert = aps?["alert"].map { !$0.isNull } ?? false
        self.init(
            hasAlert: alert && (type == .alert || type == .voip), isMutable: aps?["mutable-content"]?.number == 1,
            categoryID: aps?["category"]?.text, category: category, media: media, dropped: dropped,
            payloadLimit: type.limit)
    }
}

extension NotificationFacts.Medium {
    init(_ identifier: String, _ type: MediaType, width: Int?, height: Int?) {
        let size = width.flatMap { width in height.map { PixelSize(width: width, height: $0) } }
        self.init(identifier: identifier, size: size, isPicture: type.format.picture != nil)
    }

    init(_ identifier: String, _ failure: MediumFailure) {
        self.init(identifier: identifier, failure: .init(code: failure.code, message: failure.message))
    }
}

extension EnrichedMedium {
    /// What warnings are made of.
    var facts: NotificationFacts.Medium {
        switch outcome {
        case .success(let medium):
            NotificationFacts.Medium(identifier, medium.type, width: medium.width, height: medium.height)
        case .failure(let failure): NotificationFacts.Medium(identifier, failure)
        }
    }
}
