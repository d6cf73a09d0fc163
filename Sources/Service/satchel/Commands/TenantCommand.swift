import SatchelCore
internal import Bytes
import API
import ArgumentParser
import Foundation
import Glibc
import Ingest
import Stores

struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract: "Export or delete everything that is stored for a tenant.",
        discussion: """
            Examples:

              satchel tenant export acme acme-2026
              satchel tenant rm acme
            """,
        subcommands: [ExportTenant.self, RemoveTenant.self])
}

struct ExportTenant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a tenant's records and renditions to a directory.",
        discussion: """
            Records are written as JSON lines, in the form that the API has: jobs.jsonl, attachments.jsonl and so on. \
            Renditions are written to renditions/ID/ROLE.EXT, and their hashes to SHA256SUMS, for 'sha256sum -c'. The \
            export contains no token, key or secret. Run the command again to add what is missing or has changed.
            """)

    @Argument(help: ArgumentHelp("Name of the tenant.", valueName: "name"), completion: .tenants)
    var name: String

    @Argument(
        help: ArgumentHelp("Directory to write to, created if necessary.", valueName: "directory"),
        completion: .directory)
    var directory: String

    @OptionGroup(title: "Store") var store: StoreOptions

    private var place: URL { URL(filePath: directory, directoryHint: .isDirectory) }

    func run() async throws {
        let store = try await openStore(store)
        let lost = try await store.withService { service, _ in
            let export = TenantExport(of: TenantID(rawValue: name), from: service)
            try make(place)
            for list in TenantExport.List.allCases {
                let file = try PartFile(place.appending(path: "\(list.rawValue).jsonl"))
                try await export.lines(of: list) { try file.write($0 + Data("\n".utf8)) }
                try file.finish()
            }
            return try await renditions(by: export, in: store)
        }
        guard lost.isEmpty else {
            throw CommandFailure(
                "\(Quantity.count(lost.count, "rendition")) can't be read, such as \(lost[0]). 'satchel store verify' says why."
            )
        }
    }

    /// - Returns: The paths of renditions whose bytes can't be read.
    private func renditions(by export: TenantExport, in store: Store) async throws -> [String] {
        var lost: [String] = []
        let sums = try PartFile(place.appending(path: "SHA256SUMS"))
        try await export.attachments { attachment in
            for (role, rendition) in attachment.renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let path = "renditions/\(attachment.id.rawValue)/\(role.rawValue).\(rendition.mediaType.fileExtension)"
                let target = place.appending(path: path)
                if try FileDigest.sha256(ofFile: target.path) != rendition.sha256 {
                    guard
                        let blob = try await store.records.blob(
                            of: role, of: attachment.id, tenant: attachment.tenant)
                    else { continue }
                    try make(target.deletingLastPathComponent())
                    let file = try PartFile(target)
                    do {
                        try await store.blobs.write(blob, to: file.descriptor)
                    } catch let failure as CopyFailure {
                        guard case .source = failure else {
                            throw CommandFailure("the system \(failure.cause).", status: .unavailable)
                        }
                        lost.append(path)
                        continue
                    } catch let error as AttachmentError where error.code == .notInStore {
                        lost.append(path)
                        continue
                    }
                    guard try FileDigest.sha256(ofFile: file.path) == rendition.sha256 else {
                        lost.append(path)
                        continue
                    }
                    try file.finish()
                }
                try sums.write(Data("\(rendition.sha256)  \(path)\n".utf8))
            }
        }
        try sums.finish()
        return lost
    }

    private func make(_ directory: URL) throws {
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                "'\(directory.path)' can't be created. Choose a directory that you can write to.", status: .usage)
        }
    }
}

/// A file that gets its final name once it is complete.
private final class PartFile {
    let descriptor: Descriptor
    let path: String
    private let target: URL
    private var isFinished = false

    init(_ target: URL) throws {
        self.target = target
        path = target.path + ".part"
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw CommandFailure("'\(path)' can't be created: \(SystemErrorText.current).", status: .usage)
        }
        descriptor = Descriptor(owning: number)
    }

    func write(_ data: Data) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor.number, $0.baseAddress, $0.count)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                throw CommandFailure("'\(path)' can't be written: \(SystemErrorText.current).", status: .unavailable)
            }
            rest = rest.dropFirst(written)
        }
    }

    func finish() throws {
        guard unsafe rename(path, target.path) == 0 else {
            throw CommandFailure("'\(target.path)' can't be written: \(SystemErrorText.current).", status: .unavailable)
        }
        isFinished = true
    }

    deinit {
        if !isFinished { unsafe unlink(path) }
    }
}

struct RemoveTenant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Permanently delete everything that is stored for a tenant.",
        discussion: """
            First, all access is revoked: keys, grants, leases, links, tickets and console sessions. Jobs, firings and calls \
            are cancelled. Then the records and renditions are deleted. If the command is interrupted, run it again; a \
            running service also completes the deletion. Other tenants keep their renditions, even if the bytes are the \
            same.
            """)

    @Argument(help: ArgumentHelp("Name of the tenant.", valueName: "name"), completion: .tenants)
    var name: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: "Store") var store: StoreOptions

    func run() async throws {
        let store = try await openStore(store)
        if !yes {
            Console.printError(
                "This deletes everything stored for the tenant '\(Data(name.utf8).displayPath)'. Type its name to continue:"
            )
            guard readLine() == name else {
                throw CommandFailure("the name does not match; nothing was deleted.", status: .usage)
            }
        }
        try await store.remove(TenantID(rawValue: name))
    }
}
