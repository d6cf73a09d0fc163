public import SatchelCore
package import SystemPackage
internal import Platform
internal import CSandbox
internal import Glibc

/// Stages files in memory.
public struct MemoryStagingArea: StagingArea {
    /// Where sources are received, which are files all the same.
    private let scratch: FilePath

    package init(scratch: FilePath) {
        self.scratch = scratch
    }

    public func stage() throws(AttachmentError) -> StagedFile {
        do throws(SystemError) {
            let number = csandbox_memory_file()
            guard number >= 0 else { throw SystemError("stage a file in memory") }
            let made = Descriptor(owning: number)
            // Opened once more, for the kernel counts no writer of a file that was made without a name.
            let writer = try Files.open(made.path, .readWrite, [], to: "stage a file in memory")
            return StagedFile(writer: writer, file: ScratchFile(reader: try Files.reopenForReading(made)))
        } catch {
            throw AttachmentError(error)
        }
    }

    public var inMemory: any StagingArea { self }

    public var provesClosing: Bool { true }

    public func close(
        _ file: ScratchFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> HashedFile {
        try await BlockingWork.run { () throws(AttachmentError) in try file.closed(expecting: bytes) }
    }

    /// A process takes its memory along.
    public func removeAbandoned(where isOld: @escaping @Sendable (Duration) -> Bool) async -> Int { 0 }

    public func freeBytes() async throws(AttachmentError) -> Int64 {
        try await BlockingWork.files { () throws(SystemError) in try Files.freeBytes(at: scratch) }
    }

    public func scratchSize() async throws(AttachmentError) -> Int64 {
        try await BlockingWork.files { () throws(SystemError) in try Files.size(ofFileSystemAt: scratch) }
    }
}
