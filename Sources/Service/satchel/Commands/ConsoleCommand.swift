import API
import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Print a link that signs in to the console of a running service, in a browser.",
        discussion: """
            The link is good once, for five minutes; who opens it is signed in for an hour. It begins with public_url of \
            the configuration, else with the address that the service listens on.

              satchel console
              satchel console --tenant acme --roles read
            """)

    @Option(help: ArgumentHelp("Whose things are shown.", valueName: "tenant"), completion: .tenants)
    var tenant = TenantID.service.rawValue

    @Option(
        help: ArgumentHelp(
            "What may be done there: submit, read or admin; several with commas, or repeated. Default: admin.",
            valueName: "role"))
    var roles: [Several<AccessRole>] = []

    @OptionGroup(title: "Where") var store: StoreOptions

    func validate() throws {
        guard (1...128).contains(tenant.utf8.count), tenant.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ValidationError("--tenant must be 1 to 128 printable ASCII characters without spaces.")
        }
    }

    func run() async throws {
        var service = StoreOptions.configured
        service.completePublicURL()
        guard service.settings.hasConsole else {
            throw CommandFailure("The console is switched off. Set 'console: true' in the configuration.")
        }
        let store = try await openStore(store)
        let given: [AccessRole] = roles.all()
        let (_, code) = try await reported { () async throws(AttachmentError) in
            try await store.records.newConsoleCode(
                for: TenantID(rawValue: tenant),
                roles: given.isEmpty ? [.admin] : AccessRole.allCases.filter(given.contains))
        }
        try ResultOutput().line(
            "\(service.publicURL ?? "http://127.0.0.1:8080")/console/sign-in?code=\(code.secretText)")
    }
}
