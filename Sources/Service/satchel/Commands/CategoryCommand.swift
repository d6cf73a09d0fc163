import API
import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct CategoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "category",
        abstract: "Manage notification categories: actions, content extensions and response handling.",
        discussion: """
            A payload names its category in aps.category. A running service uses a changed category from the next \
            payload on.

            The option --as exports categories for an app: 'json' is for SatchelCategories.register, 'swift' is code that \
            registers them, and 'plist' is for the Info.plist of a Notification Content extension.

            Examples:

              satchel category put event-invite.json
              satchel category list --as swift > Categories.swift
              satchel category show event-invite --as plist
              satchel category rm event-invite
            """,
        subcommands: [Put.self, ListCategories.self, ShowCategory.self, RemoveCategory.self])

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "put",
            abstract: "Add a category, or replace the one with the same id.")

        @Argument(help: ArgumentHelp("The category as JSON.", valueName: "file"), completion: .json)
        var path: String

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func run() async throws {
            let category = try Self.category(in: path)
            let store = try await openStore(store, create: true)
            let isNew = try await store.records.putCategory(category, of: tenant.id)
            print("\(category.id) was \(isNew ? "added" : "replaced")")
        }

        /// Reads a file with the profiles and callback exceptions of the configured service.
        private static func category(in path: String) throws -> Category {
            let configuration = StoreOptions.configured
            let contents: Data
            let allowances: [FetchAllowance]
            do {
                contents = try Data(contentsOf: URL(filePath: path))
                allowances = try FetchAllowance.list(configuration.webhookAllow)
            } catch let problem as FetchAllowanceProblem {
                throw CommandFailure("callback.allow: \(problem)", status: .usage)
            } catch {
                throw CommandFailure(
                    "'\(path)' can't be read. Check that it exists and that you have permission.", status: .usage)
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

        @Option(
            name: .customLong("as"),
            help: ArgumentHelp("Export the categories for an app instead of listing them.", valueName: "form"))
        var form: CategoryExport?

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        @Option(help: "Output format.")
        var format = RecordFormat.table

        func run() async throws {
            let store = try await openStore(store)
            let categories = try await store.records.categories(of: tenant.id)
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
            commandName: "show", abstract: "Show a category as JSON, in the form that 'put' takes.")

        @Argument(help: ArgumentHelp("ID of the category.", valueName: "id"), completion: .categories)
        var id: String

        @Option(
            name: .customLong("as"),
            help: ArgumentHelp("Export the category for an app instead of showing it.", valueName: "form"))
        var form: CategoryExport?

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            let found = try await store.records.category(id, of: tenant.id)
            guard let category = found else { throw CommandFailure.unknownCategory(id) }
            print(try form.map { try $0.text([category]) } ?? JSON.text(category, pretty: true) + "\n", terminator: "")
        }
    }

    struct RemoveCategory: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rm", abstract: "Delete categories.")

        @Argument(help: ArgumentHelp("IDs of the categories.", valueName: "id"), completion: .categories)
        var ids: [String]

        @OptionGroup(title: "Store") var store: StoreOptions
        @OptionGroup(title: "Store") var tenant: TenantOptions

        func run() async throws {
            let store = try await openStore(store)
            for id in ids {
                let isKnown = try await store.records.deleteCategory(id, of: tenant.id)
                guard isKnown else { throw CommandFailure.unknownCategory(id) }
            }
        }
    }
}

extension CommandFailure {
    fileprivate static func unknownCategory(_ id: String) -> CommandFailure {
        unknown("category", id, list: "satchel category list")
    }
}
