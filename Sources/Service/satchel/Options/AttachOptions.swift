import ArgumentParser
import SatchelCore

/// Options for files attached to a notification.
struct AttachOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File to attach under an identifier (comma-separated or repeated).",
            valueName: "id=file"),
        completion: .file())
    var attach: [Several<String>] = []

    var files: [AttachedFile] { attach.all().compactMap(AttachedFile.init) }

    func validate() throws {
        for text in attach.all() where AttachedFile(text) == nil {
            throw ValidationError("--attach must be an identifier and a file, such as photo=x.jpg, not '\(text)'.")
        }
        let identifiers = files.map(\.identifier)
        if Set(identifiers).count != identifiers.count {
            throw ValidationError("--attach identifiers must differ.")
        }
        if identifiers.count > JobSubmission.maximumAttachments {
            throw ValidationError(
                "A notification takes at most \(JobSubmission.maximumAttachments) files, not \(identifiers.count).")
        }
    }
}

/// A file and the identifier of its attachment.
struct AttachedFile: Sendable {
    var identifier: String
    var path: String

    /// Reads `photo=x.jpg`; `nil` for anything else.
    init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        identifier = String(text[..<equals])
        path = String(text[text.index(after: equals)...])
        guard !path.isEmpty, identifier.utf8.count <= 128 else { return nil }
    }

    /// The attachment to prepare.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read.
    var submission: AttachmentSubmission {
        get throws { try .file(path, identifier: identifier) }
    }
}
