import SatchelCore
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Ingest
import Jobs
import NIOCore
import Payloads

/// Everything that is wrong with a request, gathered while it is read to its end.
final class ValidationErrors {
    private(set) var fields: [Problem.Field] = []
    private var refusal: Problem?

    func add(_ pointer: String, _ detail: String) {
        fields.append(Problem.Field(pointer: pointer, detail: detail))
    }

    /// Adds one that is understood, but asks for what can't be done. Alone it makes the problem of that code, with 422.
    func refuse(_ pointer: String, _ code: String, _ detail: String) {
        refusal = Problem(.unprocessableContent, code, detail, errors: [.init(pointer: pointer, detail: detail)])
        add(pointer, detail)
    }

    /// - Throws: One problem that names all of them, where there are any.
    func check() throws(Problem) {
        if let refusal, fields == refusal.errors { throw refusal }
        guard fields.isEmpty else {
            throw .invalid("The request is invalid. See 'errors' for each problem.", fields)
        }
    }
}

/// Reads an object field by field. What is wrong goes to the errors, by the field's JSON pointer or, where the
/// object stands for a query, by its parameter; `null` is as good as absent.
struct FieldReader {
    /// How a field is called.
    enum Naming {
        /// A JSON pointer to the object.
        case pointer(String)
        /// What the object's parameters begin with.
        case parameter(String)

        func name(_ field: String) -> String {
            switch self {
            case .pointer(let base):
                base + "/" + field.replacing("~", with: "~0").replacing("/", with: "~1")
            case .parameter(let prefix): prefix + field
            }
        }
    }

    let naming: Naming
    let errors: ValidationErrors
    private let members: [String: JSONValue]

    /// - Parameter known: All fields that the object may have; nil where the names are the client's.
    init(
        _ members: [(key: String, value: JSONValue)], named naming: Naming, known: [String]?, _ errors: ValidationErrors
    ) {
        self.naming = naming
        self.errors = errors
        self.members = Dictionary(members) { first, _ in first }
        guard let known else { return }
        refuseOthers(than: known, among: members.map(\.key))
    }

    /// Reads a whole body.
    ///
    /// - Parameter known: As in ``init(_:named:known:_:)``.
    /// - Throws: A problem where it is no JSON or no object.
    init(body: some Sequence<UInt8>, known: [String]?, _ errors: ValidationErrors) throws(Problem) {
        let root: JSONValue
        do {
            root = try JSONDocument.read(Array(body), .requestBody).root
        } catch {
            throw Problem(.badRequest, "invalid_json", "The body is not valid JSON: \(error).")
        }
        guard case .object = root else { throw .invalid("", "The body must be a JSON object, not \(root.kind).") }
        self.init(root.members, named: .pointer(""), known: known, errors)
    }

    /// Refuses fields that the object may not have, where only another field tells which those are.
    func refuseOthers(than known: [String]) {
        refuseOthers(than: known, among: names)
    }

    private func refuseOthers(than known: [String], among names: [String]) {
        for name in names where !known.contains(name) {
            addError(name, "Unknown field. Must be one of \(known.joined(separator: ", ")).")
        }
    }

    func addError(_ field: String, _ detail: String) {
        errors.add(naming.name(field), detail)
    }

    /// What is understood, but asks for what can't be done: see ``ValidationErrors/refuse(_:_:_:)``.
    func refuse(_ field: String, _ code: String, _ detail: String) {
        errors.refuse(naming.name(field), code, detail)
    }

    /// The names of all fields that are there.
    var names: [String] { members.keys.sorted() }

    /// Nil where it is absent or null.
    func value(_ field: String) -> JSONValue? {
        members[field].flatMap { $0.isNull ? nil : $0 }
    }

    private func mismatch(_ field: String, _ wanted: String, _ value: JSONValue) {
        addError(field, "Must be \(wanted), not \(value.kind).")
    }

    /// - Parameter bytes: How long it may be, as UTF-8.
    func string(_ field: String, bytes: ClosedRange<Int> = 0...8192) -> String? {
        guard let value = value(field) else { return nil }
        guard let text = value.text else {
            mismatch(field, "a string", value)
            return nil
        }
        guard bytes.contains(text.utf8.count) else {
            addError(
                field, "Must be \(bytes.lowerBound) to \(bytes.upperBound) bytes, not \(text.utf8.count).")
            return nil
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            addError(field, "Must not contain control characters.")
            return nil
        }
        return text
    }

    func number(_ field: String, in range: ClosedRange<Double>) -> Double? {
        guard let value = value(field) else { return nil }
        guard let number = value.number else {
            mismatch(field, "a number", value)
            return nil
        }
        guard range.contains(number) else {
            addError(field, "Must be between \(Self.text(range.lowerBound)) and \(Self.text(range.upperBound)).")
            return nil
        }
        return number
    }

    func integer(_ field: String, in range: ClosedRange<Int>) -> Int? {
        guard let number = number(field, in: Double(range.lowerBound)...Double(range.upperBound)) else { return nil }
        guard number == number.rounded() else {
            addError(field, "Must be a whole number.")
            return nil
        }
        return Int(number)
    }

    func bool(_ field: String) -> Bool? {
        guard let value = value(field) else { return nil }
        guard let truth = value.boolean else {
            mismatch(field, "true or false", value)
            return nil
        }
        return truth
    }

