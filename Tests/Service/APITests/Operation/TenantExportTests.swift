import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import API

@Suite(.timeLimit(.minutes(5))) struct TenantExportTests {
    @Test func `an export says what the API says, and opens nothing`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
            let submitted = try await live.send(
                .post, "/v1/jobs?encrypt=matrix", ["Content-Type": "image/png", "Prefer": "wait=20"], body: picture)
            let key = try #require(
                try submitted.json["attachments"][0]["renditions"]["main"]["encryption"]["key"]["k"].string)
            let attachment = try #require(try submitted.json["attachments"][0]["id"].string)
            let notification = try await live.send(
                .post, "/v1/notifications",
                json: """
                    {"payload": {"aps": {"alert": "text"}}, "trigger": {"type": "manual"},
                     "attachments": [{"identifier": "a", "attachment_id": "\(attachment)"}]}
                    """)
            #expect(notification.status == 201, "\(notification.text)")
            let id = try #require(try notification.json["id"].string)
            let fired = try await live.send(.post, "/v1/notifications/\(id)/fire")
            #expect(fired.text.contains("satn_") && fired.text.contains(key))
            _ = try await live.send(.post, "/v1/uploads", json: "{}")
            let export = TenantExport(of: live.tenant, from: live.service)
            var lines: [TenantExport.List: [Data]] = [:]
            for list in TenantExport.List.allCases {
                try await export.lines(of: list) { lines[list, default: []].append($0) }
            }
            for (list, path) in [
                (TenantExport.List.notifications, "/v1/notifications/\(id)"), (.uploads, "/v1/uploads"),
                (.audit, "/v1/audit"), (.keys, "/v1/keys"),
            ] {
                let told =
                    try JSONSerialization.jsonObject(with: try await live.send(.get, path).body) as? [String: Any]
                let all = told?[list.rawValue] as? [NSDictionary] ?? [NSDictionary(dictionary: told ?? [:])]
                let exported = try lines[list, default: []].map {
                    try JSONSerialization.jsonObject(with: $0) as? NSDictionary
                }
                #expect(exported == all, "\(list)")
            }
            #expect(lines[.jobs]?.count == 1 && lines[.attachments]?.count == 1 && lines[.firings]?.count == 1)
            let text = lines.values.joined().map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
            #expect(text.contains("satn_") && text.firstMatch(of: /sat[a-z]_[0-9A-Za-z]{23}/) == nil)
            #expect(text.contains("A256CTR") && !text.contains(key))
        }
    }
}
