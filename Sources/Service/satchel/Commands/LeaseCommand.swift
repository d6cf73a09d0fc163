import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct LeaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lease",
        abstract: "Start access to an attachment with a token that expires and can be revoked.",
        discussion: """
            A lease lasts 300 seconds by default. While it is active, the bytes are kept even if their retention time has \
            passed. With --link, the command creates a link instead, which serves many readers, lasts 24 hours by default, \
            and does not delay the deletion of the bytes.

            Examples:

              satchel lease ID
              satchel get --lease satl_… --output photo.jpg
              satchel revoke LEASE-ID
            """)

    @Argument(help: ArgumentHelp("ID of the attachment.", valueName: "id"), completion: .deliveredAttachments)
    var id: String?

    @Option(help: ArgumentHelp("Token of the grant to start the lease with, instead of an id.", valueName: "token"))
    var grant: String?

    @Flag(help: "Create a link instead of a lease.")
    var link = false

    @OptionGroup(title: "Access") var access: AccessOptions
    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    @Option(help: "Output format.")
    var format = RecordFormat.table

    func validate() throws {
        if (id == nil) == (grant == nil) { throw ValidationError("Give either the id of an attachment or --grant.") }
        if link && grant != nil { throw ValidationError("--link needs the id of an attachment.") }
    }

    func run() async throws {
        let store = try await openStore(store)
        let attachment = id.map { AttachmentID(rawValue: $0) }
        let given =
            if link, let attachment {
                try await store.records.link(
                    to: attachment, of: tenant.id, renditions: access.renditions,
                    for: access.time?.duration ?? AccessLimits.link)
            } else {
                try await store.records.startLease(
                    on: attachment, in: access.scope(grant: grant, owner: tenant.id), renditions: access.renditions,
                    for: access.time?.duration ?? AccessLimits.lease)
            }
        guard let (record, token) = given else { throw access.refusal(of: id) }
        if grant != nil { access.warn(of: record.expiresAt, at: try await store.records.now()) }
        try showOnce(
            link ? "link" : "lease", record.id, token, attachment: record.attachment, expiresAt: record.expiresAt,
            format)
    }
}

/// Shows a new lease, link or grant with its token.
func showOnce(
    _ kind: String, _ id: String, _ token: AccessToken, attachment: AttachmentID, expiresAt: Instant,
    _ format: RecordFormat
) throws {
    let use = kind == "grant" ? "satchel lease --grant TOKEN" : "satchel get --lease TOKEN --output FILE"
    try showOnce(
        format,
        ["id": id, "attachmentId": attachment, "expiresAt": expiresAt, "token": token.secretText],
        [
            (kind, id), ("attachment", attachment.rawValue), ("expires at", "\(expiresAt)"),
            ("token", token.secretText),
        ],
        advice: "To use it, run '\(use)'. To revoke it, run 'satchel revoke \(id)'.")
}

/// Shows something new with its secret, which is printed in full only here.
func showOnce(
    _ format: RecordFormat, _ fields: JSONFields, _ facts: [(String, String)], advice: String
) throws {
    switch format {
    case .json: print(try JSON.text(fields, pretty: true))
    case .table:
        print(aligned(facts, at: 12).joined(separator: "\n"))
        Console.printError(advice)
    }
}
