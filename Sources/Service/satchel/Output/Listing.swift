import SatchelCore

/// Writes what is in the store page by page, and says where there is nothing or more.
struct Listing {
    /// At most this many; 0 for all.
    let limit: Int
    /// What is listed, in the plural.
    let what: String

    /// - Parameters:
    ///   - page: The next elements after a cursor, at most so many.
    ///   - isSparse: Whether few of them may be listed, so that many are looked at.
    ///   - isShown: Which of them are listed.
    func run<Element>(
        _ page: (_ cursor: String?, _ limit: Int) async throws -> Page<Element>,
        isSparse: Bool = false, where isShown: (Element) -> Bool = { _ in true }, write: (Element) throws -> Void
    ) async throws {
        let most = limit == 0 ? Int.max : limit
        var cursor: String?
        var count = 0
        var isCutShort = false
        repeat {
            // One more than is shown tells whether there is more.
            let part = try await page(cursor, isSparse ? 500 : min(most - count, 499) + 1)
            for element in part.elements where isShown(element) {
                isCutShort = count == most
                if isCutShort { break }
                try write(element)
                count += 1
            }
            cursor = part.next
        } while cursor != nil && !isCutShort
        if count == 0 { Console.printError("There are no such \(what) in the store.") }
        if isCutShort { Console.printError("There are more; --limit 0 lists them all.") }
    }
}
