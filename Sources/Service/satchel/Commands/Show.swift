import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the record of an attachment or a job as JSON.",
        discussion: """
            The record lists the renditions, and each processing step with its reason and duration.

            Examples:

              satchel show 01a1fd9a-2518-7630-88ed-84357db1afa9
            """)

    @Argument(
        help: ArgumentHelp("ID of an attachment or a job.", valueName: "id"), completion: .attachmentsAndJobs)
    var id: String

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    func run() async throws {
        let store = try await openStore(store)
        if let record = try await store.records.attachment(AttachmentID(rawValue: id), of: tenant.id) {
            print(try JSON.text(record, pretty: true))
        } else if let record = try await store.records.job(JobID(rawValue: id), of: tenant.id) {
            print(try JSON.text(record, pretty: true))
        } else {
            throw CommandFailure.unknownAttachment(id)
        }
    }
}

extension CommandFailure {
    /// - Parameter list: The command that lists those that there are.
    static func unknown(_ what: String, _ id: String, list: String? = nil) -> CommandFailure {
        let advice = list.map { " See '\($0)'." } ?? ""
        return CommandFailure(
            "there is no \(what) '\(Data(id.utf8).displayPath)' in the store.\(advice)", status: .notFound)
    }

    static func unknownAttachment(_ id: String) -> CommandFailure {
        unknown("attachment", id, list: "satchel list")
    }
}
