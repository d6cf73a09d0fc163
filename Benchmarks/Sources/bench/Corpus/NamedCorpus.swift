import Foundation

/// Sources of the user's own, by kind.
///
/// Each kind is put into a directory of its own, by links, as contenders that take whole directories are to find nothing
/// else. Names are numbered, so that no two are alike.
struct NamedCorpus: Sendable {
    let directory: URL
    /// Where the links go.
    let place: URL

    enum Kind: String, Sendable, CaseIterable {
        case photographs, animations, clips, all

        fileprivate var extensions: Set<String>? {
            switch self {
            case .photographs: ["jpg", "jpeg"]
            case .animations: ["gif"]
            case .clips: ["mp4", "mov", "m4v"]
            case .all: nil
            }
        }
    }

    /// Links to what is of a kind, in a directory of their own.
    struct Links: Sendable {
        var directory: Directory
        /// Paths, in order.
        var files: [String]
        /// Of each, beneath the user's directory.
        var names: [String]
    }

    /// - Throws: ``CommandFailure`` where there is none of the kind.
    func sources(_ kind: Kind) throws -> Links {
        let root = directory.resolvingSymlinksInPath()
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: [.isRegularFileKey],
            options: .skipsHiddenFiles)
        let found = (files?.compactMap { $0 as? URL } ?? []).filter { url in
            let isFile = (try? url.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
            return isFile && kind.extensions?.contains(url.pathExtension.lowercased()) != false
        }.sorted { $0.path < $1.path }
        guard !found.isEmpty else {
            throw CommandFailure(
                command: ["--corpus", directory.path(percentEncoded: false)], reason: "has no \(kind.rawValue)")
        }
        let links = place.appending(path: kind.rawValue, directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: links)
        try FileManager.default.createDirectory(at: links, withIntermediateDirectories: true)
        for (index, file) in found.enumerated() {
            let name = String(format: "%05d.", index) + file.pathExtension.lowercased()
            let link = links.appending(path: name)
            do {
                try FileManager.default.linkItem(at: file, to: link)
            } catch {
                // On another file system.
                try FileManager.default.copyItem(at: file, to: link)
            }
        }
        let made = Directory(url: links)
        let top = root.path(percentEncoded: false)
        let names = found.map { url in
            let path = url.path(percentEncoded: false)
            return path.hasPrefix(top) ? String(path.dropFirst(top.count).drop { $0 == "/" }) : path
        }
        return Links(directory: made, files: try made.files, names: names)
    }
}
