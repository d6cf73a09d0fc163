import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

/// What a user relies on once the program has said it.
struct Guarantee: Hashable {
    enum Content: Hashable {
        /// The attachment is there, all of its renditions whole.
        case keeps(AttachmentID)
        /// The attachment is gone for good.
        case deleted(AttachmentID)
        /// The token opens a main rendition.
        case opens(AccessToken)
        /// The token opens nothing any more.
        case shut(AccessToken)
        /// The upload has these bytes at least.
        case holds(UploadID, Data)
        /// The upload has just these bytes, and what it was opened for is there once.
        case whole(UploadID, Data)
        /// The upload was taken back, with its bytes.
        case abandoned(UploadID)
        /// The notification is there, in this generation or a later one.
        case notifies(NotificationID, generation: Int)
        /// The notification fires no more.
        case silent(NotificationID)
        /// The firing is there as it was made, and in its place.
        case fired(FiringID)
        /// The list of firings begins so.
        case lists([FiringID])
        /// The response is there once.
        case took(response: String)
        /// The response has the answer that was told.
        case answered(response: String)
        /// Nothing is left of the tenant.
        case removed(TenantID)
    }

    var content: Content
    /// It holds after the calls of this index and before the others: from the moment at which the program has said it
    /// until a command begins that takes it back.
    var calls: Range<Int>
}

extension Recording {
    private struct Lease: Decodable {
        var id: String
        var token: String
    }

    /// All that the commands promised.
    func guarantees() throws -> [Guarantee] {
        var guarantees: [Guarantee] = []
        var tokens: [String: AccessToken] = [:]
        func takeBack(_ content: Guarantee.Content, at call: Int) {
            for index in guarantees.indices where guarantees[index].content == content {
                guarantees[index].calls = guarantees[index].calls.lowerBound..<call
            }
        }
        for command in commands {
            let end = command.calls.upperBound - 1
            let subject = command.arguments.dropFirst().first ?? ""
            switch command.arguments[0] {
            case "add", "batch":
                for (line, call) in try lines(of: command) {
                    guard let id = line.attachmentId else { continue }
                    let kept = Guarantee.Content.keeps(AttachmentID(rawValue: id))
                    guarantees.append(Guarantee(content: kept, calls: call..<calls.count))
                }
            case "lease":
                let lease = try JSONDecoder().decode(Lease.self, from: command.output)
                let token = AccessToken(secretText: lease.token)
                tokens[lease.id] = token
                let said = try #require(outputs(of: command).last?.call)
                guarantees.append(Guarantee(content: .opens(token), calls: said..<calls.count))
            case "rm":
                let id = AttachmentID(rawValue: subject)
                takeBack(.keeps(id), at: command.calls.lowerBound)
                guarantees.append(Guarantee(content: .deleted(id), calls: end..<calls.count))
            case "revoke":
                let token = try #require(tokens[subject])
                takeBack(.opens(token), at: command.calls.lowerBound)
                guarantees.append(Guarantee(content: .shut(token), calls: end..<calls.count))
            default:
                break
            }
        }
        return guarantees
    }

    private func outputs(of command: Command) -> [(call: Int, text: Data)] {
        command.calls.compactMap { index in
            if case .output(let text) = calls[index].operation { (index, text) } else { nil }
        }
    }

    /// Each line of results, and the call with which it was whole.
    private func lines(of command: Command) throws -> [(Acknowledged, call: Int)] {
        var said = Data()
        var lines: [(Acknowledged, call: Int)] = []
        for (call, text) in outputs(of: command) {
            said += text
            let whole = try Acknowledged.lines(of: said)
            lines += whole.dropFirst(lines.count).map { ($0, call) }
        }
        return lines
    }
}

/// A tree of files that must not get lost or be seen in part, whatever is guaranteed.
struct Invariants {
    /// Sources that are removed once they are kept: their paths and contents.
    var moved: [String: String]
    /// Files that appear whole or not at all.
    var whole: [String: Data]
    /// Firings and responses as they were made.
    var firings: [FiringID: FiringRecord] = [:]
    var responses: [String: ResponseRecord] = [:]
    /// What else is wrong with a store that was just opened, and with one that was swept since.
    var opened: @Sendable (Store) async throws -> [String] = { _ in [] }
    var swept: @Sendable (Store) async throws -> [String] = { _ in [] }

