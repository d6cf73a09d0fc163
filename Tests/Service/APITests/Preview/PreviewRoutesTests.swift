import API
import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// Previews that whoever has their URL may see: `/p/{ticket}`.
@Suite(.timeLimit(.minutes(10))) struct PreviewRoutesTests {
    private static let category = """
        {"id":"order","actions":[{"id":"rotate","title":"Rotate"}],
         "extension":{"initial_content_size_ratio":0.6,"default_content_hidden":true},"responses":{"forward":null}}
        """

    private static func put(_ live: LiveService, _ origin: LocalOrigin) async throws {
        #expect(try await live.send(.put, "/v1/categories/order", json: category).status == 201)
        let put = try await live.send(
            .put, "/v1/notifications/order", ["Prefer": "wait=20"],
            json: """
                {"payload":{"aps":{"alert":{"title":"Ada <b>","body":"photo"},"category":"order"},
                  "my-attachment":"\(origin.url("/jpeg/coffee.jpg"))"},"trigger":{"type":"manual"}}
                """)
        try #require(put.status == 201, "\(put.text)")
    }

    private static func preview(_ live: LiveService, _ body: String = "{}") async throws -> (Tree, path: String) {
        let reply = try await live.send(.post, "/v1/notifications/order/previews", json: body, as: .read)
        try #require(reply.status == 201, "\(reply.text)")
        let json = try reply.json
        #expect(reply["location"] == "/v1/previews/\(json["id"].string ?? "")")
        return (json, live.path(of: try #require(json["url"].string)))
    }

    /// What the page's script gets.
    private static func script(_ page: Reply) throws -> Tree {
        let text = page.text
        let start = try #require(text.firstRange(of: "data-preview=\"")).upperBound
        let end = try #require(text[start...].firstIndex(of: "\""))
        let json = text[start..<end].replacing("&quot;", with: "\"").replacing("&#34;", with: "\"")
            .replacing("&amp;", with: "&")
        return Tree(try JSONSerialization.jsonObject(with: Data(json.utf8)))
    }

    @Test func `a preview of what is pending and one of a firing show the same, by links of their own`() async throws {
        try await LocalOrigin.run(LocalOrigin.media) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                try await Self.put(live, origin)
                let fired = try await live.send(.post, "/v1/notifications/order/fire").json
                let own = try #require(fired["payload"]["my-attachment"].string)
                var pages: [String] = []
                for body in ["{}", #"{"firing":1,"ttl":60}"#] {
                    let (preview, path) = try await Self.preview(live, body)
                    let page = try await live.send(.get, path, key: nil)
                    try #require(page.status == 200, "\(page.text)")
                    let policy = try #require(page["content-security-policy"])
                    #expect(
                        policy.contains("default-src 'none'") && policy.contains("sandbox allow-scripts allow-forms"))
                    #expect(page["referrer-policy"] == "no-referrer" && page["cache-control"] == "no-store")
                    #expect(page.text.contains("Ada &lt;b&gt;") && !page.text.contains("Ada <b>"))
                    let link = try #require(
                        page.text.firstMatch(of: /src="(https:\/\/media\.example\.com\/c\/satn_[^"]+)"/)?.output.1)
                    #expect(String(link) != own)
                    #expect(try await live.open(String(link)) != nil)
                    let respond = try #require(try Self.script(page)["respond"].string)
                    let reply = try await live.send(
                        .post, respond, ["Content-Type": "application/json"],
                        body: Data(
                            #"{"id":"\#(UUID())","session":"\#(UUID())","action":"rotate"}"#.utf8), key: nil)
                    #expect(try reply.status == 200 && reply.json["then"].string == "forward")
                    let id = try #require(preview["id"].string)
                    #expect(try await live.send(.delete, "/v1/previews/\(id)", as: .read).status == 204)
                    #expect(try await live.send(.get, path, key: nil).status == 404)
                    #expect(try await live.open(String(link)) == nil)
                    #expect(try await live.send(.post, respond, json: "{}").status == 404)
                    #expect(try await live.send(.delete, "/v1/previews/\(id)", as: .read).status == 204)
                    pages.append(page.text)
                }
                // Neither was somebody's response.
                let listed = try await live.send(.get, "/v1/responses").json["responses"].array
                #expect(listed.map { $0["preview"].bool } == [true, true])
                #expect(try await live.send(.get, "/v1/notifications/order/firings/1").json["responses"].int == 0)
                #expect(try await live.open(own) != nil)
            }
        }
    }

    @Test func `a preview ends with the notification's delivered firings`() async throws {
        try await LocalOrigin.run(LocalOrigin.media) { origin in
            try await LiveService.run({ $0.worker = .codec }) { live in
                try await Self.put(live, origin)
                let (_, path) = try await Self.preview(live)
                #expect(try await live.send(.get, path, key: nil).status == 200)
                #expect(try await live.send(.delete, "/v1/notifications/order?from=delivered").status == 204)
                #expect(try await live.send(.get, path, key: nil).status == 404)
            }
        }
    }

    @Test func `what can't be previewed is told why, and another tenant's isn't there`() async throws {
        try await LocalOrigin.run(LocalOrigin.media) { origin in
            try await LiveService.run { live in
                #expect(try await live.send(.post, "/v1/notifications/order/previews", json: "{}").status == 404)
                try await Self.put(live, origin)
                let path = "/v1/notifications/order/previews"
                let missing = try await live.send(.post, path, json: #"{"firing":3}"#)
                #expect(missing.status == 400 && missing.text.contains("/firing"))
                #expect(try await live.send(.post, path, json: #"{"ttl":604801}"#).text.contains("/ttl"))
                #expect(try await live.send(.post, path, json: "{}", as: .submit).status == 403)
                let others = try await live.makeKeys(of: TenantID(rawValue: "bob"))
                let headers = ["Content-Type": "application/json"]
                #expect(
                    try await live.send(.post, path, headers, body: Data("{}".utf8), key: others[.read]).status == 404)
                // While its media are being prepared it shows why they aren't there.
                let (preview, page) = try await Self.preview(live)
                #expect(try await live.send(.get, page, key: nil).text.contains("deadline_exceeded"))
                let id = try #require(preview["id"].string)
                _ = try await live.send(.delete, "/v1/previews/\(id)", key: others[.read])
                #expect(try await live.send(.get, page, key: nil).status == 200)
            }
        }
    }
}
