import SatchelCore
import FoundationEssentials
import Hummingbird

/// What part of a list is asked for.
struct ListParameters {
    static let longestPage = 100
    static let defaultPage = 50

    /// The store's own.
    var cursor: String?
    var limit: Int

    /// Reads the parameters of a list.
    ///
    /// - Parameters:
    ///   - filters: The parameters that the list is narrowed by; one that ends in a dot is what others begin with.
    ///   - read: Takes them.
    /// - Throws: A problem that names every parameter which can't be taken.
    static func read<Filter>(
        _ request: Request, _ filters: [String] = [], _ read: (FieldReader) -> Filter = { _ in () }
    ) throws(Problem) -> (filter: Filter, part: ListParameters) {
        try request.parameters(filters + ["cursor", "limit"]) { query in (read(query), ListParameters(query)) }
    }

    private init(_ query: FieldReader) {
        limit = Self.defaultPage
        if let text = query.string("limit") {
            if let number = Int(text), (1...Self.longestPage).contains(number) {
                limit = number
            } else {
                query.addError("limit", "Must be a whole number from 1 to \(Self.longestPage).")
            }
        }
        cursor = Self.cursor(query)
    }

    /// A cursor as clients see it: opaque, and fit for a URL.
    static func cursor(_ storeCursor: String) -> String {
        Data("v1:\(storeCursor)".utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// The store's own, of a field `cursor`.
    static func cursor(_ fields: FieldReader) -> String? {
        guard let text = fields.string("cursor") else { return nil }
        let cursor = decode(text)
        if cursor == nil { fields.addError("cursor", "Must be the 'next' of a previous page.") }
        return cursor
    }

    private static func decode(_ text: String) -> String? {
        guard let data = Data(anyBase64: text), let decoded = String(validating: data, as: UTF8.self),
            decoded.hasPrefix("v1:"), decoded.utf8.count <= 128
        else { return nil }
        return String(decoded.dropFirst(3))
    }
}

extension RouteTable {
    /// Answers a list page by page: its elements under `name`, and `next`.
    ///
    /// - Parameters:
    ///   - filters: As in ``ListParameters/read(_:_:_:)``.
    ///   - page: Finds a part of what the filter lets through.
    ///   - body: Shows an element.
    func list<Filter, Element: Sendable, Body: Encodable & Sendable>(
        _ endpoint: Endpoint, as name: String, by filters: [String] = [],
        read: @escaping @Sendable (FieldReader) -> Filter,
        page: @escaping @Sendable (Filter, ServiceContext, ListParameters) async throws -> Page<Element>,
        body: @escaping @Sendable (Element) async throws -> Body
    ) {
        on(endpoint) { request, context in
            let (filter, part) = try ListParameters.read(request, filters, read)
            let page = try await page(filter, context, part)
            var bodies: [Body] = []
            for element in page.elements { bodies.append(try await body(element)) }
            return try .json([name: bodies, "next": page.next.map(ListParameters.cursor)] as JSONFields)
        }
    }
}

extension RecordFilter {
    /// The filters of lists of jobs and attachments.
    static let parameters = [
        "state", "kind", "code", "profile", "identifier", "since", "before", labelPrefix,
    ]
    private static let labelPrefix = "metadata."
    /// Pairs of metadata that may be asked for at once.
    private static let mostLabels = 10

    /// - Parameter query: Of these parameters; what can't be taken is a validation error.
    init(_ query: FieldReader) {
        self.init(
            state: query.choice("state", WorkState.self), kind: query.choice("kind", MediaKind.self),
            code: query.choice("code", ErrorCode.self), profile: query.string("profile"),
            identifier: query.string("identifier"), since: query.instant("since"), before: query.instant("before"))
        let names = query.names.filter { $0.hasPrefix(Self.labelPrefix) }
        if let first = names.first, names.count > Self.mostLabels {
            query.addError(first, "Must not be more than \(Self.mostLabels) pairs of metadata at once.")
        }
        for name in names.prefix(Self.mostLabels) {
            guard let value = query.string(name) else { continue }
            if value.utf8.count > JobLabel.longestValue {
                query.addError(
                    name, "Must be at most \(JobLabel.longestValue) bytes. Longer values cannot be searched.")
            }
            labels.insert(JobLabel(String(name.dropFirst(Self.labelPrefix.count)), value))
        }
    }
}

extension FieldReader {
    /// A moment as RFC 3339 writes it, with its offset.
    func instant(_ field: String) -> Instant? {
        guard let text = string(field) else { return nil }
        guard let instant = WrittenTime(text)?.instant else {
            addError(field, "Must be a time with an offset, such as 2026-11-21T10:15:00Z.")
            return nil
        }
        return instant
    }
}
