public import SatchelCore
public import Ingest
import Payloads

/// Reads a category, and tells everything that is wrong with it at once.
public struct CategoryReader: Sendable {
    /// Bytes of a body.
    static let bodyLimit: Int64 = 64 << 10

    /// Names of profiles.
    let profiles: [String]
    /// Decides who may be told of responses.
    let webhooks: FetchGuard

    public init(profiles: [String], webhooks: FetchGuard) {
        self.profiles = profiles
        self.webhooks = webhooks
    }

    private static let fields = [
        "id", "options", "intents", "hidden_body", "summary_format", "profile", "actions", "extension", "responses",
    ]

    /// Reads a file, which says the category's id itself.
    public func category(file: some Sequence<UInt8>) throws(FileProblems) -> Category {
        do throws(Problem) {
            return try category(file, id: nil)
        } catch {
            throw FileProblems(error)
        }
    }

    /// - Parameter id: Where it is known, what the body says must be the same or nothing.
    /// - Throws: A problem that names every field which can't be taken.
    func category(_ body: some Sequence<UInt8>, id: String?) throws(Problem) -> Category {
        let errors = ValidationErrors()
        let reader = try FieldReader(body: body, known: Self.fields, errors)
        let category = Category(
            id: self.id(reader, known: id), options: reader.choices("options", CategoryOption.self) ?? [],
            intents: intents(reader), hiddenBody: reader.string("hidden_body", bytes: 1...CategoryLimits.text),
            summaryFormat: reader.string("summary_format", bytes: 1...CategoryLimits.text),
            profile: reader.profile(among: profiles), actions: actions(reader), extension: contentExtension(reader),
            responses: responses(reader))
        try errors.check()
        return category
    }

    private func id(_ reader: FieldReader, known: String?) -> String {
        let id = reader.string("id")
        guard let known else {
            if id?.isClientID != true { reader.addError("id", "Must be \(String.clientIDs).") }
            return id ?? ""
        }
        if let id, id != known { reader.addError("id", "Must be '\(known)', as in the path.") }
        return known
    }

    private func intents(_ reader: FieldReader) -> [String] {
        let intents = reader.strings("intents") ?? []
        for (pointer, text) in intents {
            let isName =
                CategoryLimits.name.contains(text.utf8.count)
                && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            guard !isName else { continue }
            reader.errors.add(
                pointer,
                "Must be \(Self.span(CategoryLimits.name)) bytes, without control characters.")
        }
        Self.check(intents.count, of: "intents", atMost: CategoryLimits.intents, reader)
        return intents.map(\.text)
    }

    // MARK: Actions

    func actions(_ reader: FieldReader) -> [CategoryAction] {
        let readers = reader.objects("actions", known: ["id", "title", "icon", "options", "text_input"]) ?? []
        Self.check(readers.count, of: "actions", atMost: CategoryLimits.actions, reader)
        var ids: Set<String> = []
        return readers.map { reader in
            let action = action(reader)
            if CategoryLimits.reservedActions.contains(action.id) {
                reader.addError("id", "Must not be '\(action.id)', which is reserved.")
            } else if !action.id.isEmpty, !ids.insert(action.id).inserted {
                reader.addError("id", "Must be unique. Another action of the category has this id.")
            }
            return action
        }
    }

    private func action(_ reader: FieldReader) -> CategoryAction {
        CategoryAction(
            id: required(reader, "id", bytes: CategoryLimits.name),
            title: required(reader, "title", bytes: 1...CategoryLimits.text),
            icon: icon(reader), options: reader.choices("options", ActionOption.self) ?? [],
            textInput: reader.object("text_input", known: ["button_title", "placeholder"]).map { input in
                TextInput(
                    buttonTitle: required(input, "button_title", bytes: 1...CategoryLimits.text),
                    placeholder: input.string("placeholder", bytes: 0...CategoryLimits.text) ?? "")
            })
    }

    private func icon(_ reader: FieldReader) -> ActionIcon? {
        guard let icon = reader.object("icon", known: ["system", "template"]) else { return nil }
        let system = icon.string("system", bytes: CategoryLimits.name)
        let template = icon.string("template", bytes: CategoryLimits.name)
        if (icon.value("system") == nil) == (icon.value("template") == nil) {
            reader.addError("icon", "Must have exactly one of system, template.")
        }
        return system.map { .system($0) } ?? template.map { .template($0) }
    }

    // MARK: Content extension