    /// What is wrong with a tree in which some guarantees hold; empty when all is well.
    ///
    /// - Parameter sweeping: Whether to look also at what a sweep leaves.
    func violations(of guarantees: Set<Guarantee.Content>, in tree: Tree, sweeping: Bool) async throws -> [String] {
        let directory = try TemporaryDirectory(inMemory: true)
        let root = directory.path
        try tree.write(to: root)
        var wrong: [String] = []
        for (path, bytes) in tree.files {
            if path.hasPrefix("out/"), whole[path] != bytes { wrong.append("'\(path)' is not whole") }
        }
        let store: Store
        do {
            store = try Store.open(at: "\(root)/\(Machine.store)", keys: "\(root)/\(Machine.keys)", exclusively: true)
        } catch {
            return wrong + ["the store can't be opened: \(error)"]
        }
        do {
            let report = try await store.verify()
            if !report.missing.isEmpty { wrong.append("\(report.missing.count) blobs are missing") }
            if !report.damaged.isEmpty { wrong.append("\(report.damaged.count) blobs are damaged") }
            wrong += try await broken(guarantees, in: store)
            for (path, content) in moved where tree.files[path] != Data(content.utf8) {
                let page = try await store.records.attachments(
                    of: .local, where: RecordFilter(state: .delivered), after: nil, limit: 100)
                let name = path.split(separator: "/").last.map(String.init)
                let isKept = page.elements.contains { $0.identifier == name && $0.renditions[.original] != nil }
                if !isKept { wrong.append("'\(path)' is neither where it was nor in the store") }
            }
            wrong += try await opened(store)
            if sweeping {
                _ = try await store.sweep()
                wrong += try await swept(store)
                let report = try await store.verify()
                if !report.isSound || !report.orphaned.isEmpty { wrong.append("after a sweep: \(report)") }
                let rest = try Disk.files(in: "\(root)/\(Machine.store)").filter {
                    $0.hasPrefix("staging/") || $0.hasPrefix("workers/")
                }
                // Where nothing is under way nobody needs a source.
                let sources = try Disk.files(in: store.scratch).map { SourceName(rawValue: $0) }
                let left = rest + (try await store.records.unneeded(among: sources).map { "spool/\($0.rawValue)" })
                if !left.isEmpty { wrong.append("a sweep left \(left.sorted())") }
            }
        } catch {
            wrong.append("the store fails: \(error)")
        }
        return wrong
    }

    /// Which of some guarantees don't hold.
    func broken(_ guarantees: Set<Guarantee.Content>, in store: Store) async throws -> [String] {
        var wrong: [String] = []
        for guarantee in guarantees {
            if let broken = try await broken(guarantee, in: store) { wrong.append(broken) }
        }
        return wrong
    }

    private func broken(_ guarantee: Guarantee.Content, in store: Store) async throws -> String? {
        switch guarantee {
        case .keeps(let id):
            let record = try await store.records.attachment(id, of: .local)
            return record?.state == .delivered ? nil : "an acknowledged attachment is lost"
        case .deleted(let id):
            return try await store.records.attachment(id, of: .local) == nil ? nil : "a deleted attachment is back"
        case .opens(let token):
            return try await store.records.open(token, role: .main) == nil ? "a token opens nothing" : nil
        case .shut(let token):
            return try await store.records.open(token, role: .main) == nil ? nil : "a revoked token opens again"
        case .holds, .whole, .abandoned: return try await brokenUpload(guarantee, in: store)
        case .notifies, .silent, .fired, .lists: return try await brokenNotification(guarantee, in: store)
        case .took, .answered: return try await brokenResponse(guarantee, in: store)
        case .removed(let tenant):
            let left = try await store.records.remains(of: tenant)
            return left.isEmpty ? nil : "of a removed tenant is left: \(left)"
        }
    }
}
