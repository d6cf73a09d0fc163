import SatchelCore
import TestSupport
import Testing

@Suite struct JobConclusionTests {
    private static let now = Instant(milliseconds: 1_000_000)
    private static let ids = (0..<3).map { AttachmentID(rawValue: "\($0)") }

    private static func job(
        _ mode: JobMode, tenant: TenantID = TenantID(rawValue: "ada"), leaseTTL: Double? = nil,
        delivery: DeliveryMode = .private
    ) -> JobSubmission {
        var profile = Profile.archive
        profile.retention = 60
        var kept = AttachmentSubmission(identifier: "1", location: .url("https://example.com/1", headers: [:]))
        kept.profile = Profile.archive
        kept.profile?.retention = nil
        return JobSubmission(
            tenant: tenant, profile: profile, mode: mode, leaseTTL: leaseTTL, delivery: delivery,
            attachments: [
                AttachmentSubmission(identifier: "0", location: .url("https://example.com/0", headers: ["A": "b"])),
                kept, AttachmentSubmission(identifier: "2", location: .url("https://example.com/2", headers: [:])),
            ])
    }

    private static func outcome(_ id: AttachmentID, _ error: AttachmentError?) -> AttachmentOutcome {
        let hash = String(repeating: "a", count: 64)
        let rendition = Rendition(mediaType: .jpeg, width: 1, height: 1, duration: nil, bytes: 1, sha256: hash)
        let result = AttachmentResult(
            fidelity: .full, best: .main,
            renditions: [
                .main: DeliveredRendition(rendition: rendition, blob: BlobName(rawValue: "blob-\(id.rawValue)"))
            ], options: DisplayOptions(), trim: nil, placeholder: nil, contentSizeRatio: 1)
        return AttachmentOutcome(
            id: id, result: error.map { .failure($0) } ?? .success(result), kind: .image,
            source: SourceFacts(name: nil, declaredType: nil), steps: [])
    }

    private static func conclude(
        _ job: JobSubmission, failing: Set<Int> = [], wanted: [Int] = [0, 1, 2]
    ) throws -> JobConclusion {
        try JobConclusion(
            of: job, ids, wanted: Set(wanted.map { ids[$0] }),
            outcomes: ids.enumerated().map {
                outcome($1, failing.contains($0) ? .unreadable(Finding(.checksumDiffers)) : nil)
            }, at: now)
    }

    /// Every subset of failures, in both modes.
    @Test(arguments: JobMode.allCases, 0..<8)
    func `a lenient job delivers what it can, a strict one all or nothing`(mode: JobMode, mask: Int) throws {
        let failing = Set((0..<3).filter { mask & (1 << $0) != 0 })
        let conclusion = try Self.conclude(Self.job(mode), failing: failing)
        let isDelivered = mode == .lenient ? failing.count < 3 : failing.isEmpty
        #expect(conclusion.state == (isDelivered ? .delivered : .failed))
        let delivered = isDelivered ? Self.ids.indices.filter { !failing.contains($0) } : []
        #expect(conclusion.delivered == delivered.map { Self.ids[$0] })
        // Nothing is both delivered and given up, and nothing is forgotten.
        let made = Set(Self.ids.indices.filter { !failing.contains($0) }.map { BlobName(rawValue: "blob-\($0)") })
        #expect(conclusion.unwanted == (isDelivered ? [] : made))
        for (index, attachment) in conclusion.attachments.enumerated() where !isDelivered && !failing.contains(index) {
            guard case .failure(let error) = attachment.outcome.result else { throw AttachmentError.storeFull }
            #expect(error == .withheld(identifier: "\(failing.min() ?? 9)", code: .corrupt))
        }
        #expect(conclusion.isRetained == !isDelivered, "what a URL leads to may be another next time")
        #expect(conclusion.expiresAt == (isDelivered ? nil : Self.now + Retention.retry))
    }

    @Test func `what was deleted meanwhile is given up, and what has no outcome is an error`() throws {
        let conclusion = try Self.conclude(Self.job(.strict), failing: [0], wanted: [1, 2])
        #expect(conclusion.state == .delivered && conclusion.delivered == [Self.ids[1], Self.ids[2]])
        let another = try Self.conclude(Self.job(.strict), wanted: [1])
        #expect(another.unwanted == [BlobName(rawValue: "blob-0"), BlobName(rawValue: "blob-2")])
        let error = #expect(throws: AttachmentError.self) {
            try JobConclusion(of: Self.job(.lenient), Self.ids, wanted: Set(Self.ids), outcomes: [], at: Self.now)
        }
        #expect(error?.code == .storeFailed)
    }

    @Test func `each attachment is kept as long as its own profile says, the command line's for ever`() throws {
        let conclusion = try Self.conclude(Self.job(.lenient))
        #expect(conclusion.attachments.map(\.expiresAt) == [Self.now + .seconds(60), nil, Self.now + .seconds(60)])
        let local = try Self.conclude(Self.job(.lenient, tenant: .local), failing: [0, 1, 2])
        #expect(local.expiresAt == nil)
        #expect(try Self.conclude(Self.job(.lenient, tenant: .local)).attachments.allSatisfy { $0.expiresAt == nil })
    }

    @Test
    func `the access that was asked for is a lease, for a broadcast a link, and starts only on what is delivered`()
        throws
    {
        let lease = try #require(try Self.conclude(Self.job(.lenient, leaseTTL: 90)).access)
        #expect(lease.kind == .lease && lease.expiresAt == Self.now + .seconds(90))
        let link = try #require(
            try Self.conclude(Self.job(.lenient, leaseTTL: 1e9, delivery: .shared)).access)
        #expect(link.kind == .link && link.delivery == .shared)
        #expect(link.expiresAt == Self.now + AccessLimits.longest)
        #expect(try Self.conclude(Self.job(.strict, leaseTTL: 90), failing: [1]).access == nil)
        #expect(try Self.conclude(Self.job(.lenient)).access == nil)
    }

    @Test func `a job whose time is over fails with how long it waited`() throws {
        var job = Self.job(.lenient)
        job.deadline = 4
        let conclusion = try JobConclusion(
            overdue: job, zip(Self.ids, job.attachments).map { ($0, $1) }, createdAt: Self.now,
            at: Self.now + .seconds(5))
        #expect(conclusion.state == .failed && conclusion.isRetained)
        for attachment in conclusion.attachments {
            guard case .failure(let error) = attachment.outcome.result else { throw AttachmentError.storeFull }
            #expect(error == .deadlineExceeded(seconds: 4))
            #expect(attachment.outcome.steps.map(\.seconds) == [5])
        }
    }

    @Test func `what is kept to try again holds no credentials`() {
        let slim = Self.job(.lenient).slim
        #expect(slim.attachments[0].location == .url("https://example.com/0", headers: [:]))
        #expect(slim.profile == Profile(name: Profile.archive.name))
    }
}
