import SatchelCore
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Payloads
import Platform

/// A payload and files as they will be sent some day: prepared, enriched, and shown, for an hour.
extension ConsolePage {
    static let attempt = ConsolePage(path: "/console/try", section: .attempt, needs: .submitNotification) { visit in
        attemptPage(visit)
    }

    private static let samplePayload = """
        {
          "aps": {
            "alert": {"title": "Your order", "body": "It is on its way."},
            "mutable-content": 1
          }
        }
        """

    /// The form, with what is wrong with what was sent.
    fileprivate static func attemptPage(
        _ visit: ConsoleVisit, _ payload: String? = nil, _ problem: Problem? = nil
    ) -> ConsoleContent {
        ConsoleContent(
            title: "Try",
            html: """
                <h1>Try</h1>
                <p class="faint">Shows how a notification looks with its media. Nothing is sent, and everything is deleted after an hour.</p>
                \(Element.alert(problem, id: "try-problem"))
                <section aria-labelledby="try"><h2 id="try">Notification</h2>
                <form class="try" method="post" action="/console/try" enctype="multipart/form-data">
                <label for="payload">APNs payload (Satchel fetches the media URLs in it)</label>
                <textarea id="payload" name="payload" rows="14" spellcheck="false" autocomplete="off">\
                \((payload ?? samplePayload).escapingInvisible())</textarea>
                <label for="files">Files (at most \(ConsoleTry.mostFiles); you can drop them here)</label>
                <input id="files" name="files" type="file" multiple accept="image/*,video/*,audio/*">
                <button class="main">Prepare and preview</button>
                </form></section>
                """,
            refreshes: false, status: problem?.status ?? .ok)
    }
}

extension ConsoleAction {
    static let submitAttempt = ConsoleAction(path: "/console/try", needs: .submitNotification) { visit in
        let form = try await ConsoleTry(visit.request)
        do {
            return .see(try await form.prepared(by: visit), .previewed)
        } catch let problem as Problem {
            return .stay(ConsolePage.attemptPage(visit, form.payload, problem))
        }
    }
}

/// What was pasted and dropped, as a notification that nobody is handed.
struct ConsoleTry: Sendable {
    /// As many as a job has.
    static let mostFiles = 10
    /// Bytes of a form, which is kept in memory meanwhile.
    private static let limit: Int64 = 32 << 20
    /// How long it is kept.
    private static let life: Duration = .seconds(3600)

    private(set) var payload = ""
    private var files: [(name: String, type: String?, bytes: [UInt8])] = []

    init(_ request: Request) async throws {
        guard let type = request.headers[.contentType].flatMap({ HeaderParameters($0) }),
            let boundary = type["boundary"]
        else { throw Problem.invalid("The request is not a form. Open the page and submit its form.") }
        let body = try await IncomingBody(request, limit: Self.limit).collect()
        var head: MultipartHead?
        var bytes: [UInt8] = []
        do {
            var parser = try MultipartParser(boundary: boundary)
            for event in try parser.feed(body) {
                switch event {
                case .begin(let next): (head, bytes) = (next, [])
                case .bytes(let piece): bytes += Array(piece.readableBytesView)
                case .end:
                    if head?.name == "payload" { payload = String(decoding: bytes, as: UTF8.self) }
                    // A field without a file comes with an empty name.
                    if head?.name == "files", let name = head?.fileName, !name.isEmpty {
                        files.append((FileName.cleaned(name) ?? "file", head?.contentType, bytes))
                    }
                }
            }
            try parser.finish()
        } catch {
            throw Problem.invalid("The form is malformed: \(error.reason).")
        }
        guard files.count <= Self.mostFiles else {
            throw Problem.invalid("files", "Must be at most \(Self.mostFiles) files.")
        }
    }

    /// Puts it, in the place of what this session tried before, waits for its media and makes a preview.
    ///
    /// - Returns: The page that shows it.
    func prepared(by visit: ConsoleVisit) async throws -> String {
        let id = "try-\(visit.session.createdAt.milliseconds)"
        let former = try? await visit.api.get(.notification, ["id": id])["job"]?.text
        let boundary = UUID().uuidString
        _ = try await visit.api.send(
            .putNotification, ["id": id],
            headers: [
                .contentType: "multipart/form-data; boundary=\(boundary)",
                "Prefer": "wait=20",
            ],
            body: try body(boundary))
        if let former { _ = try? await visit.api.send(.deleteJob, ["id": former]) }
        let api = visit.api
        RequestReading.$current.withValue(nil) {
            _ = Task {
                try await Task.sleep(for: Self.life)
                let job = try await api.get(.notification, ["id": id])["job"]?.text
                _ = try await api.send(.deleteNotification, ["id": id])
                if let job { _ = try await api.send(.deleteJob, ["id": job]) }
            }
        }
        let page = "/console/notifications/\(id)"
        guard visit.api.may(.createPreview) else { return page }
        let preview = try await visit.api.send(.createPreview, ["id": id]).json
        let ticket = preview["url"]?.text?.split(separator: "/").last.map(String.init)
        return page + ConsoleAPI.query([("preview", ticket)])
    }

    private func body(_ boundary: String) throws -> [UInt8] {
        guard let payload = try? JSONDocument.read(Array(payload.utf8), .passedOn).root else {
            throw Problem.invalid("/payload", "Must be JSON. Paste the payload that you send to APNs.")
        }
        let attachments = files.indices.map { index in
            JSONValue(members: [
                ("identifier", JSONValue("file-\(index + 1)")), ("part", JSONValue("file-\(index + 1)")),
            ])
        }
        let description = JSONValue(members: [
            ("payload", payload), ("trigger", JSONValue(members: [("type", JSONValue("manual"))])),
            ("expires_in", JSONValue(3600)), ("attachments", JSONValue(elements: attachments)),
        ])
        var body = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"notification\"\r\n\r\n".utf8)
        body += description.bytes + Array("\r\n".utf8)
        for (index, file) in files.enumerated() {
            let name = file.name.replacing("\"", with: "_")
            let type = file.type.map { "\r\nContent-Type: \($0)" } ?? ""
            body += Array(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"file-\(index + 1)\"; filename=\"\(name)\"\(type)\r\n\r\n"
                    .utf8)
            body += file.bytes + Array("\r\n".utf8)
        }
        return body + Array("--\(boundary)--\r\n".utf8)
    }
}
