public import SatchelCore

/// A place of a payload that names a medium.
public struct MediumPlace: Hashable, Sendable {
    public var pointer: JSONPointer
    public var url: String
    /// Who shows pictures alone there, in words; nil where a medium of any kind may be.
    public var viewer: String?
    /// Bytes of such a picture, at most; nil where none is stated.
    public var limit: Int64?
}

extension PushPayload {
    /// Whether a service extension runs, or none is needed, for each of its messages: of several, those that name a medium.
    public var isMutable: Bool {
        messages.allSatisfy { message in
            let isConcerned = messages.count == 1 || message.uses.contains { !$0.isEmpty }
            return !message.isShown || !isConcerned || format.rules.isMutable(message.document)
        }
    }

    public var messageCount: Int { messages.count }

    /// Bytes of the longest of its messages, but for what isn't delivered: who gets it.
    public var size: Int {
        messages.map { format.rules.size(of: $0.document) }.max() ?? bytes.count
    }

    /// What it says to whoever sees it, as APNs has it: a text, or an object of texts. Of several messages it is the first that
    /// is shown; nil where none is.
    public var alert: JSONValue? {
        guard format != .apns else { return document.root["aps"]?["alert"] }
        guard let message = messages.first(where: \.isShown)?.document else { return nil }
        let texts = format.rules.texts
        return JSONValue(
            members: [("title", texts.title), ("subtitle", texts.subtitle), ("body", texts.body)].map { name, places in
                (name, message.text(at: places).map { JSONValue($0) })
            })
    }

    /// Where it names media, in the order of its messages.
    public var places: [MediumPlace] {
        messages.flatMap { message in
            message.uses.flatMap(\.self).map { use in
                var place = MediumPlace(pointer: document.pointer(of: message.path + use.urlPath), url: use.url)
                if case .pictures(let viewer, let limit) = use.display { (place.viewer, place.limit) = (viewer, limit) }
                return place
            }
        }
    }

    /// The places of all http and https URLs in messages that people see.
    public var urlPlaces: [JSONPointer] {
        messages.filter(\.isShown).flatMap { message in
            message.document.paths { value in
                MediumUse.url(value).map { !$0.hasPrefix(MediumUse.contentScheme) } ?? false
            }.map { document.pointer(of: message.path + $0) }
        }
    }
}

extension PayloadFormat {
    /// Places of a message where media are found.
    public var mediaPlaces: [JSONPointer] { rules.conventions.map(\.place) }

    /// What is to be sent, for whoever sent something else.
    public var form: String { rules.form }
}
