public import SatchelCore
internal import Bytes
internal import SystemPackage

/// How much room there is.
public struct StoreCapacity: Hashable, Sendable {
    /// Bytes that are free where sources are received and outputs are staged.
    public var free: Int64
    /// Bytes of sources that wait on this machine.
    public var waiting: Int64
}

extension Store {
    /// Costs a look at every source that waits here.
    public func capacity() async throws(AttachmentError) -> StoreCapacity {
        StoreCapacity(free: try await freeBytes(), waiting: try await sources.localBytes())
    }

    /// Bytes that are free where sources are received and outputs are staged, without those of a reserve in use.
    public func freeBytes() async throws(AttachmentError) -> Int64 {
        max(0, try await staging.freeBytes() - StoreReserve.missing(in: FilePath(directory)))
    }
}
