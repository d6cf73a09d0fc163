import SatchelCore
import CodecPool
import Foundation
import Ingest
import Jobs
import S3
import Stores

/// Everything that a command needs to process sources.
struct ProcessingContext {
    let store: Store
    let codecs: CodecPool
    let pipeline: Pipeline
    /// The id under which this process claims jobs.
    let worker = WorkerID(rawValue: RunID.generate().rawValue)

    /// Opens the store and starts the codecs.
    ///
    /// - Parameter bucket: The client for sources that are objects.
    static func open(
        _ storeOptions: StoreOptions, _ codecOptions: CodecOptions, fetch: FetchOptions? = nil,
        bucket: S3Client? = nil, timeLimit: Duration? = nil, expecting decoderSet: DecoderSet
    ) async throws -> ProcessingContext {
        let store = try await openStore(storeOptions, create: true)
        var pool = try codecOptions.poolConfiguration
        pool.onShortage = { Console.printError("Warning: short of resources: \($0).") }
        let codecs = CodecPool(pool)
        try await startCodecs(codecs, decoderSet)
        let spool = try Spool(at: store.scratch)
        var work = Pipeline.Configuration(
            limits: .commandLine, timeLimit: timeLimit, owner: CodecPool.Owner(name: TenantID.local.rawValue))
        work.scanning = try StoreOptions.configured.scan.scanning
        let pipeline = Pipeline(
            records: store.records, blobs: store.blobs, staging: store.staging, codecs: codecs,
            sources: SourceOpener(
                sources: store.sources, fetcher: try fetch?.fetcher(into: spool),
                objects: bucket.map { S3ObjectReader($0, scratch: store.scratch) }),
            configuration: work)
        return ProcessingContext(store: store, codecs: codecs, pipeline: pipeline)
    }

    /// Stops the codecs after `body`, even if it fails.
    func closing<Value>(after body: () async throws -> Value) async throws -> Value {
        try await ending(with: { await codecs.shutdown() }, body)
    }
}

/// Starts the codecs and warns about missing sandbox layers.
///
/// - Parameter decoderSet: The decoders that the first source probably needs.
/// - Throws: ``CommandFailure`` if they can't be started.
func startCodecs(_ codecs: CodecPool, _ decoderSet: DecoderSet) async throws {
    do {
        let missing = try await codecs.start(decoderSet).missing(under: .standard)
        if !missing.isEmpty {
            let layers = missing.map(\.layer.title).joined(separator: ", ")
            Console.printError(
                "Warning: sources are decoded WITHOUT these sandbox layers: \(layers). A hostile file can do harm."
            )
        }
    } catch {
        throw CommandFailure(error)
    }
}

/// Calls `end` after `body`, even if that fails.
func ending<Value>(with end: () async -> Void, _ body: () async throws -> Value) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await end()
    return try result.get()
}
