import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// Categories over the wire.
@Suite(.timeLimit(.minutes(5))) struct CategoryRoutesTests {
    @Test func `a category is put, looked at, listed, taken into an app and deleted`() async throws {
        try await LiveService.run { live in
            let sample = Category.sample("event-invite")
            let json = try JSON.text(sample)
            let path = "/v1/categories/event-invite"
            #expect(try await live.send(.get, path, as: .submit).status == 404)
            let new = try await live.send(.put, path, json: json, as: .submit)
            #expect(new.status == 201 && new["location"] == path && new["cache-control"] == "no-store")
            #expect(new.text == json)
            let again = try await live.send(.put, path, json: json, as: .submit)
            #expect(again.status == 200 && again.text == json)
            let plain = try await live.send(.put, "/v1/categories/plain", json: "{}", as: .submit)
            #expect(try plain.status == 201 && plain.text == JSON.text(Category(id: "plain")))
            for role in [AccessRole.submit, .read] {
                #expect(try await live.send(.get, path, as: role).text == json)
            }

            let list = try await live.send(.get, "/v1/categories", as: .read)
            #expect(try list.text == "{\"categories\":[\(json),\(JSON.text(Category(id: "plain")))]}")
            for form in CategoryExport.allCases {
                let reply = try await live.send(.get, "/v1/categories?as=\(form.rawValue)", as: .read)
                #expect(reply.status == 200 && reply["content-type"] == form.mediaType)
                #expect(try reply.text == form.text([sample, Category(id: "plain")]))
            }
            // What an app gets describes the category as well.
            let forApps = try await live.send(.get, "/v1/categories?as=json", as: .read).json["categories"][0]
            #expect(forApps["id"].string == "event-invite" && !forApps.keys.contains("responses"))
            let odd = try await live.send(.get, "/v1/categories?as=xml&page=2", as: .read)
            #expect(
                try odd.status == 400
                    && odd.json["errors"].array.compactMap { $0["pointer"].string }.sorted() == ["as", "page"])

            for _ in 0..<2 { #expect(try await live.send(.delete, path, as: .submit).status == 204) }
            #expect(try await live.send(.get, path, as: .read).status == 404)
            #expect(try await live.send(.get, "/v1/categories", as: .read).json["categories"].array.count == 1)
        }
    }

    @Test func `what can't be taken is refused with what would do, and changes nothing`() async throws {
        try await LiveService.run { live in
            let path = "/v1/categories/c"
            let wrong = try await live.send(
                .put, path, json: #"{"id": "d", "colour": "red", "actions": [{"id": "a"}]}"#)
            let pointers = try wrong.json["errors"].array.compactMap { $0["pointer"].string }.sorted()
            #expect(wrong.status == 400 && pointers == ["/actions/0/title", "/colour", "/id"])
            #expect(try wrong.json["code"].string == "invalid_request")
            let blocked = try await live.send(
                .put, path, json: #"{"responses": {"handler": {"url": "http://10.0.0.1/"}}}"#)
            #expect(try blocked.status == 422 && blocked.json["code"].string == "blocked_address")
            for body in ["", "{", "[]"] { #expect(try await live.send(.put, path, json: body).status == 400) }
            let form = try await live.send(.put, path, ["Content-Type": "text/plain"], body: Data("{}".utf8))
            #expect(form.status == 415)
            let large = "{\"hidden_body\": \"\(String(repeating: "x", count: 70_000))\"}"
            #expect(try await live.send(.put, path, json: large).status == 413)
            for id in ["a%20b", "%C3%A4", String(repeating: "a", count: 129)] {
                #expect(try await live.send(.put, "/v1/categories/\(id)", json: "{}").status == 400, "\(id)")
                #expect(try await live.send(.delete, "/v1/categories/\(id)").status == 400, "\(id)")
                #expect(try await live.send(.get, "/v1/categories/\(id)").status == 404, "\(id)")
            }
            for number in 0..<CategoryLimits.categories {
                _ = try await live.store.records.putCategory(Category(id: "\(number)"), of: live.tenant)
            }
            let full = try await live.send(.put, path, json: "{}")
            #expect(try full.status == 429 && full.json["code"].string == "quota_exceeded")
            #expect(try full.json["detail"].string?.contains("200") == true)
            #expect(try await live.send(.get, path).status == 404)
        }
    }
}
