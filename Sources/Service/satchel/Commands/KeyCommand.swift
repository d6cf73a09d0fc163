import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The API keys of the service.",
        discussion: """
            A key is shown once, when it is made: the store has only its hash.

              satchel key create --name backend
              satchel key create --name dashboard --role read,submit --for 90d
              satchel key list
              satchel key rotate ID --overlap 24h
              satchel key revoke ID
              satchel key callback-secret            what callbacks are signed with
              satchel key callback-secret --rotate   another from now on, and both for a day
            """,
        subcommands: [Create.self, ListKeys.self, RevokeKey.self, Rotate.self, ShowWebhookSecret.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Make a key and show it, this once.",
            discussion: """
                The roles:

                \(AccessRole.allCases.map { "  '\($0.rawValue)' \($0.permission)." }.joined(separator: "\n"))
                """)

        @Option(help: ArgumentHelp("What it is for.", valueName: "name"))
        var name = "key"

        @Option(help: ArgumentHelp("Whose things it opens.", valueName: "tenant"), completion: .tenants)
        var tenant = TenantID.service.rawValue

        @Option(
            help: ArgumentHelp(
                "submit, read or admin; several with commas, or repeated. Default: submit,read.", valueName: "role"))
        var role: [Several<AccessRole>] = []

        /// Each once, in the order in which they were given.
        private var roles: [AccessRole] {
            let given: [AccessRole] = role.all()
            return given.isEmpty
                ? AccessRole.standard : given.indices.filter { given.firstIndex(of: given[$0]) == $0 }.map { given[$0] }
        }

        @Option(
            name: .customLong("for"),
            help: ArgumentHelp("How long it lasts, such as 90d. Default: until it is revoked.", valueName: "time"))
        var time: TimeSpan?

        @OptionGroup(title: "Where") var store: StoreOptions

        @Option(help: "How the key is written to standard output.")
        var format = RecordFormat.table

        func validate() throws {
            try time?.validate("--for")
            guard (1...128).contains(tenant.utf8.count), tenant.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
                throw ValidationError("--tenant must be 1 to 128 printable ASCII characters without spaces.")
            }
        }

        func run() async throws {
            let store = try await openStore(store, create: true)
            let (record, token) = try await reported { () async throws(AttachmentError) in
                try await store.records.createKey(
                    named: name, for: TenantID(rawValue: tenant), roles: roles, lasting: time?.duration)
            }
            try KeyOutput(record: record, token: token).write(format)
        }
    }

    struct ListKeys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the keys, newest first. What they open is shown nowhere.")

        @Option(help: ArgumentHelp("Only this tenant's.", valueName: "tenant"), completion: .tenants)
        var tenant: String?

        @OptionGroup(title: "Where") var store: StoreOptions

        @Option(help: "How the keys are written to standard output.")
        var format = RecordFormat.table

        func run() async throws {
            let store = try await openStore(store)
            let keys = try await reported { () async throws(AttachmentError) in
                try await store.records.keys(of: tenant.map(TenantID.init(rawValue:)))
            }
            let now = try await reported { () async throws(AttachmentError) in try await store.records.now() }
            switch format {
            case .json: print(try JSON.text(keys, pretty: true))
            case .table:
                print(
                    table(
                        ["KEY", "STATE", "TENANT", "ROLES", "MADE", "EXPIRES", "NAME"],
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
            return key.expiresAt.map { $0 <= now } ?? false ? "expired" : "good"
        }
    }

    struct RevokeKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Take keys back, at once and for good.")

        @Argument(help: ArgumentHelp("The keys' ids.", valueName: "id"), completion: .keys)
        var ids: [String]

        @OptionGroup(title: "Where") var store: StoreOptions

        func run() async throws {
            let store = try await openStore(store)
            for id in ids {
                let isKnown = try await reported { () async throws(AttachmentError) in
                    try await store.records.revokeKey(id)
                }
                guard isKnown else { throw CommandFailure.unknownKey(id) }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract:
                "Make a successor of a key, with its name, tenant, roles and end; the old one stays good for a while.")

        @Argument(help: ArgumentHelp("The key's id.", valueName: "id"), completion: .keys)
        var id: String

        @Option(help: ArgumentHelp("How long the old key stays good.", valueName: "time"))
        var overlap = TimeSpan(duration: .seconds(86_400))

        func validate() throws { try overlap.validate("--overlap") }

        @OptionGroup(title: "Where") var store: StoreOptions

        @Option(help: "How the key is written to standard output.")
        var format = RecordFormat.table

        func run() async throws {
            let store = try await openStore(store)
            let rotated = try await reported { () async throws(AttachmentError) in
                try await store.records.rotateKey(id, overlap: overlap.duration)
            }
            guard let (record, token) = rotated else { throw CommandFailure.unknownKey(id) }
            try KeyOutput(record: record, token: token).write(format)
        }
    }
}

extension KeyCommand {
    struct ShowWebhookSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "callback-secret",
            abstract:
                "Show the secret that a tenant's callbacks are signed with, as libraries of Standard Webhooks take it.")

        @Option(help: ArgumentHelp("Whose.", valueName: "tenant"), completion: .tenants)
        var tenant = TenantID.service.rawValue

        @Flag(help: "Sign with another from now on, and show that.")
        var rotate = false

        @Option(
            help: ArgumentHelp(
                "With --rotate: how long callbacks are also signed with those before. Default: 24h.",
                valueName: "time"))
        var overlap: TimeSpan?

        func validate() throws {
            try overlap?.validate("--overlap")
            guard rotate || overlap == nil else { throw ValidationError("--overlap goes with --rotate.") }
        }

        @OptionGroup(title: "Where") var store: StoreOptions

        func run() async throws {
            let store = try await openStore(store)
            let tenant = TenantID(rawValue: tenant)
            let secrets = try await reported { () async throws(AttachmentError) in
                rotate
                    ? try await store.rotateWebhookSecret(of: tenant, overlap: overlap?.duration ?? .seconds(86_400))
                    : try await store.webhookSecrets(of: tenant)
            }
            guard let current = secrets.first else {
                throw CommandFailure("there are no keys to derive a secret from; see access.keys.")
            }
            print(current.secret.text)
        }
    }
}

/// A new key as it is shown, the only time.
private struct KeyOutput {
    var record: APIKeyRecord
    var token: AccessToken

    private struct Wire: Encodable {
        var id: String
        var tenant: TenantID
        var name: String
        var roles: [AccessRole]
        @Nullable var expiresAt: Instant?
        var key: String
    }

    func write(_ format: RecordFormat) throws {
        switch format {
        case .json:
            print(
                try JSON.text(
                    Wire(
                        id: record.id, tenant: record.tenant, name: record.name, roles: record.roles,
                        expiresAt: record.expiresAt, key: token.secretText), pretty: true))
        case .table:
            print(
                """
                id          \(record.id)
                name        \(Data(record.name.utf8).displayPath)
                tenant      \(record.tenant.rawValue)
                roles       \(record.roles.map(\.rawValue).joined(separator: ","))
                expires at  \(record.expiresAt?.description ?? "never")
                key         \(token.secretText)
                """)
            Console.printError(
                "Keep the key now: it can't be shown again. Take it back with 'satchel key revoke \(record.id)'.")
        }
    }
}

extension CommandFailure {
    fileprivate static func unknownKey(_ id: String) -> CommandFailure {
        CommandFailure(
            "there is no good key '\(Data(id.utf8).displayPath)' in the store; 'satchel key list' shows what there is.")
    }
}
