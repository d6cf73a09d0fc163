import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

/// Every act that the audit list tells of, by everybody who may do it; and what isn't done leaves no entry.
@Suite(.timeLimit(.minutes(5))) struct AuditMatrixTests {
    /// What acts are done to, made anew for each.
    private struct Scene {
        var live: LiveService
        var job: String
        var attachment: String
        var grant: Tree
        var grantToken: AccessToken
        var lease: String
        var link: String
        var preview: String
        var upload: String
        var key: String
        /// Of the sessions of an admin's key and of a code.
        var keyCookie: String
        var codeCookie: String

        func form(_ path: String, _ fields: String = "", cookie: String? = nil) async throws -> Reply {
            var headers = ["Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"]
            if let cookie { headers["Cookie"] = cookie }
            return try await live.send(.post, path, headers, body: Data(fields.utf8), key: nil)
        }

        func ask(_ method: Method, _ path: String, json: String? = nil, by key: AccessToken?) async throws -> Reply {
            try await live.send(
                method, path, json == nil ? [:] : ["Content-Type": "application/json"],
                body: json.map { Data($0.utf8) }, key: key)
        }
    }

    /// Who did it, as the list names them.
    private enum Actor {
        case key(AccessRole)
        case grant
        case command
    }

    private struct Act: CustomStringConvertible {
        var name: String
        /// `action kind`, each as often as it is told.
        var told: [String]
        var by: Actor
        /// Whether entries name the attachment.
        var namesAttachment = false
        /// What it answers where it is done again.
        var again: Int
        var perform: (Scene) async throws -> Reply

        var description: String { name }
    }

    private static func own(
        _ name: String, _ told: String, namesAttachment: Bool = false, again: Int, _ method: Method, role: AccessRole,
        json: String? = nil, _ path: @escaping (Scene) -> String
    ) -> Act {
        Act(name: name, told: [told], by: .key(role), namesAttachment: namesAttachment, again: again) { scene in
            try await scene.ask(method, path(scene), json: json, by: scene.live.keys[role])
        }
    }

    private static var acts: [Act] {
        [
            own("grant", "made grant", namesAttachment: true, again: 201, .post, role: .read, json: "{}") {
                "/v1/attachments/\($0.attachment)/grants"
            },
            own("revoke a grant", "revoked grant", namesAttachment: true, again: 204, .delete, role: .read) {
                "/v1/grants/\($0.grant["id"].string ?? "")"
            },
            own("stop a lease", "revoked lease", namesAttachment: true, again: 204, .delete, role: .read) {
                "/v1/leases/\($0.lease)"
            },
            own("end a preview", "revoked ticket", again: 204, .delete, role: .read) { "/v1/previews/\($0.preview)" },
            own("end an upload", "revoked ticket", again: 204, .delete, role: .submit) { "/v1/uploads/\($0.upload)" },
            own("delete an attachment", "deleted attachment", namesAttachment: true, again: 404, .delete, role: .submit)
            {
                "/v1/attachments/\($0.attachment)"
            },
            own("delete a job", "deleted attachment", namesAttachment: true, again: 404, .delete, role: .submit) {
                "/v1/jobs/\($0.job)"
            },
            own("make a key", "made key", again: 201, .post, role: .admin, json: #"{"name": "ci"}"#) { _ in "/v1/keys"
            },
            own("rotate a key", "rotated key", again: 404, .post, role: .admin, json: #"{"overlap": 0}"#) {
                "/v1/keys/\($0.key)/rotate"
            },
            own("revoke a key", "revoked key", again: 204, .delete, role: .admin) { "/v1/keys/\($0.key)" },
            own("rotate the secret", "rotated secret", again: 201, .post, role: .admin, json: #"{"overlap": 0}"#) { _ in
                "/v1/webhook-secrets/rotate"
            },
        ] + [
            Act(name: "narrow a grant", told: ["made grant"], by: .grant, namesAttachment: true, again: 201) { scene in
                try await scene.ask(
                    .post, "/v1/grants/\(scene.grant["id"].string ?? "")/grants", json: "{}", by: scene.grantToken)
            },
            Act(name: "give a grant back", told: ["revoked grant"], by: .grant, namesAttachment: true, again: 401) {
                scene in
                try await scene.ask(.delete, "/v1/grants/\(scene.grant["id"].string ?? "")", by: scene.grantToken)
            },
            Act(name: "sign in with a key", told: ["signed_in session"], by: .key(.read), again: 303) { scene in
                try await scene.form("/console/sign-in", "key=\(scene.live.keys[.read]?.secretText ?? "")")
            },
            Act(name: "sign in with a code", told: ["signed_in session"], by: .command, again: 303) { scene in
                let (_, code) = try await scene.live.store.records.newConsoleCode(
                    for: scene.live.tenant, roles: [.read])
                return try await scene.live.send(.get, "/console/sign-in?code=\(code.secretText)", key: nil)
            },
            Act(
                name: "take back in the console, by a key", told: ["revoked link"], by: .key(.admin),
                namesAttachment: true, again: 303
            ) { scene in
                try await scene.form(
                    "/console/attachments/\(scene.attachment)/access/\(scene.link)/revoke", "kind=link",
                    cookie: scene.keyCookie)
            },
            Act(
                name: "delete in the console, by a code", told: ["deleted attachment"], by: .command,
                namesAttachment: true, again: 404
            ) { scene in
                try await scene.form("/console/attachments/\(scene.attachment)/delete", cookie: scene.codeCookie)
            },
        ]
    }

    /// Sets a scene up beside others of the same service.
    private static func scene(_ live: LiveService, _ number: Int) async throws -> Scene {
        let picture = try Data(contentsOf: Repository.media.appending(path: "png/alpha.png"))
        let job = "job-\(number)"
        let submitted = try await live.send(
            .put, "/v1/jobs/\(job)?lease_ttl=0", ["Content-Type": "image/png", "Prefer": "wait=20"], body: picture,
            as: .submit)
        let attachment = try #require(try submitted.json["attachments"][0]["id"].string, "\(submitted.text)")
        let grant = try await live.send(.post, "/v1/attachments/\(attachment)/grants", json: "{}", as: .read).json
        let lease = try await live.send(
            .post, "/v1/leases", json: "{\"attachment_id\": \"\(attachment)\"}", as: .read
        ).json
        let link = try await live.store.records.link(
            to: AttachmentID(rawValue: attachment), of: live.tenant, renditions: nil, for: .seconds(600))
        let put = try await live.send(
            .put, "/v1/notifications/n-\(number)",
            json: #"{"payload": {"aps": {"alert": "a"}}, "trigger": {"type": "manual"}}"#,
            as: .submit)
        #expect(put.status == 201, "\(put.text)")
        let preview = try await live.send(.post, "/v1/notifications/n-\(number)/previews", json: "{}", as: .read).json
        let upload = try await live.send(.post, "/v1/uploads", json: "{}", as: .submit).json
        let key = try await live.send(.post, "/v1/keys", json: #"{"name": "old"}"#, as: .admin).json
        var scene = Scene(
            live: live, job: job, attachment: attachment, grant: grant,
            grantToken: AccessToken(secretText: try #require(grant["token"].string)),
            lease: try #require(lease["id"].string), link: try #require(link).0.id,
            preview: try #require(preview["id"].string), upload: try #require(upload["id"].string),
            key: try #require(key["id"].string), keyCookie: "",
            codeCookie: "")
        func cookie(_ reply: Reply) throws -> String { String(try #require(reply["set-cookie"]).prefix { $0 != ";" }) }
        scene.keyCookie = try cookie(
            await scene.form("/console/sign-in", "key=\(live.keys[.admin]?.secretText ?? "")"))
        let (_, code) = try await live.store.records.newConsoleCode(for: live.tenant, roles: [.admin])
        scene.codeCookie = try cookie(
            await live.send(.get, "/console/sign-in?code=\(code.secretText)", key: nil))
        return scene
    }

    private static func entries(_ live: LiveService) async throws -> [AuditEntry] {
        try await live.store.records.audit(of: live.tenant, where: AuditFilter(), after: nil, limit: 1000).elements
    }

    @Test func `every act is told once with who did it and to what, and none that was refused`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let strangers = try await live.makeKeys(of: TenantID(rawValue: "other"))
            let foreign = try await live.store.records.audit(
                of: TenantID(rawValue: "other"), where: AuditFilter(), after: nil, limit: 100
            ).elements.count
            let keys = Dictionary(
                try await live.store.records.keys(of: live.tenant).map { ($0.roles, $0.id) }
            ) { first, _ in first }
            for (number, act) in Self.acts.enumerated() {
                let scene = try await Self.scene(live, number)
                let before = try await Self.entries(live).count
                let reply = try await act.perform(scene)
                #expect((200..<400).contains(reply.status), "\(act): \(reply.status) \(reply.text)")
                let new = try await Array(Self.entries(live).prefix { _ in true }.dropLast(before))
                #expect(new.map { "\($0.action.rawValue) \($0.subject.kind.rawValue)" } == act.told, "\(act)")
                for entry in new {
                    switch act.by {
                    case .key(let role): #expect(entry.actor == AuditActor(.key, id: keys[[role]]), "\(act)")
                    case .grant: #expect(entry.actor == AuditActor(.grant, id: scene.grant["id"].string), "\(act)")
                    case .command: #expect(entry.actor == AuditActor(.command), "\(act)")
                    }
                    #expect((entry.attachment?.rawValue == scene.attachment) == act.namesAttachment, "\(act)")
                    #expect(!entry.subject.id.isEmpty)
                }
                // Done again it is told again only where something was done again.
                let again = try await act.perform(scene)
                #expect(again.status == act.again, "\(act): \(again.status)")
                let isRepeated = [201, 303].contains(act.again) && !act.name.contains("take back")
                let count = try await Self.entries(live).count
                #expect(count == before + new.count * (isRepeated ? 2 : 1), "\(act)")
            }

            // Whoever may not, or finds nothing, did nothing.
            let scene = try await Self.scene(live, Self.acts.count)
            let before = try await Self.entries(live).count
            let refused: [(Method, String, String?)] = [
                (.post, "/v1/attachments/\(scene.attachment)/grants", "{}"),
                (.delete, "/v1/grants/\(scene.grant["id"].string ?? "")", nil),
                (.delete, "/v1/leases/\(scene.lease)", nil), (.delete, "/v1/previews/\(scene.preview)", nil),
                (.delete, "/v1/attachments/\(scene.attachment)", nil), (.delete, "/v1/jobs/\(scene.job)", nil),
                (.delete, "/v1/keys/\(scene.key)", nil), (.post, "/v1/keys/\(scene.key)/rotate", "{}"),
            ]
            for (method, path, json) in refused {
                for key in [strangers[.admin], AccessToken(secretText: "satk_nobody"), nil] {
                    // What is already so is answered alike, whoever asks.
                    _ = try await scene.ask(method, path, json: json, by: key)
                }
            }
            for role in [AccessRole.submit, .read] {
                #expect(try await live.send(.post, "/v1/keys", json: #"{"name": "x"}"#, as: role).status == 403)
                #expect(try await live.send(.post, "/v1/webhook-secrets/rotate", json: "{}", as: role).status == 403)
                #expect(try await live.send(.get, "/v1/audit", as: role).status == 403)
            }
            #expect(try await scene.form("/console/sign-in", "key=satk_nobody").status == 403)
            #expect(try await Self.entries(live).count == before)
            let others = try await live.store.records.audit(
                of: TenantID(rawValue: "other"), where: AuditFilter(), after: nil, limit: 100
            ).elements.count
            #expect(others == foreign, "nor is anything told to others")
            // Every action and every kind is in the table.
            let told = Set(Self.acts.flatMap(\.told).flatMap { $0.split(separator: " ").map(String.init) })
            let words = AuditEntry.Action.allCases.map(\.rawValue) + AuditEntry.Subject.Kind.allCases.map(\.rawValue)
            #expect(told.isSuperset(of: words))
        }
    }
}
