/// A part of a list, and where the next part starts.
public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// Nil at the end.
    public var next: String?

    public init(elements: [Element], next: String?) {
        self.elements = elements
        self.next = next
    }

    /// Calls `body` with the elements of all pages.
    public static func forEach(
        of page: (_ cursor: String?) async throws -> Page, _ body: (Element) async throws -> Void
    ) async throws {
        var cursor: String?
        repeat {
            let part = try await page(cursor)
            for element in part.elements { try await body(element) }
            cursor = part.next
        } while cursor != nil
    }
}