    /// One of the cases of an enumeration, by its raw value.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ field: String, _ type: Choice.Type) -> Choice? {
        choice(field, among: Array(Choice.allCases))
    }

    /// One of these values, by its raw value.
    func choice<Choice: RawRepresentable<String>>(_ field: String, among choices: [Choice]) -> Choice? {
        guard let text = string(field) else { return nil }
        let choice = choices.first { $0.rawValue == text }
        if choice == nil { addError(field, Self.unknown(choices)) }
        return choice
    }

    /// Cases of an enumeration, each once, from an array of their raw values.
    func choices<Choice: RawRepresentable<String> & CaseIterable & Equatable>(
        _ field: String, _ type: Choice.Type
    ) -> [Choice]? {
        guard let texts = strings(field) else { return nil }
        var choices: [Choice] = []
        for (pointer, text) in texts {
            if let choice = Choice(rawValue: text) {
                if !choices.contains(choice) { choices.append(choice) }
            } else {
                errors.add(pointer, Self.unknown(Array(Choice.allCases)))
            }
        }
        return choices
    }

    private static func unknown(_ choices: [some RawRepresentable<String>]) -> String {
        "Must be one of \(choices.map(\.rawValue).joined(separator: ", "))."
    }

    /// An object within the object.
    ///
    /// - Parameter known: As in ``init(_:named:known:_:)``.
    func object(_ field: String, known: [String]?) -> FieldReader? {
        guard let value = value(field) else { return nil }
        return Self.object(value, named: naming.name(field), known: known, errors)
    }

    /// The objects of an array.
    func objects(_ field: String, known: [String]) -> [FieldReader]? {
        guard let value = value(field) else { return nil }
        guard case .array = value else {
            mismatch(field, "an array", value)
            return nil
        }
        return value.elements.enumerated().compactMap { index, element in
            Self.object(element, named: "\(naming.name(field))/\(index)", known: known, errors)
        }
    }

    /// The strings of an array, each with its pointer.
    func strings(_ field: String) -> [(pointer: String, text: String)]? {
        guard let value = value(field) else { return nil }
        guard case .array = value else {
            mismatch(field, "an array of strings", value)
            return nil
        }
        return value.elements.enumerated().compactMap { index, element in
            let pointer = "\(naming.name(field))/\(index)"
            guard let text = element.text else {
                errors.add(pointer, "Must be a string, not \(element.kind).")
                return nil
            }
            return (pointer, text)
        }
    }

    private static func object(
        _ value: JSONValue, named pointer: String, known: [String]?, _ errors: ValidationErrors
    ) -> FieldReader? {
        guard case .object = value else {
            errors.add(pointer, "Must be an object, not \(value.kind).")
            return nil
        }
        return FieldReader(value.members, named: .pointer(pointer), known: known, errors)
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 9.2e18 ? "\(Int64(number))" : "\(number)"
    }
}

extension FieldReader {
    /// Reads the fields of a body.
    ///
    /// - Parameter isOptional: Whether an empty body has no fields, rather than being refused.
    /// - Throws: A problem that names every field which can't be taken.
    static func read<Value>(
        _ body: ByteBuffer, _ known: [String], isOptional: Bool = false, _ read: (FieldReader) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        let errors = ValidationErrors()
        let reader =
            if isOptional && body.readableBytes == 0 {
                FieldReader([], named: .pointer(""), known: known, errors)
            } else {
                try FieldReader(body: body.readableBytesView, known: known, errors)
            }
        let value = try read(reader)
        try errors.check()
        return value
    }
}

extension Request {
    /// Bytes of a body that has a few small fields.
    private static let bodyLimit: Int64 = 16 << 10

    /// Reads the fields of a small JSON body; see ``FieldReader/read(_:_:isOptional:_:)``.
    func fields<Value>(
        _ known: [String], isOptional: Bool = false, _ read: (FieldReader) throws(Problem) -> Value
    ) async throws -> Value {
        try FieldReader.read(
            try await IncomingBody.json(of: self, limit: Self.bodyLimit), known, isOptional: isOptional, read)
    }

    /// Reads the parameters of the query.
    ///
    /// - Throws: A problem that names every parameter which can't be taken.
    func parameters<Value>(_ known: [String], _ read: (FieldReader) -> Value) throws(Problem) -> Value {
        let errors = ValidationErrors()
        let value = read(try Query(self).reader(known: known, errors))
        try errors.check()
        return value
    }
}

extension JSONRules {
    /// Of a body that is read field by field; its bytes were limited as they came.
    static let requestBody = JSONRules(depth: 32, bytes: .max, members: 10_000, isInteroperable: true)
}

extension JSONValue {
    /// What an error calls it.
    fileprivate var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .literal: isNull ? "null" : boolean == nil ? "a number" : "a boolean"
        }
    }
}

/// Fields whose values depend on what the service is set to.
extension FieldReader {
    /// A URL that may be called, where it is one. Where its host's name leads is looked at with each call.
    func webhookURL(_ field: String, _ webhooks: FetchGuard) -> String? {
        guard let text = string(field, bytes: 1...FetchURL.maximumLength) else { return nil }
        do throws(AttachmentError) {
            try webhooks.check(FetchURL(text))
            return text
        } catch {
            refuse(field, error.code.rawValue, WebhookFailure.message(error))
            return nil
        }
    }

    /// The name of one of these profiles.
    func profile(among profiles: [String]) -> String? {
        guard let name = string("profile") else { return nil }
        guard profiles.contains(name) else {
            addError(
                "profile", "'\(name.prefix(64))' is not a profile. Must be one of \(profiles.joined(separator: ", ")).")
            return nil
        }
        return name
    }
}
