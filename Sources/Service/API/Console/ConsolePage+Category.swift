import SatchelCore
import HTTPTypes
import Payloads

extension ConsolePage {
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
            !visit.api.may(.deleteCategory)
            ? ""
            : visit.query["confirm"] == "delete"
                ? "\(Element.button("Delete category", "\(path)/delete", kind: "danger"))<a class=\"button\" href=\"\(path)\">Keep it</a>"
                : "<a class=\"button\" href=\"\(path)?confirm=delete\">Delete…</a>"
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
        let fields = (problem?.errors ?? []).map { field -> HTMLText in
            "<li><code>\(field.pointer)</code> \(field.detail.showingInvisible())</li>\n"
        }
        let list: HTMLText = fields.isEmpty ? "" : "<ul>\n\(fields)</ul>"
        let alert: HTMLText =
            problem.map { problem in
                """
                <div class="problem" role="alert" id="json-problem"><p>\(problem.detail.showingInvisible())</p>\(list)</div>
                """
            } ?? ""
        let described: HTMLText = problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"json-problem\""
        return """
            <section aria-labelledby="editor"><h2 id="editor">\(id.isEmpty ? "New category" : "Edit as JSON")</h2>
            \(alert)
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

    static let deleteCategory = ConsoleAction(
        path: "/console/categories/{id}/delete", needs: .deleteCategory
    ) { visit in
        _ = try await visit.api.send(.deleteCategory, ["id": visit.parameter("id")])
        return .see("/console/categories", .deleted)
    }
}
