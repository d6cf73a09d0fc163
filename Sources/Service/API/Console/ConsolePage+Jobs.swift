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

    static let job = ConsolePage(path: "/console/jobs/{id}", section: .jobs, needs: .job) { visit in
        let id = try visit.parameter("id")
        let job = try await visit.api.get(.job, ["id": id])
        let state = job["state"]?.text ?? ""
        let attachments = job["attachments"]?.elements ?? []
        let many = attachments.count > 1 ? "\(attachments.count) attachments" : "1 attachment"
        return ConsoleContent(
            title: "Job \(id)",
            html: """
                <p class="crumb"><a href="/console/jobs">Jobs</a></p>
                <h1>Job <span class="id">\(id)</span></h1>
                <div class="head">\(Element.state(state)) <span class="faint">\(many)</span>\
                \(jobButtons(job, visit))</div>
                \(attachments.map { jobAttachment($0, visit) })
                <section aria-labelledby="about"><h2 id="about">Details</h2>
                \(Element.facts(jobFacts(job)))
                \(callback(job["callback"]))
                \(Element.json("Raw JSON", job))</section>
                """,
            says: "The job is \(state).",
            events: ["pending", "running"].contains(state) && visit.api.may(.jobEvents)
                ? "/console/jobs/\(ConsoleAPI.encoded(id))/events" : nil)
    }

    private static func jobButtons(_ job: JSONValue, _ visit: ConsoleVisit) -> HTMLText {
        let path = "/console/jobs/\(ConsoleAPI.encoded(job["id"]?.text ?? ""))"
        var buttons: [HTMLText] = []
        switch job["state"]?.text {
        case "failed", "cancelled":
            if visit.api.may(.retryJob) { buttons.append(Element.button("Retry", "\(path)/retry", kind: "main")) }
        case "pending", "running":
            if visit.api.may(.deleteJob) { buttons.append(Element.button("Cancel", "\(path)/cancel")) }
        default: break
        }
        let isOver = !["pending", "running"].contains(job["state"]?.text ?? "")
        if isOver, job["callback"]?.isNull == false, visit.api.may(.replayWebhook) {
            buttons.append(Element.button("Repeat callback", "\(path)/callback"))
        }
        if isOver, visit.api.may(.deleteJob) {
            buttons.append(
                Element.ask(
                    visit, "delete", "Delete…", "Delete job and files", "\(path)/delete", back: path, no: "Keep it"))
        }
        return "<div class=\"buttons\">\(buttons)</div>"
    }

    private static func jobFacts(_ job: JSONValue) -> [(String, HTMLText)] {
        let metadata = (job["metadata"]?.members ?? []).map { "\($0.key)=\($0.value.text ?? "")" }
        return [
            ("Profile", Element.text(job["profile"]?.text)), ("Mode", Element.text(job["mode"]?.text)),
            ("Created", Element.time(job["created_at"]?.text)), ("Finished", Element.time(job["finished_at"]?.text)),
            ("Deadline", Element.time(job["deadline_at"]?.text)),
            ("Metadata", metadata.isEmpty ? "" : Element.text(metadata.joined(separator: ", "))),
        ]
    }

    private static func callback(_ call: JSONValue?) -> HTMLText {
        guard let call, !call.isNull else { return "" }
        return """
            <h3>Callback</h3>
            \(Element.facts([
                ("State", Element.state(call["state"]?.text)),
                ("Attempts", "\(Int(call["attempts"]?.number ?? 0))"), ("Next attempt", Element.time(call["next_at"]?.text)),
                ("Reason", Element.text(call["reason"]?.text)),
            ]))
            """
    }

    /// One attachment on its job's page: why it failed comes first, then what was made of what.
    static func jobAttachment(_ attachment: JSONValue, _ visit: ConsoleVisit) -> HTMLText {
        let id = attachment["id"]?.text ?? ""
        let identifier = attachment["identifier"]?.text ?? ""
        let name = attachment["source"]?["name"]?.text
        let title = name.map { "\(identifier): \($0)" } ?? identifier
        let steps = attachment["steps"]?.elements ?? []
        let result = attachment["result"]?.text
        let reason = steps.last { $0["name"]?.text == "fidelity" }?["note"]?.text
        let shown = attachment["best"]?.text.flatMap { role in
            attachment["renditions"]?[role].map { Element.player(attachment, role, $0) }
        }
        return """
            <section class="attachment" id="attachment-\(id)" aria-labelledby="title-\(id)">
            <h2 id="title-\(id)">\(isolated: title.showingInvisible())</h2>
            <div class="columns"><div class="look">\(shown ?? Element.thumbnail(attachment))</div>
            <div>
            <p>\(Element.state(attachment["state"]?.text))\
            \(result.map { HTMLText(" <strong>\($0)</strong>") } ?? "")\
            \(reason.map { HTMLText(": \(Element.text($0))") } ?? "")</p>
            \(Element.error(attachment["error"]))
            \(sourceFacts(attachment))
            \(Element.bytesPlot(attachment))
            <p><a href="/console/attachments/\(ConsoleAPI.encoded(id))">Renditions, access, record</a></p>
            </div></div>
            \(Element.timeline(steps))
            </section>
            """
    }

    private static func sourceFacts(_ attachment: JSONValue) -> HTMLText {
        let source = attachment["source"]
        let type = source?["decoded_type"]?.text ?? source?["sniffed_type"]?.text ?? source?["declared_type"]?.text
        let declared = source?["declared_type"]?.text
        let renditions = (attachment["renditions"]?.members ?? []).map { member -> HTMLText in
            "<li>\(member.key): \(member.value["media_type"]?.text ?? ""), \(Element.extent(member.value)), \(Element.bytes(member.value["bytes"]))</li>\n"
        }
        return Element.facts([
            (
                "Source",
                "\([type, Element.extent(source), Element.bytes(source?["bytes"])].compactMap(\.self).filter { !["", "–"].contains($0) }.joined(separator: ", "))"
            ),
            ("Host", Element.text(source?["host"]?.text)),
            ("Declared as", declared == type ? "" : Element.text(declared)),
            ("Renditions", renditions.isEmpty ? "" : "<ul>\n\(renditions)</ul>"),
        ])
    }
}

extension ConsoleAction {
    /// A job that has ended meanwhile is not deleted. That needs a request of its own.
    static let cancelJob = ConsoleAction(path: "/console/jobs/{id}/cancel", needs: .deleteJob) { visit in
        let id = try visit.parameter("id")
        let page = "/console/jobs/\(ConsoleAPI.encoded(id))"
        let job = try await visit.api.get(.job, ["id": id])
        guard ["pending", "running"].contains(job["state"]?.text ?? "") else { return .see(page, .endedBefore) }
        _ = try await visit.api.send(.deleteJob, ["id": id])
        return .see(page, .cancelled)
    }
}
