import ArgumentParser
import SatchelCore
import CSandbox
import Foundation
import Glibc
import Ingest
import Stores

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Read the bytes of a rendition.",
        discussion: """
            By the attachment's id as its owner, or through a lease or link, which works until it ends or is revoked.

              satchel get ID --output photo.jpg
              satchel get ID --rendition thumbnail > thumbnail.jpg
              satchel get --lease satl_… --output photo.jpg

            What is kept encrypted is decrypted with its key from the store, as it was before; with --encrypted it comes as it is
            kept.
            """)

    @Argument(help: ArgumentHelp("The attachment's id.", valueName: "id"), completion: .deliveredAttachments)
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The token of a lease or link, instead of an id; '-' reads it from standard input.", valueName: "token"))
    var lease: String?

    @Option(help: ArgumentHelp("Which rendition. Default: the one to show.", valueName: "name"))
    var rendition: RenditionRole?

    @Option(
        name: [.long, .customShort("o")],
        help: ArgumentHelp("Write to this file, which must not exist.", valueName: "file"), completion: .file())
    var output: String?

    @Flag(help: "As it is kept: without it, what is encrypted is decrypted.")
    var encrypted = false

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions

    func validate() throws {
        if (id == nil) == (lease == nil) { throw ValidationError("Name an attachment's id, or give --lease.") }
    }

    func run() async throws {
        if output == nil && isatty(STDOUT_FILENO) == 1 {
            throw CommandFailure(
                "a terminal can't show the bytes: give --output FILE, or redirect the output.", status: 2)
        }
        let store = try await openStore(store)
        let (blob, rendition, owner) = try await found(in: store.records)
        let encryption = try encryption(of: rendition, owner, store.records)
        let target: Descriptor
        if let output {
            let number = unsafe open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard number >= 0 else { throw CommandFailure("'\(output)' can't be made: \(SystemErrorText.current).") }
            target = Descriptor(owning: number)
        } else {
            target = Descriptor(owning: dup(STDOUT_FILENO))
        }
        do {
            if let encryption {
                let ciphertext = try MemoryScratch.make()
                try await store.blobs.write(blob, to: ciphertext)
                let plaintext = try await encryption.decrypted(ciphertext)
                try copyFile(plaintext.descriptor, to: target)
            } else {
                try await store.blobs.write(blob, to: target)
            }
        } catch let error as CopyFailure {
            throw CommandFailure("the system \(error.cause).")
        }
    }

    /// Nil for bytes that are wanted as they are.
    private func encryption(
        of rendition: Rendition?, _ owner: TenantID, _ records: any RenditionKeyRecords
    ) throws -> MediaEncryption? {
        guard !encrypted, let rendition, let sealed = rendition.encryption else { return nil }
        let opened = records.unseal(sealed, of: owner, for: rendition.sha256)
        guard opened.key != nil else {
            throw CommandFailure(
                "the key of this rendition was lost with the one that sealed it; --encrypted reads it as it is kept.")
        }
        return opened
    }

    private func found(
        in records: any JobRecords & AccessRecords
    ) async throws -> (BlobName, Rendition?, TenantID) {
        if let lease {
            let token = lease == "-" ? readLine() ?? "" : lease
            guard let found = try await records.open(AccessToken(secretText: token), role: rendition ?? .main) else {
                throw CommandFailure(
                    "this token opens nothing: it is wrong, has ended, or was revoked, or it doesn't cover that rendition."
                )
            }
            return (found.blob, found.rendition, found.tenant)
        }
        let attachment = AttachmentID(rawValue: id ?? "")
        guard let record = try await records.attachment(attachment, of: tenant.id) else {
            throw CommandFailure.unknown(attachment.rawValue)
        }
        let role = rendition ?? record.best ?? .main
        guard let blob = try await records.blob(of: role, of: attachment, tenant: tenant.id) else {
            let names = record.renditions.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw CommandFailure(
                "the attachment has no rendition '\(role.rawValue)'; "
                    + (names.isEmpty ? "it was not delivered." : "it has \(names)."))
        }
        return (blob, record.renditions[role], tenant.id)
    }
}

/// Files that lie in memory alone.
private enum MemoryScratch {
    static func make() throws -> Descriptor {
        let number = csandbox_memory_file()
        guard number >= 0 else { throw CommandFailure("there is no memory for the file: \(SystemErrorText.current).") }
        return Descriptor(owning: number)
    }
}
