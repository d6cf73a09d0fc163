import SatchelCore
import HTTPTypes

/// What all pages of the console have around them.
struct ConsoleShell: Sendable {
    var content: ConsoleContent
    var section: ConsoleSection?
    /// Nil for whoever isn't signed in.
    var visit: ConsoleVisit?

    /// A page is light and shown as a whole: of one that came in parts, columns and the bar would move as the rest comes (`expect`).
    var html: HTMLText {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(content.title) · Satchel</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="\(Asset.consoleStyle.path)">
        <link rel="expect" href="#status" blocking="render">
        <script type="module" src="\(Asset.consoleScript.path)"></script>
        </head>
        <body>
        <a class="skip" href="#main">Skip to content</a>
        \(header)
        <main id="main" tabindex="-1"\(attributes)>
        \(note)
        \(content.html)
        </main>
        <p class="hidden" id="status" role="status" aria-live="polite"></p>
        <p class="stale" id="stale" hidden></p>
        </body>
        </html>

        """
    }

    private var attributes: HTMLText {
        let refresh: HTMLText = content.refreshes && visit != nil ? " data-refresh=\"2000\"" : ""
        let events = content.events.map { HTMLText(" data-events=\"\($0)\"") } ?? ""
        return "\(refresh)\(events)\(content.says.isEmpty ? "" : HTMLText(" data-says=\"\(content.says)\""))"
    }

    private var note: HTMLText {
        guard let visit, let note = ConsoleNote(name: visit.query["done"]) else { return "" }
        return "<p class=\"note\" id=\"note\">\(note.rawValue)</p>"
    }

    private var header: HTMLText {
        guard let visit else {
            return "<header class=\"bar\"><span class=\"brand\">Satchel</span></header>"
        }
        let sections = ConsoleSection.allCases.compactMap { item -> HTMLText? in
            guard let page = ConsolePage.first(of: item), visit.api.may(page.needs) else { return nil }
            let current: HTMLText = item == section ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(page.path)\"\(current)>\(item.rawValue)</a></li>\n"
        }
        let roles = visit.session.roles.map(\.rawValue).joined(separator: ", ")
        return """
            <header class="bar">
            <a class="brand" href="/console">Satchel</a>
            <nav aria-label="Console"><ul>
            \(sections)</ul></nav>
            <form class="who" method="post" action="/console/sign-out">
            <span>\(isolated: visit.session.tenant.rawValue) <span class="faint">\(roles)</span></span>
            <button>Sign out</button>
            </form>
            </header>
            """
    }
}

extension ConsoleContent {
    /// Why something can't be shown or done.
    init(_ problem: Problem) {
        self.init(
            title: problem.status.reasonPhrase,
            html: """
                <h1>\(problem.status.reasonPhrase)</h1>
                <div class="problem"><p>\(problem.detail.showingInvisible())</p>\(Element.fields(of: problem))
                <p class="faint"><code>\(problem.code)</code></p></div>
                <p><a href="/console">Back to Overview</a></p>
                """,
            refreshes: false, status: problem.status)
    }
}
