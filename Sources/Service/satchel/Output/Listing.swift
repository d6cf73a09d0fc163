import SatchelCore

/// Writes a list from the store page by page, and reports if it is empty or incomplete.
struct Listing {
    /// The maximum number of elements; 0 for all.
    let limit: Int
    /// The plural noun for the elements.
    let what: String

    /// - Parameters:
    ///   - page: Returns up to `limit` elements after a cursor.
    ///   - isSparse: Whether most elements may be filtered out, so that larger pages are read.
    ///   - isShown: Returns whether to list an element.
    func run<Element>(
        _ page: (_ cursor: String?, _ limit: Int) async throws -> Page<Element>,
        isSparse: Bool = false, where isShown: (Element) -> Bool = { _ in true }, write: (Element) throws -> Void
    ) async throws {
        let most = limit == 0 ? Int.max : limit
        var cursor: String?
        var count = 0
        var isCutShort = false
        repeat {
            // Reads one element more than is shown, to know whether there are more.
            let part = try await page(cursor, isSparse ? 500 : min(most - count, 499) + 1)
            for element in part.elements where isShown(element) {
                isCutShort = count == most
                if isCutShort { break }
                try write(element)
                count += 1
            }
            cursor = part.next
        } while cursor != nil && !isCutShort
        if count == 0 { Console.printError("No \(what) found.") }
        if isCutShort { Console.printError("There are more. Use --limit 0 to list all.") }
    }
}
