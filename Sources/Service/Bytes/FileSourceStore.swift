public import SatchelCore
package import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import Glibc

/// Keeps sources as files of one directory, in which they are received too: taking one over gives it a name.
public struct FileSourceStore: SourceStore {
    let directory: FilePath
    private let removals: RemovalHold?

    /// - Parameter directory: Where sources are received as well, under names ending in `.part`.
    public init(directory: String) {
        self.init(directory: FilePath(directory), removals: nil)
    }

    /// - Parameter removals: While it is held, nothing is removed.
    package init(directory: FilePath, removals: RemovalHold? = nil) {
        self.directory = directory
        self.removals = removals
    }

    public func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName {
        let name = Self.newName()
        try await BlockingWork.files { () throws(SystemError) in
            try Files.keep(file.file, as: directory.appending(name.rawValue), "a source")
        }
        return name
    }

    public func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor {
        let path = try path(of: name)
        let number = try await BlockingWork.run { () throws(AttachmentError) in
            do throws(SystemError) {
                return try Files.open(path, .readOnly, to: "open a source").release()
            } catch {
                guard error.code == ENOENT else { throw AttachmentError(error) }
                throw AttachmentError.notInStore(what: "The source's copy")
            }
        }
        return Descriptor(owning: number)
    }

    public var uploads: any UploadFiles { self }

    static func newName() -> SourceName { SourceName(rawValue: UUID.version7().uuidString.lowercased()) }

    public func remove(_ names: [SourceName]) async throws(AttachmentError) {
        try await removals.remove(names.map(path))
    }

    public func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<SourceName>> {
        try await BlockingWork.files { () throws(SystemError) in
            var page = Page<StoredObject<SourceName>>(elements: [], next: nil)
            for name in try Files.names(in: directory).sorted()
            where !name.hasSuffix(FileStagingArea.unfinished) && cursor.map({ name > $0 }) ?? true {
                guard page.elements.count < limit else {
                    page.next = page.elements.last?.name.rawValue
                    break
                }
                // What another process removed meanwhile is none.
                guard let facts = try Files.facts(of: directory.appending(name)) else { continue }
                page.elements.append(StoredObject(name: SourceName(rawValue: name), bytes: facts.bytes, age: facts.age))
            }
            return page
        }
    }

    /// Names are ours: anything else is refused, so that none leads elsewhere.
    func path(of name: SourceName) throws(AttachmentError) -> FilePath {
        let text = name.rawValue
        guard !text.isEmpty, text != ".", text != "..",
            !text.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else { throw .storeFailed(reason: "'\(text.prefix(64))' is not a source's name") }
        return directory.appending(text)
    }
}
