import ArgumentParser

struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract: "All that is kept of one tenant.",
        discussion: """
            For example:

              satchel tenant export acme acme-2026   its records, and its renditions with their hashes
              satchel tenant rm acme                 all of it goes, access first
            """,
        subcommands: [ExportTenant.self, RemoveTenant.self])
}
