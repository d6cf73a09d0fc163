public import SatchelCore
internal import Platform
internal import CSandbox
internal import Synchronization

/// Keeps sources by their descriptors: what was received into a file loses its name, and goes with this value.
public final class MemorySourceStore: SourceStore {
    private let sources = Mutex<[SourceName: MemoryObject]>([:])

    public init() {}

    public func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName {
        let name = FileSourceStore.newName()
        do throws(SystemError) {
            let unnamed = ScratchFile(reader: try Files.reopenForReading(file.file.reader))
            sources.withLock { $0[name] = MemoryObject(file: unnamed, bytes: file.bytes) }
        } catch {
            throw AttachmentError(error)
        }
        return name
    }

    public func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor {
        guard let source = sources.withLock({ $0[name] }) else { throw .notInStore(what: "The source's copy") }
        return try source.opened()
    }

    public var uploads: any UploadFiles { self }

    /// What has arrived of an upload, in memory; made where there is nothing.
    func upload(_ name: SourceName) throws(SystemError) -> MemoryObject {
        if let known = sources.withLock({ $0[name] }) { return known }
        let number = csandbox_memory_file()
        guard number >= 0 else { throw SystemError("make a file in memory") }
        let made = MemoryObject(file: ScratchFile(reader: Descriptor(owning: number)), bytes: nil)
        return sources.withLock { sources in
            if let known = sources[name] { return known }
            sources[name] = made
            return made
        }
    }

    public func remove(_ names: [SourceName]) async {
        sources.withLock { sources in
            for name in names { sources[name] = nil }
        }
    }

    public func list(after cursor: String?, limit: Int) async -> Page<StoredObject<SourceName>> {
        sources.withLock(\.self).page(after: cursor, limit: limit)
    }
}
