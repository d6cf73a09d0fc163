/// Names an accepted source; what it is made of is the store's own business.
public struct SourceName: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
}

/// Keeps sources that were handed in, from their acceptance until no attempt needs them any more.
public protocol SourceStore: Sendable {
    /// Makes a source durable, under a name of its own.
    ///
    /// - Throws: `store_failed`, `store_full`; then nothing is left of it.
    func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName

    /// Opens a source for reading, on this machine.
    ///
    /// - Throws: `not_in_store`, `store_failed`.
    func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor

    /// Brings back a source that was removed, where the store has kept it all the same.
    ///
    /// - Returns: Whether it did.
    func restore(_ name: SourceName) async throws(AttachmentError) -> Bool

    /// Removes sources. Unknown names are no error.
    func remove(_ names: [SourceName]) async throws(AttachmentError)

    /// A part of all sources, in the store's own order: about `limit`, or all that are left.
    ///
    /// - Parameter cursor: Nil for the first part, then what the part before says is next.
    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<SourceName>>

    /// Bytes of all sources, where they take room on this machine; else none.
    func localBytes() async throws(AttachmentError) -> Int64

    /// Where uploads come in.
    var uploads: any UploadFiles { get }
}

extension SourceStore {
    public func restore(_ name: SourceName) async throws(AttachmentError) -> Bool { false }

    /// Costs a look at every source.
    public func localBytes() async throws(AttachmentError) -> Int64 {
        var bytes: Int64 = 0
        var cursor: String?
        repeat {
            let page = try await list(after: cursor, limit: 500)
            bytes += page.elements.reduce(0) { $0 + $1.bytes }
            cursor = page.next
        } while cursor != nil
        return bytes
    }
}
