import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the API keys of the service.",
        discussion: """
            A key is shown once, when it is created. The store keeps only its hash.

            Examples:

              satchel key create --name backend
              satchel key create --name dashboard --role read,submit --for 90d
              satchel key list
              satchel key rotate ID --overlap 24h
              satchel key revoke ID
              satchel key callback-secret --rotate
            """,
        subcommands: [Create.self, ListKeys.self, RevokeKey.self, Rotate.self, ShowWebhookSecret.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create an API key and show it once.",
            discussion: AccessRole.allCases.map { "The role '\($0.rawValue)' \($0.permission)." }
                .joined(separator: "\n\n"))

        @Option(help: ArgumentHelp("Name of the key, shown in lists.", valueName: "name"))
        var name = "key"

        @Option(help: ArgumentHelp("Tenant that the key gives access to.", valueName: "tenant"), completion: .tenants)
        var tenant = TenantID.service.rawValue

        @Option(
            help: ArgumentHelp(
                "Roles of the key: submit, read or admin (comma-separated or repeated). Default: submit,read.",
                valueName: "role"))
        var role: [Several<AccessRole>] = []

        /// The given roles without duplicates, in order.
        private var roles: [AccessRole] {
            let given: [AccessRole] = role.all()
            return given.isEmpty
                ? AccessRole.standard : given.indices.filter { given.firstIndex(of: given[$0]) == $0 }.map { given[$0] }
        }

        @Option(
            name: .customLong("for"),
            help: ArgumentHelp("Lifetime, such as 90d. Default: until it is revoked.", valueName: "time"))
        var time: TimeSpan?

        @OptionGroup(title: "Store") var store: StoreOptions

        @Option(help: "Output format.")
        var format = RecordFormat.table

        func validate() throws {
            try time?.validate("--for")
            guard (1...128).contains(tenant.utf8.count), tenant.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
                throw ValidationError("--tenant must be 1 to 128 printable ASCII characters without spaces.")
            }
        }

        func run() async throws {
            let store = try await openStore(store, create: true)
            let (record, token) = try await store.records.createKey(
                named: name, for: TenantID(rawValue: tenant), roles: roles, lasting: time?.duration)
            try show(record, token, format)
        }
    }

    struct ListKeys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List API keys, newest first. Key values are never shown.")

        @Option(help: ArgumentHelp("Only keys of this tenant.", valueName: "tenant"), completion: .tenants)
        var tenant: String?

        @OptionGroup(title: "Store") var store: StoreOptions

        @Option(help: "Output format.")
        var format = RecordFormat.table

        func run() async throws {
            let store = try await openStore(store)
            let keys = try await store.records.keys(of: tenant.map(TenantID.init(rawValue:)))
            let now = try await store.records.now()
            switch format {
            case .json: print(try JSON.text(keys, pretty: true))
            case .table:
                print(
                    table(
                        ["KEY", "STATE", "TENANT", "ROLES", "CREATED", "EXPIRES", "NAME"],
                        keys.map { key in
                            [
                                key.id, Self.state(key, now), key.tenant.rawValue,
                                key.roles.map(\.rawValue).joined(separator: ","), key.createdAt.description,
                                key.expiresAt?.description ?? "-", Data(key.name.utf8).displayPath,
                            ]
                        }))
            }
        }

        private static func state(_ key: APIKeyRecord, _ now: Instant) -> String {
            if key.revokedAt.map({ $0 <= now }) ?? false { return "revoked" }
            return key.expiresAt.map { $0 <= now } ?? false ? "expired" : "active"
        }
    }

    struct RevokeKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke API keys immediately and permanently.")

        @Argument(help: ArgumentHelp("IDs of the keys.", valueName: "id"), completion: .keys)
        var ids: [String]

        @OptionGroup(title: "Store") var store: StoreOptions

        func run() async throws {
            let store = try await openStore(store, freesSpace: true)
            for id in ids {
                let isKnown = try await store.records.revokeKey(id)
                guard isKnown else { throw CommandFailure.unknownKey(id) }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract:
                "Replace a key with a new one that has the same name, tenant, roles and expiry.")

        @Argument(help: ArgumentHelp("ID of the key.", valueName: "id"), completion: .keys)
        var id: String

        @Option(help: ArgumentHelp("How long the old key keeps working.", valueName: "time"))
        var overlap = TimeSpan(hours: 24)

        func validate() throws { try overlap.validate("--overlap") }

        @OptionGroup(title: "Store") var store: StoreOptions

        @Option(help: "Output format.")
        var format = RecordFormat.table

        func run() async throws {
            let store = try await openStore(store)
            let rotated = try await store.records.rotateKey(id, overlap: overlap.duration)
            guard let (record, token) = rotated else { throw CommandFailure.unknownKey(id) }
            try show(record, token, format)
        }
    }
}

extension KeyCommand {
    struct ShowWebhookSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "callback-secret",
            abstract:
                "Show the secret that signs a tenant's callbacks, in the format of Standard Webhooks.")

        @Option(help: ArgumentHelp("Tenant of the secret.", valueName: "tenant"), completion: .tenants)
        var tenant = TenantID.service.rawValue

        @Flag(help: "Create a new secret, sign with it from now on, and show it.")
        var rotate = false

        @Option(
            help: ArgumentHelp(
                "With --rotate: how long callbacks are also signed with the earlier secrets. Default: 24h.",
                valueName: "time"))
        var overlap: TimeSpan?

        func validate() throws {
            try overlap?.validate("--overlap")
            guard rotate || overlap == nil else { throw ValidationError("--overlap needs --rotate.") }
        }

        @OptionGroup(title: "Store") var store: StoreOptions

        func run() async throws {
            let store = try await openStore(store)
            let tenant = TenantID(rawValue: tenant)
            let secrets =
                rotate
                ? try await store.rotateWebhookSecret(of: tenant, overlap: overlap?.duration ?? .seconds(86_400))
                : try await store.webhookSecrets(of: tenant)
            guard let current = secrets.first else {
                throw CommandFailure(
                    "there is no access key to derive a secret from. Check the setting access.keys.", status: .usage)
            }
            print(current.secret.text)
        }
    }
}

/// Shows a new key, this one time.
private func show(_ record: APIKeyRecord, _ token: AccessToken, _ format: RecordFormat) throws {
    try showOnce(
        format,
        [
            "id": record.id, "tenant": record.tenant, "name": record.name, "roles": record.roles,
            "expiresAt": record.expiresAt, "key": token.secretText,
        ],
        [
            ("id", record.id), ("name", Data(record.name.utf8).displayPath), ("tenant", record.tenant.rawValue),
            ("roles", record.roles.map(\.rawValue).joined(separator: ",")),
            ("expires at", record.expiresAt?.description ?? "never"), ("key", token.secretText),
        ],
        advice: "Save this key: it won't be shown again. To revoke it, run 'satchel key revoke \(record.id)'.")
}

extension CommandFailure {
    fileprivate static func unknownKey(_ id: String) -> CommandFailure {
        unknown("active key", id, list: "satchel key list")
    }
}
