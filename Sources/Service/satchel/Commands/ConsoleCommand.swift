import API
import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Print a link that signs you in to the console of a running service.",
        discussion: """
            The link works once, within five minutes, and signs you in for an hour. It starts with the URL of the setting \
            public_url, or with the address that the service listens on.

            Examples:

              satchel console
              satchel console --tenant acme --roles read
            """)

    @Option(help: ArgumentHelp("Tenant that the console shows.", valueName: "tenant"), completion: .tenants)
    var tenant = TenantID.service.rawValue

    @Option(
        help: ArgumentHelp(
            "Roles to sign in with: submit, read or admin (comma-separated or repeated). Default: admin.",
            valueName: "role"))
    var roles: [Several<AccessRole>] = []

    @OptionGroup(title: "Store") var store: StoreOptions

    func validate() throws {
        guard (1...128).contains(tenant.utf8.count), tenant.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ValidationError("--tenant must be 1 to 128 printable ASCII characters without spaces.")
        }
    }

    func run() async throws {
        var service = StoreOptions.configured
        service.completePublicURL()
        guard service.settings.hasConsole else {
            throw CommandFailure(
                "the console is turned off. Set 'console' to true in the configuration.", status: .usage)
        }
        let store = try await openStore(store)
        let given: [AccessRole] = roles.all()
        let (_, code) = try await store.records.newConsoleCode(
            for: TenantID(rawValue: tenant),
            roles: given.isEmpty ? [.admin] : AccessRole.allCases.filter(given.contains))
        try ResultOutput().line(
            "\(service.publicURL ?? "http://127.0.0.1:8080")/console/sign-in?code=\(code.secretText)")
    }
}
