import SatchelCore
import Payloads

extension ConsolePage {
    static let jobs = ConsolePage(path: "/console/jobs", section: .jobs, needs: .listJobs) { visit in
        let filters = RecordFilterForm(visit)
        let list = try await visit.api.get(
            .listJobs, query: filters.query + [("cursor", visit.filter("cursor")), ("limit", "25")])
        let jobs = list["jobs"]?.elements ?? []
        let rows = jobs.map { row($0, visit) }
        let table: HTMLText =
            jobs.isEmpty
            ? Element.empty("jobs", "/console/jobs", visit)
            : Element.table(
                "Jobs, newest first", ["", "Job", "State", "Source", "Duration", "Created"], rows, id: "jobs-table")
        return ConsoleContent(
            title: "Jobs",
            html: """
                <h1>Jobs</h1>
                \(filters.html("/console/jobs"))
                \(table)
                \(Element.more(visit, "/console/jobs", RecordFilterForm.names, list["next"]))
                """)
    }

    /// A line of a list of jobs.
    static func row(_ job: JSONValue, _ visit: ConsoleVisit) -> [HTMLText] {
        let attachments = job["attachments"]?.elements ?? []
        let pictures = attachments.prefix(4).map(Element.thumbnail)
        let more: HTMLText = attachments.count > 4 ? "<span class=\"faint\">+\(attachments.count - 4)</span>" : ""
        let codes = attachments.compactMap { $0["error"]?["code"]?.text }
        let code: HTMLText = codes.first.map { " <code>\($0)</code>" } ?? ""
        let names = attachments.map { $0["source"]?["name"]?.text ?? $0["identifier"]?.text ?? "" }
        let took = Instant(job["created_at"]?.text ?? "").flatMap { start in
            Instant(job["finished_at"]?.text ?? "").map { Double($0.milliseconds - start.milliseconds) / 1000 }
        }
        return [
            "<span class=\"pictures\">\(Array(pictures))\(more)</span>", jobLink(job["id"]?.text),
            "\(Element.state(job["state"]?.text))\(code)", Element.text(names.prefix(3).joined(separator: ", ")),
            "\(took.map(Element.span) ?? "–")", Element.age(job["created_at"]?.text, at: visit.now),
        ]
    }

    static func jobLink(_ id: String?) -> HTMLText {
        guard let id else { return "–" }
        return "<a class=\"id\" href=\"/console/jobs/\(ConsoleAPI.encoded(id))\">\(id)</a>"
    }
}
