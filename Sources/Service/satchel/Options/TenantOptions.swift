import ArgumentParser
import SatchelCore

/// Whose things a command looks at.
struct TenantOptions: ParsableArguments {
    @Option(
        name: .customLong("tenant"),
        help: ArgumentHelp(
            "Whose: 'local' for the command line's, 'default' or another for the service's.", valueName: "tenant"),
        completion: .tenants)
    var name = TenantID.local.rawValue

    var id: TenantID { TenantID(rawValue: name) }
}
