import ArgumentParser
import SatchelCore
import Stores

struct GrantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Create a grant: the right to start leases on an attachment and to derive narrower grants.",
        discussion: """
            A grant lasts an hour by default and 30 days at most. With --from, it is derived from another grant and cannot \
            cover more. Revoking a grant also revokes the grants and leases derived from it.

            Examples:

              satchel grant ID --for 7d
              satchel grant --from satg_… --rendition thumbnail
            """)

    @Argument(help: ArgumentHelp("ID of the attachment.", valueName: "id"), completion: .deliveredAttachments)
    var id: String?

    @Option(help: ArgumentHelp("Token of the grant to derive it from, instead of an id.", valueName: "token"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "Maximum number of leases active at once. Default: 16, or as many as the grant of --from allows.",
            valueName: "count"))
    var leases: Int?

    @OptionGroup(title: "Access") var access: AccessOptions
    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    @Option(help: "Output format.")
    var format = RecordFormat.table

    func validate() throws {
        if (id == nil) == (from == nil) { throw ValidationError("Give either the id of an attachment or --from.") }
        if let leases, !(1...10_000).contains(leases) {
            throw ValidationError("--leases must be between 1 and 10000, not \(leases).")
        }
    }

    func run() async throws {
        let store = try await openStore(store)
        let granted = try await store.records.grant(
            on: id.map { AttachmentID(rawValue: $0) }, in: access.scope(grant: from, owner: tenant.id),
            renditions: access.renditions, for: access.time?.duration ?? AccessLimits.grant,
            leaseLimit: leases ?? (from == nil ? 16 : nil))
        guard let (record, token) = granted else { throw access.refusal(of: id) }
        access.warn(of: record.expiresAt, at: try await store.records.now())
        if let leases, let limit = record.leaseLimit, limit < leases {
            Console.printError("Warning: the parent grant allows at most \(Quantity.count(limit, "lease")) at once.")
        }
        try showOnce(
            "grant", record.id, token, attachment: record.attachment, expiresAt: record.expiresAt, format)
    }
}
