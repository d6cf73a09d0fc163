import SatchelCore
import Payloads

/// What lists of jobs and attachments are narrowed by, in the URL of a page as in that of the API.
struct RecordFilterForm: Sendable {
    /// Parameters of a page.
    static let names = ["state", "code", "kind", "profile", "identifier", "metadata", "since", "before"]

    private let visit: ConsoleVisit

    init(_ visit: ConsoleVisit) {
        self.visit = visit
    }

    /// As the API takes them.
    var query: [(String, String?)] {
        Self.names.compactMap { name in
            guard let value = visit.filter(name) else { return nil }
            switch name {
            case "metadata":
                let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return ("metadata.\(parts[0])", parts.count > 1 ? parts[1] : "")
            case "since", "before": return (name, Self.instant(value))
            default: return (name, value)
            }
        }
    }

    /// A browser's field for a time says it without seconds and zone.
    private static func instant(_ text: String) -> String {
        text.utf8.count == 16 ? text + ":00Z" : text
    }

    func html(_ path: String) -> HTMLText {
        let rare = ["profile", "identifier", "metadata", "since", "before"]
        let open: HTMLText = rare.contains { visit.filter($0) != nil } ? " open" : ""
        return Element.filters(
            path,
            [
                Element.choice(visit, "state", "State", WorkState.allCases.map(\.rawValue)),
                Element.choice(visit, "code", "Code", ErrorCode.allCases.map(\.rawValue).sorted()),
                Element.choice(visit, "kind", "Kind", MediaKind.allCases.map(\.rawValue)),
                """
                <details class="rare" id="rare"\(open)><summary>More filters</summary><div>
                \(Element.choice(visit, "profile", "Profile", visit.service.profiles.map(\.name)))
                \(Element.field(visit, "identifier", "Identifier", example: "photo"))
                \(Element.field(visit, "metadata", "Metadata", example: "order=88213"))
                \(time("since", "Since, UTC"))
                \(time("before", "Before, UTC"))
                </div></details>
                """,
            ])
    }

    private func time(_ name: String, _ label: String) -> HTMLText {
        """
        <label>\(label) <input type="datetime-local" name="\(name)" value="\(String((visit.filter(name) ?? "").prefix(16)))"></label>

        """
    }
}
