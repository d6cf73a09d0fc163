import ArgumentParser
import SatchelCore

/// Files that come with a notification.
struct AttachOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file that comes with the payload, under an identifier; several with commas, or repeated.",
            valueName: "id=file"),
        completion: .file())
    var attach: [Several<String>] = []

    var files: [AttachedFile] { attach.all().compactMap(AttachedFile.init) }

    func validate() throws {
        for text in attach.all() where AttachedFile(text) == nil {
            throw ValidationError("--attach '\(text)' is no identifier with a file: photo=x.jpg.")
        }
        let identifiers = files.map(\.identifier)
        if Set(identifiers).count != identifiers.count {
            throw ValidationError("Two --attach have the same identifier.")
        }
        if identifiers.count > JobSubmission.maximumAttachments {
            throw ValidationError(
                "A notification takes at most \(JobSubmission.maximumAttachments) --attach, not \(identifiers.count).")
        }
    }
}

/// A file under the identifier of an attachment.
struct AttachedFile: Sendable {
    var identifier: String
    var path: String

    /// Reads `photo=x.jpg`; nil for what isn't written so.
    init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        identifier = String(text[..<equals])
        path = String(text[text.index(after: equals)...])
        guard !path.isEmpty, identifier.utf8.count <= 128 else { return nil }
    }

    /// What is to be prepared.
    ///
    /// - Throws: ``CommandFailure``, one sentence, where it can't be read.
    var submission: AttachmentSubmission {
        get throws { try .file(path, identifier: identifier) }
    }
}
