import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct LeaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lease",
        abstract: "Start access to an attachment: a token that ends by itself and can be revoked.",
        discussion: """
            A lease lasts 300 seconds unless --for says otherwise, and holds the bytes against retention while it \
            lives. With --link it is a link instead: reusable by many, 24 hours, holding nothing.

              satchel lease ID
              satchel get --lease satl_… --output photo.jpg
              satchel revoke LEASE-ID
            """)

    @Argument(help: ArgumentHelp("The attachment's id.", valueName: "id"), completion: .deliveredAttachments)
    var id: String?

    @Option(help: ArgumentHelp("Start under this grant's token instead, as its holder would.", valueName: "token"))
    var grant: String?

    @Flag(help: "Make a reusable link instead of a lease.")
    var link = false

    @OptionGroup(title: "What it covers") var access: AccessOptions
    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions

    @Option(help: "How the lease is written to standard output.")
    var format = RecordFormat.table

    func validate() throws {
        if (id == nil) == (grant == nil) { throw ValidationError("Name an attachment's id, or give --grant.") }
        if link && grant != nil { throw ValidationError("--link needs an attachment's id.") }
    }

    func run() async throws {
        let store = try await openStore(store)
        let attachment = AttachmentID(rawValue: id ?? "")
        if link {
            guard
                let (record, token) = try await store.records.link(
                    to: attachment, of: tenant.id, renditions: access.renditions,
                    for: access.time?.duration ?? .seconds(86_400))
            else { throw CommandFailure.unknown(attachment.rawValue) }
            try show("link", record.id, token, attachment: record.attachment, expiresAt: record.expiresAt)
        } else if let grant {
            let lease = try await reported { () async throws(AttachmentError) in
                try await store.records.startLease(
                    in: .bearer(AccessToken(secretText: grant)), renditions: access.renditions,
                    for: access.time?.duration ?? .seconds(300))
            }
            guard let (record, token) = lease else {
                throw CommandFailure(
                    "this grant opens nothing: it is wrong, has ended, or was revoked, or it doesn't cover that rendition."
                )
            }
            access.warn(of: record.expiresAt, at: try await store.records.now())
            try show("lease", record.id, token, attachment: record.attachment, expiresAt: record.expiresAt)
        } else {
            guard
                let (record, token) = try await store.records.startLease(
                    on: attachment, in: .owner(tenant.id), renditions: access.renditions,
                    for: access.time?.duration ?? .seconds(300))
            else { throw CommandFailure.unknown(attachment.rawValue) }
            try show("lease", record.id, token, attachment: record.attachment, expiresAt: record.expiresAt)
        }
    }

    private func show(
        _ name: String, _ id: String, _ token: AccessToken, attachment: AttachmentID, expiresAt: Instant
    ) throws {
        try AccessOutput(kind: name, id: id, token: token, attachment: attachment, expiresAt: expiresAt).write(format)
    }
}

/// A started access as it is shown to the one it was made for, the only place where a token is printed whole.
struct AccessOutput {
    var kind: String
    var id: String
    var token: AccessToken
    var attachment: AttachmentID
    var expiresAt: Instant

    private struct Wire: Encodable {
        var id: String
        var attachmentId: AttachmentID
        var expiresAt: Instant
        var token: String
    }

    func write(_ format: RecordFormat) throws {
        switch format {
        case .json:
            print(
                try JSON.text(
                    Wire(id: id, attachmentId: attachment, expiresAt: expiresAt, token: token.secretText), pretty: true)
            )
        case .table:
            print(
                """
                \(kind)\(String(repeating: " ", count: 12 - kind.count))\(id)
                attachment  \(attachment.rawValue)
                expires at  \(expiresAt)
                token       \(token.secretText)
                """)
            let use = kind == "grant" ? "satchel lease --grant TOKEN" : "satchel get --lease TOKEN --output FILE"
            Console.printError("Use it with '\(use)'; end it with 'satchel revoke \(id)'.")
        }
    }
}

/// Runs a call to the store and turns its typed error into the sentence that a command ends with.
func reported<Value>(_ body: () async throws(AttachmentError) -> Value) async throws -> Value {
    do {
        return try await body()
    } catch {
        throw CommandFailure(error.message)
    }
}
