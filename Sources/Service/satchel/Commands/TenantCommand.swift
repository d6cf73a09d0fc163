import ArgumentParser

struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract: "Export or delete everything that is stored for a tenant.",
        discussion: """
            Examples:

              satchel tenant export acme acme-2026
              satchel tenant rm acme
            """,
        subcommands: [ExportTenant.self, RemoveTenant.self])
}
