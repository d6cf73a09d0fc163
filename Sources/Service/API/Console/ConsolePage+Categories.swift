import SatchelCore
internal import Stores
import HTTPTypes
import Hummingbird
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

    static let category = ConsolePage(
        path: "/console/categories/{id}", section: .categories, needs: .category
    ) { visit in
        let id = try visit.parameter("id")
        let category = try await visit.api.get(.category, ["id": id])
        return categoryPage(id, CategoryEditor(id: id, text: category.laidOut(width: 84)), visit)
    }

    /// The editor beside what is saved.
    static func categoryPage(_ id: String, _ editor: CategoryEditor, _ visit: ConsoleVisit) -> ConsoleContent {
        let path = "/console/categories/\(ConsoleAPI.encoded(id))"
        let delete: HTMLText =
            visit.api.may(.deleteCategory)
            ? Element.ask(
                visit, "delete", "Delete…", "Delete category", "\(path)/delete", back: path, no: "Keep it") : ""
        return ConsoleContent(
            title: "Category \(id)",
            html: """
                <p class="crumb"><a href="/console/categories">Categories</a></p>
                <h1>Category <span class="id">\(id)</span></h1>
                <div class="head"><div class="buttons">\(delete)</div></div>
                \(visit.api.may(.putCategory) ? editor.html : "<pre tabindex=\"0\">\(editor.text.escapingInvisible())</pre>")
                <section aria-labelledby="sample"><h2 id="sample">Preview with a sample payload</h2>
                <iframe class="preview" id="preview" title="Preview of the category" \
                sandbox="allow-scripts allow-forms" src="\(path)/sample"></iframe></section>
                """,
            refreshes: false, status: editor.problem?.status ?? .ok)
    }
}

/// A category as JSON, and what of it can't be taken.
struct CategoryEditor: Sendable {
    /// Empty for a new one.
    var id: String
    var text: String
    var problem: Problem?

    static let sample = """
        {
          "id": "order",
          "actions": [{"id": "reply", "title": "Reply", "options": [], "text_input": {"button_title": "Send", "placeholder": "Message"}}]
        }
        """

    var html: HTMLText {
        let described: HTMLText = problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"json-problem\""
        return """
            <section aria-labelledby="editor"><h2 id="editor">\(id.isEmpty ? "New category" : "Edit as JSON")</h2>
            \(Element.alert(problem, id: "json-problem"))
            <form method="post" action="/console/categories">
            <input type="hidden" name="id" value="\(id)">
            <label for="json">JSON</label>
            <textarea id="json" name="json" rows="16" spellcheck="false" autocomplete="off"\(described)>\
            \(text.escapingInvisible())</textarea>
            <button class="main">Save</button>
            </form></section>
            """
    }
}

extension ConsoleAction {
    static let putCategory = ConsoleAction(path: "/console/categories", needs: .putCategory) { visit in
        let text = visit.form["json"] ?? ""
        let known = visit.form["id"].flatMap { $0.isEmpty ? nil : $0 }
        let named = (try? JSONDocument.read(Array(text.utf8), .passedOn).root)?["id"]?.text
        guard let id = known ?? named, !id.isEmpty else {
            let problem = Problem.invalid("/id", "Required, such as \"order\".")
            return .stay(ConsolePage.categoryPage("", CategoryEditor(id: "", text: text, problem: problem), visit))
        }
        do {
            _ = try await visit.api.send(.putCategory, ["id": id], body: Array(text.utf8))
        } catch let problem as Problem {
            let editor = CategoryEditor(id: known ?? "", text: text, problem: problem)
            return .stay(ConsolePage.categoryPage(id, editor, visit))
        }
        return .see("/console/categories/\(ConsoleAPI.encoded(id))", .saved)
    }
}

/// What a notification of a category looks like, with a payload of ours: on a page of an origin of its own, which the cookie
/// lets in and which then has none.
struct CategorySample: Sendable {
    let visit: ConsoleVisit

    init(_ visit: ConsoleVisit) {
        self.visit = visit
    }

    func response() async throws -> Response {
        guard visit.api.may(.category),
            let category = try await visit.service.records.category(
                visit.parameter("id"), of: visit.session.tenant)
        else { throw Problem.notFound }
        let alert = JSONValue(members: [
            ("title", JSONValue("Your order")), ("subtitle", JSONValue("No. 88213")),
            ("body", JSONValue("It is on its way and arrives between 10 and 12.")),
        ])
        let aps = JSONValue(members: [
            ("alert", alert), ("category", JSONValue(category.id)), ("mutable-content", JSONValue(1)),
        ])
        let page = PreviewPage(
            preview: NotificationPreview(payload: JSONValue(members: [("aps", aps)]).bytes, category: category),
            appearance: PreviewAppearance(visit.request))
        let policy = PagePolicy()
        return policy.sandboxed(page.html(policy))
    }
}
