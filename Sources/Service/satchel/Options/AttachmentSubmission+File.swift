import SatchelCore
import Foundation
import Ingest

extension AttachmentSubmission {
    /// Submits a file named on the command line, in its current state.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read.
    static func file(
        _ source: String, identifier: String, typeHint: String? = nil, request: RenditionRequest = RenditionRequest(),
        options: DisplayOptions = DisplayOptions()
    ) throws -> AttachmentSubmission {
        do {
            let isDirectory = try? URL(filePath: source).resourceValues(forKeys: [.isDirectoryKey]).isDirectory
            if isDirectory == true {
                throw CommandFailure("'\(source)' is a directory. Use 'satchel batch' for directories.", status: .usage)
            }
            var walk = try DirectoryWalk(Data(source.utf8))
            guard case .file(let path, let state)? = walk.next() else {
                throw CommandFailure(
                    "'\(source)' is not a regular file. Links, devices and pipes are never opened.", status: .usage)
            }
            let name = URL(filePath: source).lastPathComponent
            let declared = typeHint ?? MediaType(declared: URL(filePath: name).pathExtension)?.rawValue
            return AttachmentSubmission(
                identifier: identifier, location: .file(root: walk.root.path, path: path, state: state), name: name,
                path: source, declaredType: declared, request: request, options: options)
        } catch let error as AttachmentError {
            guard case .invalidSource(let reason) = error else { throw CommandFailure(error.message, status: .usage) }
            throw CommandFailure("'\(source)' can't be read: \(reason).", status: .usage)
        }
    }
}
