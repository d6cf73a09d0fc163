public import SatchelCore
import FoundationEssentials
import Glibc
import Platform

/// A source that is open for reading, and what is known of it without looking inside.
package struct OpenedSource: ~Copyable, Sendable {
    package let descriptor: Descriptor
    package var name: String?
    package var bytes: Int64
    package var declaredType: String?
    package var steps: [Step] = []
}

/// Opens what a submission names: a file in place, what was handed in, or a URL through the fetch guard.
public struct SourceOpener: Sendable {
    private let sources: any SourceStore
    private let fetcher: Fetcher?
    private let objects: (any ObjectReader)?

    /// - Parameters:
    ///   - sources: Keeps what was handed in.
    ///   - fetcher: Nil where nothing will be fetched: every URL is then refused.
    ///   - objects: Reads people's buckets; nil where none is named.
    public init(sources: any SourceStore, fetcher: Fetcher?, objects: (any ObjectReader)? = nil) {
        self.sources = sources
        self.fetcher = fetcher
        self.objects = objects
    }

    /// Opens the source of `submission`. What is fetched is gone from the spool when this returns: the descriptor
    /// alone holds it, so that nothing is left behind however the attempt ends.
    ///
    /// - Parameter trace: The `traceparent` of the submission, for origins that may know it.
    /// - Throws: `invalid_source`, `source_too_large` over the clip limit, and the errors of a fetch.
    package func open(
        _ submission: AttachmentSubmission, limits: Limits, until end: ContinuousClock.Instant?,
        trace: String?, progress: @escaping Fetcher.FetchReport
    ) async throws(AttachmentError) -> OpenedSource {
        var limits = limits
        if submission.encryption != nil { limits.clipBytes = min(limits.clipBytes, EncryptionScheme.maximumBytes) }
        switch submission.location {
        case .file(let root, let path, let state):
            let file = try SourceFile.open(root: root, path: path, expecting: state)
            guard state.bytes <= limits.clipBytes else {
                throw .sourceTooLarge(bytes: state.bytes, limit: limits.clipBytes)
            }
            return OpenedSource(descriptor: file.takeDescriptor(), bytes: state.bytes)
        case .object(let bucket, let key, let state):
            guard let objects else { throw .invalidSource(reason: "buckets are not supported here") }
            guard state.bytes <= limits.clipBytes else {
                throw .sourceTooLarge(bytes: state.bytes, limit: limits.clipBytes)
            }
            let file = try await objects.open(key, of: bucket, in: state)
            return OpenedSource(descriptor: file, bytes: state.bytes)
        case .spool(let name):
            let file = try await sources.open(name)
            var status = stat()
            guard unsafe fstat(file.number, &status) == 0 else { throw .notInStore(what: "The source's copy") }
            guard submission.encryption == nil || status.st_size <= limits.clipBytes else {
                throw .sourceTooLarge(bytes: Int64(status.st_size), limit: limits.clipBytes)
            }
            return OpenedSource(descriptor: file, bytes: Int64(status.st_size))
        case .url(let url, let headers):
            guard let fetcher else { throw .invalidSource(reason: "URLs are not supported here") }
            let start = ContinuousClock.now
            var within = FetchLimits(bytes: limits.clipBytes)
            if let end { within.time = min(within.time, end - start) }
            let fetched = try await fetcher.fetch(
                url, headers: headers, trace: trace, within: within, progress: progress)
            let descriptor: Descriptor
            do { descriptor = try fetched.file.reader.duplicate() } catch { throw AttachmentError(error) }
            return OpenedSource(
                descriptor: descriptor, name: submission.name ?? fetched.fileName, bytes: fetched.bytes,
                declaredType: submission.declaredType ?? fetched.contentType,
                steps: [
                    Step(
                        name: "fetch", seconds: (ContinuousClock.now - start).inSeconds,
                        note: Self.note(fetched))
                ])
        }
    }

    private static func note(_ fetched: FetchedSource) -> String {
        let type = fetched.contentType.map { "called \($0.sanitized(80)) by its origin" } ?? "of no declared type"
        return "\(fetched.bytes) bytes, \(type)"
    }
}
