import SatchelCore
import Bytes
import Glibc
import S3
import Stores

/// What nodes do with a queue in PostgreSQL, without the work that is in its jobs: each claims a group, delivers all of it, and
/// claims the next.
///
/// The bytes are nobody's: no rendition is written, none is removed, and the bucket is never asked.
enum QueueWork {
    /// Prints how many jobs were claimed and delivered, and the seconds that it took.
    ///
    /// - Parameters:
    ///   - url: A database with the schema and no jobs.
    ///   - directory: For keys and scratch.
    ///   - nodes: Each is an opening of the store, with connections of its own.
    static func measure(_ url: String, in directory: String, nodes: Int, group: Int, jobs: Int) async throws {
        let client = try S3Client(
            S3Configuration("s3://nobody/bench", endpoint: "http://127.0.0.1:1", usesPathStyle: true),
            credentials: S3Credentials(accessKey: "nobody", secretKey: "nothing"))
        var samples: [SampleRecords] = []
        for number in 0..<nodes {
            let scratch = "\(directory)/node-\(number)"
            let bytes = ByteStores(
                blobs: S3BlobStore(client), sources: S3SourceStore(client, scratch: scratch + "/spool"))
            samples.append(
                SampleRecords(
                    store: try await Store.open(
                        StoreDatabase(url), keys: directory + "/keys", scratch: scratch, bytes: bytes)))
        }
        for start in stride(from: 0, to: jobs, by: 1000) { try await samples[0].accept(min(1000, jobs - start)) }
        let start = ContinuousClock.now
        let done = try await withThrowingTaskGroup(of: Int.self) { everybody in
            for sample in samples { everybody.addTask { try await work(sample, group) } }
            return try await everybody.reduce(0, +)
        }
        let time = ContinuousClock.now - start
        guard done == jobs else { complain("\(done) of \(jobs) jobs were delivered") }
        print("\(done) \(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)")
    }

    /// Until nothing is left.
    private static func work(_ samples: SampleRecords, _ group: Int) async throws -> Int {
        var done = 0
        while true {
            let claims = try await samples.store.records.claim(
                ClaimCapacity(group), from: .lane(.fetch), by: SampleRecords.worker, for: .seconds(3600))
            guard !claims.isEmpty else { return done }
            try await withThrowingTaskGroup(of: Void.self) { deliveries in
                for claim in claims {
                    deliveries.addTask { _ = try await samples.deliver(claim, blobs(of: claim)) }
                }
                try await deliveries.waitForAll()
            }
            done += claims.count
        }
    }

    /// As a photograph with a thumbnail has them.
    private static func blobs(of claim: Claim) -> [RenditionRole: CommittedBlob] {
        var blobs: [RenditionRole: CommittedBlob] = [:]
        for (role, bytes) in [(RenditionRole.main, Int64(4096)), (.thumbnail, 2048)] {
            let hash = (0..<4).map { _ in
                let digits = String(UInt64.random(in: .min ... .max), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
            blobs[role] = CommittedBlob(
                name: BlobName(rawValue: "blobs/00/\(claim.id.rawValue)/\(role.rawValue)"), sha256: hash, bytes: bytes)
        }
        return blobs
    }
}
