import SatchelCore
import FoundationEssentials
import Ingest
import Payloads

/// Reads responses, and what handlers say to them.
enum ResponseReader {
    /// Bytes of a response's body.
    static let bodyLimit: Int64 = 16 << 10

    /// - Throws: A problem that names every field which can't be taken.
    static func response(_ body: some Sequence<UInt8>) throws(Problem) -> NotificationResponse {
        let errors = ValidationErrors()
        let reader = try FieldReader(
            body: body, known: ["id", "session", "action", "text", "data", "at"], errors)
        let action = reader.string("action", bytes: CategoryLimits.name)
        if action == nil, reader.value("action") == nil {
            reader.addError("action", "Required. Must be an action's id, 'default' or 'dismiss'.")
        }
        let response = NotificationResponse(
            id: uuid(reader, "id"), session: uuid(reader, "session"), action: ResponseAction(action ?? ""),
            text: reader.prose("text", characters: ResponseLimits.text), data: data(reader), at: instant(reader))
        try errors.check()
        return response
    }

    private static func uuid(_ reader: FieldReader, _ field: String) -> String {
        let text = reader.string(field)
        if let uuid = text.flatMap(UUID.init(uuidString:)) { return uuid.uuidString.lowercased() }
        // What is no string was told so.
        if text != nil || reader.value(field) == nil { reader.addError(field, "Must be a UUID.") }
        return ""
    }

    private static func data(_ reader: FieldReader) -> String? {
        guard let value = reader.value("data") else { return nil }
        let bytes = value.bytes
        guard bytes.count <= ResponseLimits.data else {
            reader.addError("data", "Must be at most \(ResponseLimits.data) bytes, not \(bytes.count).")
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func instant(_ reader: FieldReader) -> Instant? {
        guard let text = reader.string("at") else { return nil }
        guard let instant = Instant(text) else {
            reader.addError("at", "Must be a time in UTC, such as 2026-11-22T10:15:00.120Z.")
            return nil
        }
        return instant
    }

    // MARK: Handlers

    /// - Throws: A problem that names every field which can't be taken.
    static func answer(_ body: some Sequence<UInt8>) throws(Problem) -> HandlerAnswer {
        let errors = ValidationErrors()
        let reader = try FieldReader(body: body, known: ["then", "actions", "view"], errors)
        let then = reader.choice("then", ResponseOption.self)
        if reader.value("then") == nil {
            reader.addError(
                "then", "Must be one of \(ResponseOption.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let actions = reader.value("actions") == nil ? nil : Self.actions(reader)
        let view = reader.object(
            "view", known: ["rotation", "opacity", "attachment", "title", "subtitle", "body", "label"]
        ).map(view)
        try errors.check()
        return HandlerAnswer(then: then ?? .forward, actions: actions, view: view ?? NotificationView.Change())
    }

    /// As a category has them.
    private static func actions(_ reader: FieldReader) -> [CategoryAction] {
        CategoryReader(profiles: [], webhooks: FetchGuard()).actions(reader)
    }

    private static func view(_ reader: FieldReader) -> NotificationView.Change {
        NotificationView.Change(
            rotation: reader.number("rotation", in: -1e6...1e6), opacity: reader.number("opacity", in: 0...1),
            attachment: reader.string("attachment"), title: reader.prose("title", characters: ResponseLimits.text),
            subtitle: reader.prose("subtitle", characters: ResponseLimits.text),
            body: reader.prose("body", characters: ResponseLimits.text),
            label: reader.object("label", known: ["text", "color"]).map { label in
                ViewLabel(
                    text: label.prose("text", characters: ResponseLimits.text) ?? "",
                    color: label.choice("color", ViewColor.self))
            })
    }
}

extension FieldReader {
    /// A text that people write or read, over lines where they want.
    fileprivate func prose(_ field: String, characters limit: Int) -> String? {
        guard let value = value(field) else { return nil }
        guard let text = value.text else {
            addError(field, "Must be a string.")
            return nil
        }
        guard text.count <= limit else {
            addError(field, "Must be at most \(limit) characters, not \(text.count).")
            return nil
        }
        let isShown = text.unicodeScalars.allSatisfy {
            "\n\r\t".unicodeScalars.contains($0) || $0.properties.generalCategory != .control
        }
        guard isShown else {
            addError(field, "Must not contain control characters, except tabs and line breaks.")
            return nil
        }
        return text
    }
}
