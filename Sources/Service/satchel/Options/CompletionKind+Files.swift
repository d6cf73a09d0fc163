import ArgumentParser
import SatchelCore
import Foundation
import Stores

// Completions that shells offer for values. Each argument for a file, a directory or a name declares one; otherwise
// shells offer nothing, not even files.

extension CompletionKind {
    static let json = CompletionKind.file(extensions: ["json"])
    static let yaml = CompletionKind.file(extensions: ["yaml", "yml"])

    static let tenants = CompletionKind.list([TenantID.local.rawValue, TenantID.service.rawValue])

    /// The names of the built-in profiles and of those in the file of `--profiles`.
    static let profiles = CompletionKind.custom { words, _, _ in
        let file = TypedOptions(words)["--profiles"] ?? ProfileFileOptions.standardFile
        return ((try? ProfileFileOptions.all(in: file)) ?? Profile.builtIn).map(\.name)
    }

    /// The ids of the newest attachments.
    static let attachments = attachments(in: nil)

    /// The ids of the newest attachments whose bytes can be read.
    static let deliveredAttachments = attachments(in: .delivered)

    private static func attachments(in state: WorkState?) -> CompletionKind {
        identifiers { records, tenant, prefix in
            try await records.attachments(
                of: tenant, where: RecordFilter(state: state), after: last(startingWith: prefix), limit: offered
            ).elements.map(\.id.rawValue)
        }
    }

    /// The ids of the newest attachments and jobs.
    static let attachmentsAndJobs = identifiers { records, tenant, prefix in
        let attachments = try await records.attachments(
            of: tenant, where: RecordFilter(), after: last(startingWith: prefix), limit: offered)
        let jobs = try await records.jobs(of: tenant, where: RecordFilter(), after: nil, limit: offered)
        return attachments.elements.map(\.id.rawValue) + jobs.elements.map(\.id.rawValue)
    }

    /// The greatest id with a prefix: ids are listed in descending order.
    private static func last(startingWith prefix: String) -> String? {
        prefix.isEmpty ? nil : prefix + "ffffffff-ffff-ffff-ffff-ffffffffffff".dropFirst(prefix.count)
    }

    /// The ids of the newest active leases, links and grants.
    static let access = identifiers { records, tenant, prefix in
        try await records.liveAccess(of: tenant, startingWith: prefix, limit: offered)
    }

    /// The ids of the keys that haven't been revoked.
    static let keys = identifiers { records, _, _ in
        try await records.keys(of: nil).filter { $0.revokedAt == nil }.map(\.id)
    }

    /// The ids of the categories.
    static let categories = identifiers { records, tenant, _ in
        try await records.categories(of: tenant).map(\.id)
    }

    /// The maximum number of completions.
    private static let offered = 100

    /// Finds ids in the store that the command line names; none if there is no store.
    private static func identifiers(
        _ find: @escaping @Sendable (RecordStore, TenantID, _ prefix: String) async throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            let typed = TypedOptions(words)
            guard let options = try? StoreOptions.parse(typed["--store"].map { ["--store", $0] } ?? []),
                let store = try? await openStore(options)
            else { return [] }
            let tenant = typed["--tenant"].map(TenantID.init(rawValue:)) ?? .local
            let found = (try? await find(store.records, tenant, prefix)) ?? []
            return found.filter { $0.hasPrefix(prefix) }
        }
    }
}

/// The values of options in an unfinished command line.
private struct TypedOptions {
    private let words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    subscript(name: String) -> String? {
        for (index, word) in words.enumerated().reversed() {
            if word.hasPrefix(name + "=") { return Self.unquoted(String(word.dropFirst(name.count + 1))) }
            if word == name, index + 1 < words.count { return Self.unquoted(words[index + 1]) }
        }
        return nil
    }

    /// Removes quotes and escapes, because shells pass words as typed.
    private static func unquoted(_ word: String) -> String? {
        let text = word.replacing("\\ ", with: " ").filter { $0 != "'" && $0 != "\"" }
        guard text.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else {
            return text.isEmpty || text == "=" ? nil : text
        }
        return home + text.dropFirst()
    }
}
