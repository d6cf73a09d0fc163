internal import SatchelCore
internal import SystemPackage
internal import Platform
internal import FoundationEssentials

/// All of a store in memory, for as long as somebody has it; each ``Store`` that is opened in it is like another process.
public final class StoreMemory: Sendable {
    let records: MemoryRecordStore.Shared
    let blobs = MemoryBlobStore()
    let sources = MemorySourceStore()
    /// For what needs files: sources that are being received, and the keys of tokens. It goes with this value.
    let directory: String

    /// - Parameter countsRevocations: False for a store that has to be asked what was taken back, as one of several
    ///   machines has.
    public init(countsRevocations: Bool = true) throws(StoreError) {
        records = MemoryRecordStore.Shared(countsRevocations: countsRevocations)
        directory = FileManager.default.temporaryDirectory.path + "/satchel-" + UUID().uuidString.lowercased()
        do {
            let path = FilePath(directory)
            try Files.makeDirectory(path)
            try Files.makeDirectory(path.appending("spool"))
        } catch {
            throw StoreError(error, at: directory)
        }
    }

    deinit {
        // What stays behind is empty but for sources: whoever sweeps temporary files takes it.
        try? FileManager.default.removeItem(atPath: directory)
    }
}
