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
            Give the id of an attachment, or the token of a lease or link. A token works until it expires or is revoked.

            Encrypted renditions are decrypted with the key in the store, unless --encrypted is given.

            Examples:

              satchel get ID --output photo.jpg
              satchel get ID --rendition thumbnail > thumbnail.jpg
              satchel get --lease satl_… --output photo.jpg
            """)

    @Argument(help: ArgumentHelp("ID of the attachment.", valueName: "id"), completion: .deliveredAttachments)
    var id: String?

    @Option(
        help: ArgumentHelp(
            "Token of a lease or link, instead of an id; '-' reads it from standard input.", valueName: "token"))
    var lease: String?

    @Option(help: ArgumentHelp("Rendition to read. Default: the best one to show.", valueName: "name"))
    var rendition: RenditionRole?

    @Option(
        name: [.long, .customShort("o")],
        help: ArgumentHelp("Write to this file, which must not exist yet.", valueName: "file"), completion: .file())
    var output: String?

    @Flag(help: "Do not decrypt an encrypted rendition.")
    var encrypted = false

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    func validate() throws {
        if (id == nil) == (lease == nil) { throw ValidationError("Give either the id of an attachment or --lease.") }
    }

    func run() async throws {
        if output == nil && isatty(STDOUT_FILENO) == 1 {
            throw CommandFailure(
                "the bytes can't be shown on a terminal. Use --output FILE, or redirect the output.", status: .usage)
        }
        let store = try await openStore(store)
        let (blob, rendition, owner) = try await found(in: store.records)
        let encryption = try encryption(of: rendition, owner, store.records)
        let target: Descriptor
        if let output {
            let number = unsafe open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard number >= 0 else {
                throw CommandFailure("'\(output)' can't be created: \(SystemErrorText.current).", status: .usage)
            }
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
            throw CommandFailure("the system \(error.cause).", status: .unavailable)
        }
    }

    /// Returns the opened encryption of a rendition, or `nil` if its bytes are written unchanged.
    private func encryption(
        of rendition: Rendition?, _ owner: TenantID, _ records: RecordStore
    ) throws -> MediaEncryption? {
        guard !encrypted, let rendition, let sealed = rendition.encryption else { return nil }
        let opened = records.unseal(sealed, of: owner, for: rendition.sha256)
        guard opened.key != nil else {
            throw CommandFailure(
                "the key of this rendition can't be decrypted, because the access key that sealed it is missing. Use --encrypted to read the encrypted bytes."
            )
        }
        return opened
    }

    private func found(in records: RecordStore) async throws -> (BlobName, Rendition?, TenantID) {
        if let lease {
            let token = lease == "-" ? readLine() ?? "" : lease
            guard let found = try await records.open(AccessToken(secretText: token), role: rendition ?? .main) else {
                throw CommandFailure(
                    "the token is invalid, expired or revoked, or does not cover this rendition.", status: .notFound
                )
            }
            return (found.blob, found.rendition, found.tenant)
        }
        let attachment = AttachmentID(rawValue: id ?? "")
        guard let record = try await records.attachment(attachment, of: tenant.id) else {
            throw CommandFailure.unknownAttachment(attachment.rawValue)
        }
        let role = rendition ?? record.best ?? .main
        guard let blob = try await records.blob(of: role, of: attachment, tenant: tenant.id) else {
            let names = record.renditions.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw CommandFailure(
                "the attachment has no rendition '\(role.rawValue)'. "
                    + (names.isEmpty ? "It was not delivered." : "Available: \(names)."),
                status: .notFound)
        }
        return (blob, record.renditions[role], tenant.id)
    }
}

/// Files that exist only in memory, for decrypted content.
private enum MemoryScratch {
    static func make() throws -> Descriptor {
        let number = csandbox_memory_file()
        guard number >= 0 else {
            throw CommandFailure(
                "there is not enough memory to decrypt the file: \(SystemErrorText.current).", status: .unavailable)
        }
        return Descriptor(owning: number)
    }
}
