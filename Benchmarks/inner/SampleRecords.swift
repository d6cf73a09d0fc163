import SatchelCore
import Glibc
import Stores

/// Jobs, deliveries and leases as the service makes them: one photograph each, with a thumbnail.
struct SampleRecords: Sendable {
    static let tenant = TenantID(rawValue: "bench")
    static let worker = WorkerID(rawValue: "bench")

    let store: Store

    var submission: JobSubmission {
        JobSubmission(
            tenant: Self.tenant, profile: .notification, deadline: 30, metadata: ["message_id": "88213"],
            attachments: [
                AttachmentSubmission(
                    identifier: "photo", location: .url("https://example.com/photo.jpg", headers: [:]),
                    name: "photo.jpg", declaredType: "image/jpeg")
            ])
    }

    func accept(_ count: Int) async throws {
        _ = try await store.records.submit((0..<count).map { _ in submission }, SubmissionOptions())
    }

    func claim() async throws -> Claim {
        let claims = try await store.records.claim(
            ClaimCapacity(1), from: .lane(.fetch), by: Self.worker, for: .seconds(3600))
        guard let claim = claims.first else { complain("there is no job to claim") }
        return claim
    }

    func claim(accepting count: Int) async throws -> Claim {
        try await accept(count)
        return try await claim()
    }

    func startLease(on attachment: AttachmentID) async throws -> AccessToken {
        let started = try await store.records.startLease(
            on: attachment, in: .owner(Self.tenant), renditions: nil, for: .seconds(20 * 86_400))
        guard let (_, token) = started else { complain("there is no lease") }
        return token
    }

    /// Two files of 4 and 2 kB, unlike all others, committed and recorded.
    func deliver(_ claim: Claim) async throws -> JobRecord {
        try await deliver(claim, try await commit(claim))
    }

    func commit(_ claim: Claim) async throws -> [RenditionRole: CommittedBlob] {
        [
            .main: try await commit(claim.job.rawValue, bytes: 4096, under: claim.id),
            .thumbnail: try await commit("thumbnail" + claim.job.rawValue, bytes: 2048, under: claim.id),
        ]
    }

    func deliver(_ claim: Claim, _ blobs: [RenditionRole: CommittedBlob]) async throws -> JobRecord {
        let renditions = blobs.mapValues { blob in
            DeliveredRendition(
                rendition: Rendition(
                    mediaType: .jpeg, width: 1038, height: 779, duration: nil, bytes: blob.bytes, sha256: blob.sha256),
                blob: blob.name)
        }
        let outcome = AttachmentOutcome(
            id: claim.attachments[0],
            result: .success(
                AttachmentResult(
                    fidelity: .full, best: .main, renditions: renditions, options: DisplayOptions(), trim: nil,
                    placeholder: Placeholder(
                        thumbhash: "GIoKDYSlqIdPUXd3eEeHh9N/YIkI", blurhash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
                        color: "#06122f"),
                    contentSizeRatio: 0.75)),
            kind: .image, source: SourceFacts(name: "photo.jpg", bytes: 4_300_000, decodedType: .jpeg),
            steps: ["wait", "identify", "thumbnail", "main", "placeholder", "commit"].map {
                Step(name: $0, seconds: 0.01)
            })
        return try await store.records.deliver([outcome], under: claim)
    }

    private func commit(_ text: String, bytes: Int, under claim: ClaimID) async throws -> CommittedBlob {
        var staged = try store.staging.stage()
        do {
            let writer = staged.takeWriter()
            let content = Array(text.utf8) + [UInt8](repeating: 0x61, count: bytes - text.utf8.count)
            guard unsafe write(writer.number, content, bytes) == bytes else { complain("a blob can't be written") }
        }
        let file = try await store.staging.close(staged.file, expecting: Int64(bytes), writersAreDead: true)
        return try await store.blobs.put(file, under: claim)
    }
}
