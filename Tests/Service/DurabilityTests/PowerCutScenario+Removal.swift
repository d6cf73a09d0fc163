import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

extension PowerCutScenario {
    /// A tenant that is removed, beside one who has equal bytes.
    static let removal = Task { try await recordRemoval() }

    private static func recordRemoval() async throws -> PowerCutScenario {
        let machine = try Machine()
        let (gone, stays) = (TenantID(rawValue: "gone"), TenantID(rawValue: "stays"))
        var keys: [TenantID: String] = [:]
        for tenant in [gone, stays] { keys[tenant] = try machine.key(for: tenant) }
        var filled: [TenantID: Access] = [:]
        do {
            let service = try await machine.serve(["--callback-allow", "127.0.0.1"], key: "")
            for (tenant, key) in keys { filled[tenant] = try await fill(tenant, Conversation(with: service, key: key)) }
            try await service.stop()
            let store = try machine.open()
            for tenant in keys.keys { filled[tenant]?.remains = try await store.records.remains(of: tenant) }
        }
        let access = filled
        var recording = try Recording(of: machine)
        try recording.run(["tenant", "rm", gone.rawValue, "--yes"], on: machine)
        let whole = access[gone]?.remains ?? []
        var invariants = Invariants(moved: [:], whole: [:])
        @Sendable func neighbours(_ records: RecordStore) async throws -> [String] {
            guard let neighbour = access[stays] else { return [] }
            let (isAny, isAll) = try await neighbour.opens(records)
            let left = try await records.remains(of: stays)
            return (isAny && isAll ? [] : ["a neighbour's access ended"])
                + (left == neighbour.remains ? [] : ["of the neighbour is left: \(left)"])
        }
        invariants.opened = { store in
            let records = store.records
            var wrong = try await neighbours(records)
            guard let access = access[gone] else { return wrong }
            let (isAny, isAll) = try await access.opens(records)
            if isAny != isAll { wrong.append("some of the tenant's access ended, and some did not") }
            let left = try await records.remains(of: gone)
            if isAny, left != whole { wrong.append("access hasn't ended, and what is left is \(left)") }
            let isUnderway = try await records.tenantsInRemoval() == [gone]
            if !isAny, !left.isEmpty, !isUnderway { wrong.append("nobody goes on with the removal") }
            // Where it had not begun, the same line is given again.
            if isAny { try await store.remove(gone) }
            return wrong
        }
        invariants.swept = { store in
            var wrong = try await neighbours(store.records)
            let left = try await store.records.remains(of: gone)
            if !left.isEmpty { wrong.append("after a sweep is left: \(left)") }
            for name in try Disk.files(in: store.directory) where name.hasPrefix("blobs/") || name.hasPrefix("spool/") {
                let bytes = try Disk.read("\(store.directory)/\(name)")
                if bytes.firstRange(of: Data("OF-gone".utf8)) != nil { wrong.append("'\(name)' is the tenant's") }
            }
            return wrong
        }
        let said = Guarantee(content: .removed(gone), calls: recording.calls.count - 1..<recording.calls.count)
        return PowerCutScenario(recording, [said], invariants)
    }

    /// What opens something of a tenant, and what there is of it.
    private struct Access: Sendable {
        var key: AccessToken
        var lease: AccessToken
        var upload: AccessToken
        var ticket: AccessToken
        var remains: [String] = []

        /// Whether any and whether all of them open something.
        func opens(_ records: RecordStore) async throws -> (any: Bool, all: Bool) {
            let opened = [
                try await records.authenticate(key) != nil,
                try await records.open(lease, role: .main) != nil, try await records.upload(of: upload) != nil,
                try await records.ticket(of: ticket, .respond) != nil,
            ]
            return (opened.contains(true), !opened.contains(false))
        }
    }

    /// Something of each kind.
    ///
    /// - Parameter talk: With a service, as an administrator of the tenant.
    private static func fill(_ tenant: TenantID, _ talk: Conversation) async throws -> Access {
        func token(_ answer: [String: Any]) throws -> AccessToken {
            let url = try #require(answer["url"] as? String)
            return AccessToken(secretText: String(try #require(url.firstMatch(of: /sat[a-z]_[0-9A-Za-z]+/)).0))
        }
        func job(_ word: String, _ profile: String) async throws -> [String: Any] {
            let job = try await talk.ask(
                "POST", "/v1/jobs?profile=\(profile)&identifier=photo",
                ["Content-Type": "application/octet-stream", "Prefer": "wait=20"],
                body: Data("fault: echo \(word)\n".utf8)
            ).json
            return try #require((job["attachments"] as? [[String: Any]])?.first)
        }
        let attachment = try #require(try await job("EQUAL", "message")["id"] as? String)
        _ = try await job("OF-\(tenant.rawValue)", "archive")
        let lease = try await talk.ask("POST", "/v1/leases", json: ["attachment_id": attachment, "ttl": 3600]).json
        let main = (lease["renditions"] as? [String: [String: Any]])?["main"]
        let opened = try await talk.ask("POST", "/v1/uploads", json: ["length": 100]).json
        let path = try Conversation.path(of: opened["url"])
        let fields = [
            "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream",
        ]
        try await talk.ask("PATCH", path, fields, body: Data("OF-\(tenant.rawValue)".utf8))
        try await talk.ask("PUT", "/v1/categories/question", json: ["responses": ["rate": 10]])
        let payload: [String: Any] = ["aps": ["alert": "Hello", "category": "question"]]
        let trigger: [String: Any] = ["type": "manual"]
        // Nobody is there to take it: a call that waits.
        let handover = ["url": "http://127.0.0.1:9/"]
        try await talk.ask(
            "PUT", "/v1/notifications/one", json: ["payload": payload, "trigger": trigger, "handover": handover])
        let fired = try await talk.ask("POST", "/v1/notifications/one/fire").json
        let satchel = (fired["payload"] as? [String: Any])?["satchel"] as? [String: Any]
        return Access(
            key: AccessToken(secretText: try #require(talk.key)), lease: try token(try #require(main)),
            upload: try token(opened), ticket: try token(["url": satchel?["respond"] ?? ""]))
    }
}