    private func contentExtension(_ reader: FieldReader) -> ContentExtension? {
        let known = [
            "initial_content_size_ratio", "default_content_hidden", "overrides_default_title", "user_interaction",
            "controls",
        ]
        guard let reader = reader.object("extension", known: known) else { return nil }
        let controls =
            reader.objects(
                "controls", known: ["type", "title", "does", "sets", "minimum", "maximum", "value"]) ?? []
        Self.check(controls.count, of: "controls", atMost: CategoryLimits.controls, reader)
        return ContentExtension(
            initialContentSizeRatio: reader.number("initial_content_size_ratio", in: CategoryLimits.ratio) ?? 1,
            defaultContentHidden: reader.bool("default_content_hidden"),
            overridesDefaultTitle: reader.bool("overrides_default_title"),
            userInteraction: reader.bool("user_interaction"), controls: controls.compactMap(control))
    }

    private func control(_ reader: FieldReader) -> ContentControl? {
        let title = required(reader, "title", bytes: 1...CategoryLimits.text)
        guard let kind = required(reader, "type", ContentControl.Kind.self) else { return nil }
        switch kind {
        case .button:
            for name in ["sets", "minimum", "maximum", "value"] where reader.value(name) != nil {
                reader.addError(name, "Must be omitted. A button has only type, title and does.")
            }
            return required(reader, "does", ButtonEffect.self).map { .button(title: title, does: $0) }
        case .slider:
            if reader.value("does") != nil {
                reader.addError(
                    "does", "Must be omitted. A slider has only type, title, sets, minimum, maximum and value.")
            }
            let minimum = reader.number("minimum", in: 0...1) ?? 0
            let maximum = reader.number("maximum", in: 0...1) ?? 1
            let value = reader.number("value", in: 0...1) ?? maximum
            if minimum >= maximum {
                reader.addError("maximum", "Must be more than the minimum.")
            } else if !(minimum...maximum).contains(value) {
                reader.addError("value", "Must be between the minimum and the maximum.")
            }
            return required(reader, "sets", SliderTarget.self).map {
                .slider(title: title, sets: $0, minimum: minimum, maximum: maximum, value: value)
            }
        }
    }

    // MARK: Responses

    private func responses(_ reader: FieldReader) -> ResponseSettings? {
        let known = ["handler", "forward", "record_text", "ttl", "rate"]
        guard let reader = reader.object("responses", known: known) else { return nil }
        let standard = ResponseSettings()
        return ResponseSettings(
            handler: reader.object("handler", known: ["url", "timeout"]).map { handler in
                let standard = ResponseHandler(url: url(handler))
                return ResponseHandler(
                    url: standard.url,
                    timeout: handler.number("timeout", in: CategoryLimits.timeout) ?? standard.timeout)
            },
            forward: reader.object("forward", known: ["url"]).map { ResponseForward(url: url($0)) },
            recordText: reader.bool("record_text") ?? standard.recordText,
            ttl: reader.number("ttl", in: CategoryLimits.ttl) ?? standard.ttl,
            rate: reader.number("rate", in: CategoryLimits.rate) ?? standard.rate)
    }

    private func url(_ reader: FieldReader) -> String {
        if reader.value("url") == nil { reader.addError("url", "Required: the URL to call.") }
        return reader.webhookURL("url", webhooks) ?? ""
    }

    // MARK: Fields

    private func required(_ reader: FieldReader, _ field: String, bytes: ClosedRange<Int>) -> String {
        if reader.value(field) == nil {
            reader.addError(field, "Required. Must be \(Self.span(bytes)) bytes.")
        }
        return reader.string(field, bytes: bytes) ?? ""
    }

    private func required<Choice: RawRepresentable<String> & CaseIterable>(
        _ reader: FieldReader, _ field: String, _ type: Choice.Type
    ) -> Choice? {
        if reader.value(field) == nil {
            reader.addError(
                field, "Required. Must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return reader.choice(field, type)
    }

    private static func check(_ count: Int, of field: String, atMost limit: Int, _ reader: FieldReader) {
        guard count > limit else { return }
        reader.addError(field, "Must be at most \(limit), not \(count).")
    }

    private static func span(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }
}

/// Everything that is wrong with a file, a line for each problem: where it is, and what would do.
public struct FileProblems: Error, Hashable, Sendable {
    public let lines: [String]

    init(_ problem: Problem) {
        lines =
            problem.errors.isEmpty
            ? [problem.detail]
            : problem.errors.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer): \($0.detail)" }
    }
}
