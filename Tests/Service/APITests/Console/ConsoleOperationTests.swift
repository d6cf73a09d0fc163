import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// What an operator looks at first in the console, and does there, without a script.
@Suite(.timeLimit(.minutes(10))) struct ConsoleOperationTests {
    private struct Visitor {
        var live: LiveService
        var cookie: String

        init(_ live: LiveService, as role: AccessRole) async throws {
            self.live = live
            let record = try #require(try await live.store.records.keys(of: live.tenant).first { $0.roles == [role] })
            let (_, token) = try #require(try await live.store.records.signIn(with: record))
            cookie = "__Host-satchel=\(token.secretText)"
        }

        func get(_ path: String) async throws -> Reply {
            try await live.send(.get, path, ["Cookie": cookie], key: nil)
        }

        func post(
            _ path: String, _ body: String = "", type: String = "application/x-www-form-urlencoded"
        ) async throws -> Reply {
            try await live.send(
                .post, path, ["Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": type],
                body: Data(body.utf8), key: nil)
        }
    }

    @Test func `failures are read by code, with what to do, and tried again once somebody said yes`() async throws {
        try await LiveService.run({ $0.worker = .faultCodec }) { live in
            for name in ["one", "two"] {
                let job = try await live.send(
                    .post, "/v1/jobs", ["Prefer": "wait=20"],
                    json: #"{"attachments": [{"url": "http://127.0.0.1:1/\#(name).jpg", "identifier": "photo"}]}"#)
                #expect(try job.json["state"].string == "failed")
            }
            let visitor = try await Visitor(live, as: .admin)
            let page = try await visitor.get("/console/failures").text
            #expect(page.contains("id=\"failure-fetch_failed\""))
            #expect(page.contains("Retrying can help."))
            #expect(page.contains("Retry all retryable…"))
            #expect(page.contains("href=\"/console/failures?span=24h&amp;confirm=fetch_failed#failure-fetch_failed\""))
            let asked = try await visitor.get("/console/failures?span=24h&confirm=all").text
            #expect(asked.contains("Retry 2 failures</button>"))
            let reader = try await Visitor(live, as: .read)
            #expect(try await !reader.get("/console/failures").text.contains("confirm="))
            let refused = try await reader.post("/console/failures/retry", "codes=fetch_failed&span=24h")
            #expect(refused.status == 403)
            let done = try await visitor.post("/console/failures/retry", "codes=fetch_failed&span=24h")
            #expect(done["location"] == "/console/failures?span=24h&done=allRetried", "\(done.text)")
            let unknown = try await visitor.post("/console/failures/retry", "codes=nonsense&span=24h")
            #expect(unknown.status == 400)
            #expect(
                try await visitor.get("/console/failures?span=1h&done=allRetried").text.contains("Retrying all…")
            )
        }
    }

    @Test func `the first page has the hour's ends, and of the service what an administrator may see`() async throws {
        try await LiveService.run { live in
            let admin = try await Visitor(live, as: .admin)
            let page = try await admin.get("/console").text
            #expect(page.contains("The last hour, by minute"))
            #expect(page.contains("Whole service"))
            let reader = try await Visitor(live, as: .read)
            #expect(try await !reader.get("/console").text.contains("Whole service"))
        }
    }

    @Test func `who may read an attachment is a tree, of which one branch or all is taken back`() async throws {
        try await LiveService.run { live in
            let id = try await live.deliver([.main: Data("main".utf8)]).rawValue
            let grant = try await live.send(.post, "/v1/attachments/\(id)/grants", json: "{}").json
            let token = AccessToken(secretText: grant["token"].string ?? "")
            let headers = ["Content-Type": "application/json"]
            let leased = try await live.send(.post, "/v1/leases", headers, body: Data("{}".utf8), key: token).json
            let own = try await live.send(.post, "/v1/leases", json: #"{"attachment_id": "\#(id)"}"#).json
            let visitor = try await Visitor(live, as: .read)
            let page = try await visitor.get("/console/attachments/\(id)").text
            let (parent, child) = (grant["id"].string ?? "", leased["id"].string ?? "")
            let (outer, inner) = (page.firstRange(of: "access-\(parent)"), page.firstRange(of: "access-\(child)"))
            #expect(try #require(outer).lowerBound < #require(inner).lowerBound)
            #expect(!page.contains(token.secretText), "nothing that opens anything is shown")

            let taken = try await visitor.post("/console/attachments/\(id)/access/\(parent)/revoke")
            #expect(taken.status == 303)
            func status(_ lease: Tree) async throws -> Int {
                let url = lease["renditions"]["main"]["url"].string ?? ""
                return try await live.send(.get, live.path(of: url), key: nil).status
            }
            #expect(try await status(leased) == 404)
            #expect(try await status(own) == 200)
            #expect(try await visitor.post("/console/attachments/\(id)/access/revoke").status == 303)
            #expect(try await status(own) == 404)
        }
    }

    @Test func `lists are narrowed in the page's own URL`() async throws {
        try await LiveService.run { live in
            for order in ["1", "2"] {
                _ = try await live.send(
                    .post, "/v1/jobs",
                    json: #"{"attachments": [{"url": "http://127.0.0.1:1/x"}], "metadata": {"order": "\#(order)"}}"#)
            }
            let visitor = try await Visitor(live, as: .read)
            func jobs(_ query: String) async throws -> Int {
                let page = try await visitor.get("/console/jobs\(query)")
                #expect(page.status == 200, "\(page.text)")
                return page.text.matches(of: /class="id" href/).count
            }
            #expect(try await jobs("") == 2)
            #expect(try await jobs("?metadata=order%3D2&state=&code=") == 1)
            #expect(try await jobs("?state=failed") == 0)
            #expect(try await jobs("?since=2030-01-01T00%3A00") == 0)
            #expect(try await visitor.get("/console/jobs?since=soon").status == 400)
        }
    }

    @Test func `a payload and files are tried, shown, and replaced by the next`() async throws {
        try await LiveService.run({ $0.worker = .codec }) { live in
            let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
            let visitor = try await Visitor(live, as: .admin)
            func attempt(_ payload: String, _ file: Data?) async throws -> Reply {
                var body = Data("--b\r\nContent-Disposition: form-data; name=\"payload\"\r\n\r\n\(payload)\r\n".utf8)
                body += Data("--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"".utf8)
                body += Data("\(file == nil ? "" : "a.jpg")\"\r\nContent-Type: image/jpeg\r\n\r\n".utf8)
                body += (file ?? Data()) + Data("\r\n--b--\r\n".utf8)
                return try await live.send(
                    .post, "/console/try",
                    [
                        "Cookie": visitor.cookie, "Sec-Fetch-Site": "same-origin",
                        "Content-Type": "multipart/form-data; boundary=b",
                    ], body: body, key: nil)
            }
            let bad = try await attempt("{", nil)
            #expect(bad.status == 400)
            #expect(bad.text.contains("Must be JSON."))
            #expect(bad.text.contains("<textarea id=\"payload\""))
            let done = try await attempt(#"{"aps": {"alert": "Hello", "mutable-content": 1}}"#, photo)
            let place = try #require(done["location"], "\(done.text)")
            #expect(place.hasPrefix("/console/notifications/try-"))
            #expect(place.contains("preview=satp_"))
            let page = try await visitor.get(place)
            #expect(page.text.contains("<iframe class=\"preview\""))
            #expect(page.text.contains("a.jpg"))
            _ = try await attempt(#"{"aps": {"alert": "Again"}}"#, nil)
            let listed = try await live.send(.get, "/v1/notifications").json["notifications"].array
            #expect(listed.count == 1)
            #expect(try await live.send(.get, "/v1/jobs").json["jobs"].array.isEmpty)
        }
    }
}
