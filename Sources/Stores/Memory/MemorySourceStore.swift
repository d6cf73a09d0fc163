public import Attachments
internal import Platform
internal import FoundationEssentials
internal import Synchronization

/// Keeps sources by their descriptors: what was received into a file loses its name, and goes with this value.
public final class MemorySourceStore: SourceStore {
    private let sources = Mutex<[SourceName: MemoryObject]>([:])

    public init() {}

    public func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName {
        let name = SourceName(rawValue: UUID.version7().uuidString.lowercased())
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

    public func remove(_ names: [SourceName]) async {
        sources.withLock { sources in
            for name in names { sources[name] = nil }
        }
    }

    public func list(after cursor: String?, limit: Int) async -> Page<StoredObject<SourceName>> {
        sources.withLock(\.self).page(after: cursor, limit: limit)
    }
}
