public import SatchelCore
internal import Platform

/// Reads objects of a bucket that somebody named, as copies in the scratch of this machine that have no name.
public struct S3ObjectReader: ObjectReader {
    private let client: S3Client
    /// A directory for copies.
    private let scratch: String

    public init(_ client: S3Client, scratch: String) {
        self.client = client
        self.scratch = scratch
    }

    public func open(
        _ key: String, of bucket: String, in state: ObjectState
    ) async throws(AttachmentError) -> Descriptor {
        guard bucket == client.configuration.bucket else {
            throw .invalidSource(reason: "this bucket is not supported here")
        }
        do throws(S3Error) {
            let scratch = scratch
            let copy = try await BlockingWork.run { () throws(S3Error) in try ScratchCopy(in: scratch) }
            let bytes = try await client.fetch(
                key, of: state.etag.isEmpty ? nil : state.etag, into: copy.writer.number)
            guard bytes == state.bytes else { throw .refused(status: 412, code: "PreconditionFailed") }
            return try copy.takeReader()
        } catch {
            switch error {
            case .noSuchObject: throw .invalidSource(reason: "it is no longer in the bucket")
            case .refused(status: 412, _): throw .invalidSource(reason: "it changed after it was found")
            case .accessDenied, .refused: throw .invalidSource(reason: error.reason)
            default: throw AttachmentError(error, reading: "This object")
            }
        }
    }
}
