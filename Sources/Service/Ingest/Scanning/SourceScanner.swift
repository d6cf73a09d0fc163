public import SatchelCore
import Platform
import Synchronization

/// Reads sources before anything of them is delivered, and says whether it may be.
public protocol SourceScanner: Sendable {
    /// Ends early where the task is cancelled.
    func verdict(on source: ScannedSource) async throws(ScanFailure) -> ScanVerdict
}

/// What a scanner says of a source.
public enum ScanVerdict: Hashable, Sendable {
    case clean
    /// With the scanner's word for what it found, as it may be shown.
    case rejected(reason: String)

    /// A verdict of no delivery. The reason is a stranger's.
    static func rejected(for reason: String) -> ScanVerdict {
        let plain = reason.sanitized(200)
        return .rejected(reason: plain.isEmpty ? "no reason given" : plain)
    }
}

/// Why there is no verdict: a clause of which the scanner is the subject.
public struct ScanFailure: Error, Hashable, Sendable {
    public var reason: String

    public init(_ reason: String) {
        self.reason = reason
    }

    /// What it said is no answer.
    static func answered(_ text: String) -> ScanFailure {
        ScanFailure("it answered '\(text.sanitized(80))'")
    }

    static let early = ScanFailure("it answered before it had all of the source")
    static let silent = ScanFailure("it closed the connection without an answer")
}

/// Whose source it is.
public struct ScanSubject: Hashable, Sendable {
    public var tenant: TenantID
    public var job: JobID
    public var attachment: AttachmentID

    public init(tenant: TenantID, job: JobID, attachment: AttachmentID) {
        self.tenant = tenant
        self.job = job
        self.attachment = attachment
    }
}

/// A source as it is given to a scanner: its bytes in pieces, beside whoever else reads the same open file.
public final class ScannedSource: Sendable {
    /// Bytes of a piece.
    private static let piece: Int64 = 256 << 10

    public let subject: ScanSubject
    public let bytes: Int64
    private let file: Descriptor
    private let given = Mutex<Int64>(0)

    /// - Parameter file: Read by offsets, so that it may be shared.
    public init(_ file: consuming Descriptor, bytes: Int64, of subject: ScanSubject) {
        self.file = file
        self.bytes = bytes
        self.subject = subject
    }

    /// What is in it, where it was encrypted: a scanner finds nothing in ciphertext.
    ///
    /// - Throws: What ``MediaEncryption`` throws where it can't be decrypted.
    package func decrypted(by encryption: MediaEncryption) async throws(AttachmentError) -> ScannedSource {
        ScannedSource(try await encryption.decrypted(file), of: subject)
    }

    private convenience init(_ plaintext: consuming Plaintext, of subject: ScanSubject) {
        let bytes = plaintext.bytes
        self.init(plaintext.taken(), bytes: bytes, of: subject)
    }

    /// Whether all of it was taken.
    var isRead: Bool { given.withLock { $0 } == bytes }

    /// Its bytes from the start.
    var pieces: Pieces { Pieces(source: self) }

    struct Pieces: AsyncSequence, Sendable {
        let source: ScannedSource

        struct Iterator: AsyncIteratorProtocol {
            let source: ScannedSource
            var offset: Int64 = 0

            mutating func next() async throws -> [UInt8]? {
                try Task.checkCancellation()
                source.given.withLock { $0 = offset }
                guard offset < source.bytes else { return nil }
                let range = offset..<Swift.min(offset + ScannedSource.piece, source.bytes)
                let read = try await BlockingWork.run { [source] () throws(SystemError) in
                    try Files.read(range, of: source.file)
                }
                guard read.count == range.count else { throw ScanFailure("the source changed while it was read") }
                offset = range.upperBound
                return read
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(source: source) }
    }
}
