public import Attachments

/// How much room there is.
public struct StoreCapacity: Hashable, Sendable {
    /// Bytes that are free where sources are received and outputs are staged.
    public var free: Int64
    /// Bytes of sources that wait.
    public var waiting: Int64
}

extension Store {
    /// Costs a look at every source that waits.
    public func capacity() async throws(AttachmentError) -> StoreCapacity {
        var capacity = StoreCapacity(free: try await freeBytes(), waiting: 0)
        try await Self.forEachPage(of: sources.list) { page throws(AttachmentError) in
            capacity.waiting += page.reduce(0) { $0 + $1.bytes }
        }
        return capacity
    }

    /// Bytes that are free where sources are received and outputs are staged.
    public func freeBytes() async throws(AttachmentError) -> Int64 {
        try await staging.freeBytes()
    }
}
