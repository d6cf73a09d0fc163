import ArgumentParser
import SatchelCore
import Stores

struct GrantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Give somebody the right to start leases on an attachment, and to pass on narrower ones.",
        discussion: """
            A grant lasts an hour unless --for says otherwise, at most 30 days. With --from, a narrower one is derived \
            from a grant; revoking a grant takes all that was derived from it.

              satchel grant ID --for 7d
              satchel grant --from satg_… --rendition thumbnail
            """)

    @Argument(help: ArgumentHelp("The attachment's id.", valueName: "id"), completion: .deliveredAttachments)
    var id: String?

    @Option(help: ArgumentHelp("Derive it from this grant's token instead.", valueName: "token"))
    var from: String?

    @Option(help: ArgumentHelp("Leases that may be live at once.", valueName: "count"))
    var leases: Int?

    @OptionGroup(title: "What it covers") var access: AccessOptions
    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions

    @Option(help: "How the grant is written to standard output.")
    var format = RecordFormat.table

    func validate() throws {
        if (id == nil) == (from == nil) { throw ValidationError("Name an attachment's id, or give --from.") }
        if let leases, !(1...10_000).contains(leases) {
            throw ValidationError("--leases must be between 1 and 10000, not \(leases).")
        }
    }

    func run() async throws {
        let store = try await openStore(store)
        let duration = access.time?.duration ?? .seconds(3600)
        let granted: (GrantRecord, AccessToken)?
        if let from {
            granted = try await store.records.grant(
                on: nil, in: .bearer(AccessToken(secretText: from)), renditions: access.renditions, for: duration,
                leaseLimit: leases)
            guard granted != nil else {
                throw CommandFailure(
                    "this grant opens nothing: it is wrong, has ended, or was revoked, or it doesn't cover that rendition."
                )
            }
        } else {
            granted = try await store.records.grant(
                on: AttachmentID(rawValue: id ?? ""), in: .owner(tenant.id), renditions: access.renditions,
                for: duration,
                leaseLimit: leases ?? 16)
        }
        guard let (record, token) = granted else { throw CommandFailure.unknown(id ?? "") }
        access.warn(of: record.expiresAt, at: try await store.records.now())
        if let leases, record.leaseLimit < leases {
            Console.printError(
                "Warning: at most \(Quantity.count(record.leaseLimit, "lease")) may be live, as under the grant it comes from."
            )
        }
        try AccessOutput(
            kind: "grant", id: record.id, token: token, attachment: record.attachment, expiresAt: record.expiresAt
        ).write(format)
    }
}
