/// Reads objects of buckets that people named, where they lie; none is ever written.
public protocol ObjectReader: Sendable {
    /// Opens a copy of an object on this machine, which has no name and goes with its descriptor.
    ///
    /// - Parameter state: In which it was listed.
    /// - Throws: `invalid_source` where it isn't there any more, is another, or can't be read with these credentials;
    ///   `store_failed` where nobody can tell at the moment.
    func open(
        _ key: String, of bucket: String, in state: ObjectState
    ) async throws(AttachmentError) -> Descriptor
}
