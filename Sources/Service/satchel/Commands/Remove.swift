import ArgumentParser
import SatchelCore
import Stores

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Delete attachments and end all access to them.",
        discussion: """
            Examples:

              satchel rm 01a1fd9a-2518-7630-88ed-84357db1afa9
            """)

    @Argument(help: ArgumentHelp("IDs of the attachments.", valueName: "id"), completion: .attachments)
    var ids: [String]

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    func run() async throws {
        let store = try await openStore(store, freesSpace: true)
        var unknown: [String] = []
        for id in ids {
            let isKnown = try await store.records.delete(AttachmentID(rawValue: id), of: tenant.id)
            if !isKnown { unknown.append(id) }
        }
        if let first = unknown.first { throw CommandFailure.unknownAttachment(first) }
    }
}
