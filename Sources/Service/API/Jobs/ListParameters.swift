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

    /// - Parameters:
    ///   - filters: The parameters that the list is narrowed by; one that ends in a dot is what others begin with.
    ///   - read: Takes them.
    /// - Throws: A problem that names every parameter which can't be taken.
    init(_ request: Request, filters: [String] = [], read: (FieldReader) -> Void = { _ in }) throws(Problem) {
        let errors = ValidationErrors()
        let query = try Query(request).reader(known: filters + ["cursor", "limit"], errors)
        read(query)
        limit = Self.defaultPage
        if let text = query.string("limit") {
            if let number = Int(text), (1...Self.longestPage).contains(number) {
                limit = number
            } else {
                query.addError("limit", "Must be a whole number from 1 to \(Self.longestPage).")
            }
        }
        cursor = Self.cursor(query)
        try errors.check()
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
