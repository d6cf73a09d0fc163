import SatchelCore
import Payloads

extension ConsolePage {
    static let categories = ConsolePage(
        path: "/console/categories", section: .categories, needs: .listCategories
    ) { visit in
        let list = try await visit.api.get(.listCategories)
        let rows = (list["categories"]?.elements ?? []).map { category -> [HTMLText] in
            let id = category["id"]?.text ?? ""
            let actions = (category["actions"]?.elements ?? []).compactMap { $0["title"]?.text }
            let responses = category["responses"]
            return [
                "<a class=\"id\" href=\"/console/categories/\(ConsoleAPI.encoded(id))\">\(id)</a>",
                Element.text(actions.joined(separator: ", ")), Element.text(category["profile"]?.text),
                "\(category["extension"]?.isNull == false ? "yes" : "no")",
                Element.text(responses?["handler"]?["url"]?.text),
            ]
        }
        let table: HTMLText =
            rows.isEmpty
            ? "<p class=\"empty\">No categories yet. Create one below.</p>"
            : Element.table(
                "Categories", ["Category", "Actions", "Profile", "Content extension", "Handler"], rows,
                id: "categories-table")
        let exports = ["swift", "plist"].map { "/console/categories?as=\($0)" }
        return ConsoleContent(
            title: "Categories",
            html: """
                <h1>Categories</h1>
                \(table)
                \(try await export(visit))
                <p><a href="\(exports[0])">As Swift</a> · <a href="\(exports[1])">As Info.plist fragment</a></p>
                \(visit.api.may(.putCategory) ? CategoryEditor(id: "", text: CategoryEditor.sample).html : "")
                """,
            refreshes: false)
    }

    /// All categories, to be copied into an app.
    private static func export(_ visit: ConsoleVisit) async throws -> HTMLText {
        guard let form = visit.filter("as"), ["swift", "plist"].contains(form) else { return "" }
        let text = try await visit.api.send(.listCategories, query: [("as", form)]).text
        return """
            <section aria-labelledby="export"><h2 id="export">\(form == "swift" ? "Swift" : "Info.plist")</h2>
            <pre tabindex="0" data-copy>\(text.escapingInvisible())</pre></section>
            """
    }
}
