import API
import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct CategoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "category",
        abstract: "What payloads name in aps.category: actions, content extension, and who is told of responses.",
        discussion: """
            A running service uses what was put here from its next payload on. For example:

              satchel category put event-invite.json
              satchel category list --as swift > Categories.swift
              satchel category show event-invite --as plist

            --as gives what an app takes: json for SatchelCategories.register, swift that registers them, or the \
            fragment of the Info.plist of a Notification Content extension.
            """,
        subcommands: [Put.self, ListCategories.self, ShowCategory.self, RemoveCategory.self])

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "put",
            abstract: "Add a category, or replace the one with its id; report every problem at once.")

        @Argument(help: ArgumentHelp("The JSON file.", valueName: "file"), completion: .json)
        var path: String

        @OptionGroup(title: "Where") var store: StoreOptions
        @OptionGroup(title: "Where") var tenant: TenantOptions

        func run() async throws {
            let category = try Self.category(in: path)
            let store = try await openStore(store, create: true)
            let isNew = try await reported { () async throws(AttachmentError) in
                try await store.records.putCategory(category, of: tenant.id)
            }
            print("\(category.id) is \(isNew ? "new" : "replaced")")
        }

        /// Reads a file by the rules of the service that uses the same configuration.
        private static func category(in path: String) throws -> Category {
            let configuration = StoreOptions.configured
            let contents: Data
            let allowances: [FetchAllowance]
            do {
                contents = try Data(contentsOf: URL(filePath: path))
                allowances = try FetchAllowance.list(configuration.webhookAllow)
            } catch let problem as FetchAllowanceProblem {
                throw CommandFailure("callback.allow: \(problem)", status: 2)
            } catch {
                throw CommandFailure("\(path) cannot be read; check the path and its mode.", status: 2)
            }
            let reader = CategoryReader(
                profiles: try ProfileFileOptions.all(in: configuration.profiles).map(\.name),
                webhooks: FetchGuard(allowing: allowances))
            do {
                return try reader.category(file: contents)
            } catch {
                throw CommandFailure(error, in: path)
            }
        }
    }

    struct ListCategories: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the categories.")

        @Option(name: .customLong("as"), help: "What an app takes of them, instead of a list.")
        var form: CategoryExport?

        @OptionGroup(title: "Where") var store: StoreOptions
        @OptionGroup(title: "Where") var tenant: TenantOptions

        @Option(help: "How the categories are written to standard output.")
        var format = RecordFormat.table

        func run() async throws {
            let store = try await openStore(store)
            let categories = try await reported { () async throws(AttachmentError) in
                try await store.records.categories(of: tenant.id)
            }
            if let form {
                print(try form.text(categories), terminator: "")
                return
            }
            switch format {
            case .json: print(try JSON.text(categories, pretty: true))
            case .table:
                print(
                    table(
                        ["CATEGORY", "ACTIONS", "EXTENSION", "RESPONSES", "PROFILE"], categories.map(Self.cells)))
            }
        }

        private static func cells(_ category: Category) -> [String] {
            let actions = category.actions.map { Data($0.id.utf8).displayPath }.joined(separator: ",")
            let told = [
                category.responses?.handler.map { _ in "handler" }, category.responses?.forward.map { _ in "forward" },
            ].compactMap(\.self).joined(separator: ",")
            return [
                category.id, actions.isEmpty ? "-" : actions, category.extension == nil ? "-" : "yes",
                told.isEmpty ? "-" : told, category.profile ?? "-",
            ]
        }
    }

    struct ShowCategory: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a category as JSON, ready to be changed and put again.")

        @Argument(help: ArgumentHelp("The category's id.", valueName: "id"), completion: .categories)
        var id: String

        @Option(name: .customLong("as"), help: "What an app takes of it, instead of all.")
        var form: CategoryExport?

        @OptionGroup(title: "Where") var store: StoreOptions
        @OptionGroup(title: "Where") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            let found = try await reported { () async throws(AttachmentError) in
                try await store.records.category(id, of: tenant.id)
            }
            guard let category = found else { throw CommandFailure.unknownCategory(id) }
            print(try form.map { try $0.text([category]) } ?? JSON.text(category, pretty: true) + "\n", terminator: "")
        }
    }

    struct RemoveCategory: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Delete categories.")

        @Argument(help: ArgumentHelp("The categories' ids.", valueName: "id"), completion: .categories)
        var ids: [String]

        @OptionGroup(title: "Where") var store: StoreOptions
        @OptionGroup(title: "Where") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            for id in ids {
                let isKnown = try await reported { () async throws(AttachmentError) in
                    try await store.records.deleteCategory(id, of: tenant.id)
                }
                guard isKnown else { throw CommandFailure.unknownCategory(id) }
            }
        }
    }
}

extension CommandFailure {
    fileprivate static func unknownCategory(_ id: String) -> CommandFailure {
        CommandFailure(
            "there is no category '\(Data(id.utf8).displayPath)' in the store; 'satchel category list' shows what there is."
        )
    }
}
