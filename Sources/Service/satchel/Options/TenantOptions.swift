import ArgumentParser
import SatchelCore

/// The option for the tenant that a command works on.
struct TenantOptions: ParsableArguments {
    @Option(
        name: .customLong("tenant"),
        help: ArgumentHelp(
            "Tenant: 'local' for the command line; 'default' or another name for the service.", valueName: "tenant"),
        completion: .tenants)
    var name = TenantID.local.rawValue

    var id: TenantID { TenantID(rawValue: name) }
}
