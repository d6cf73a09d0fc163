import SatchelCore
import Payloads

/// A notification as somebody wants to see it before it is sent, or as it was handed over.
struct NotificationPreview: Sendable {
    /// As it is handed over.
    var payload: [UInt8]
    var format = PayloadFormat.apns
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
    var document: JSONValue { (try? JSONDocument.read(payload, .enriched).root) ?? .null }

    /// Nil where the payload is none.
    var reading: PushPayload? { try? PushPayload(payload, format: format, type: type, rules: .enriched) }

    /// What it says to whoever sees it.
    var alert: AlertText { AlertText(reading?.alert) }

    /// Media that are there, the first of which is shown.
    var shown: [(medium: EnrichedMedium, delivered: DeliveredMedium)] {
        media.compactMap { medium in (try? medium.outcome.get()).map { (medium, $0) } }
    }

    /// What warnings are made of.
    var facts: NotificationFacts {
        let media = media.map(\.facts)
        var facts =
            reading.map { NotificationFacts(of: $0, category: category, media: media, dropped: dropped) }
            ?? NotificationFacts(format: format, hasAlert: false, isMutable: false, media: media, dropped: dropped)
        facts.linksEnd = linksEnd
        facts.pushEnds = pushEnds
        return facts
    }
}

extension NotificationFacts {
    /// - Parameters:
    ///   - payload: As it is handed over, or as it came.
    ///   - category: The one that it names; nil where there is none.
    init(of payload: PushPayload, category: Category?, media: [Medium], dropped: [String]) {
        self.init(
            format: payload.format, hasAlert: payload.isShown, isMutable: payload.isMutable,
            categoryID: payload.category, category: category, media: media, dropped: dropped,
            payloadLimit: payload.format.limit(payload.type))
        if media.isEmpty { urlPlaces = payload.urlPlaces.map(\.description) }
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
            var facts = NotificationFacts.Medium(
                identifier, medium.type, width: medium.width, height: medium.height)
            facts.unfit = unfit.map { .init(code: $0.code, message: $0.message) }
            return facts
        case .failure(let failure): return NotificationFacts.Medium(identifier, failure)
        }
    }
}

/// The text of a notification: `aps.alert`.
struct AlertText: Hashable, Sendable {
    var title: String?
    var subtitle: String?
    var body: String?

    /// What is in the app's bundle stands there by its key.
    init(_ alert: JSONValue?) {
        guard let alert else { return }
        guard alert.text == nil else {
            body = alert.text
            return
        }
        title = Self.text(alert, "title", keyed: "title-loc")
        subtitle = Self.text(alert, "subtitle", keyed: "subtitle-loc")
        body = Self.text(alert, "body", keyed: "loc")
    }

    private static func text(_ alert: JSONValue, _ name: String, keyed prefix: String) -> String? {
        if let text = alert[name]?.text { return text.isEmpty ? nil : text }
        guard let key = alert["\(prefix)-key"]?.text else { return nil }
        let arguments = (alert["\(prefix)-args"]?.elements ?? []).compactMap(\.text)
        return arguments.isEmpty ? key : "\(key) (\(arguments.joined(separator: ", ")))"
    }
}
