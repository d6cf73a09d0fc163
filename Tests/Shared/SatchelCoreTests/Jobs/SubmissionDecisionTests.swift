import SatchelCore
import TestSupport
import Testing

@Suite struct SubmissionDecisionTests {
    private static func job(work: String? = nil, identifiers: [String] = ["a"]) -> JobSubmission {
        JobSubmission(
            tenant: .local, profile: .archive, workKey: work,
            attachments: identifiers.map {
                AttachmentSubmission(identifier: $0, location: .url("https://example.com/\($0)", headers: [:]))
            })
    }

    private static func known(
        _ state: WorkState, digest: String = "same", isSameWork: Bool = false, isHeld: Bool = false,
        isWhole: Bool = true
    ) -> KnownJob {
        KnownJob(state: state, bodyDigest: digest, isSameWork: isSameWork, isHeld: isHeld, isWhole: isWhole)
    }

    @Test func `what nobody knows is recorded`() {
        #expect(Self.job().decision(about: nil, digest: "same", retriesFailed: false) == .insert)
    }

    @Test(arguments: WorkState.allCases, [false, true])
    func `the service's same body is the same job whatever became of it, another body begins anew`(
        state: WorkState, retries: Bool
    ) {
        let job = Self.job()
        for isHeld in [false, true] {
            let known = Self.known(state, isHeld: isHeld)
            #expect(job.decision(about: known, digest: "same", retriesFailed: retries) == .keep)
            #expect(job.decision(about: known, digest: "other", retriesFailed: retries) == .renew)
        }
    }

    @Test(arguments: [
        (WorkState.delivered, false, SubmissionDecision.keep), (.delivered, true, .keep), (.failed, false, .keep),
        (.failed, true, .renew), (.cancelled, false, .renew), (.cancelled, true, .renew), (.pending, false, .adopt),
        (.running, true, .adopt),
    ])
    func `a command's work is carried on where it was left`(
        state: WorkState, retries: Bool, expected: SubmissionDecision
    ) {
        let job = Self.job(work: "path")
        // Another digest is another way to ask for the same work.
        for digest in ["same", "other"] {
            let known = Self.known(state, digest: digest, isSameWork: true)
            #expect(job.decision(about: known, digest: "same", retriesFailed: retries) == expected)
        }
    }

    @Test(arguments: [WorkState.pending, .running])
    func `what somebody has in hand is left to him, and what was partly deleted begins anew`(state: WorkState) {
        let job = Self.job(work: "path")
        let held = Self.known(state, isSameWork: true, isHeld: true, isWhole: false)
        #expect(job.decision(about: held, digest: "same", retriesFailed: true) == .keep)
        let partial = Self.known(state, isSameWork: true, isWhole: false)
        #expect(job.decision(about: partial, digest: "same", retriesFailed: true) == .renew)
    }

    @Test func `a job has 1 to 10 attachments of different names`() throws {
        try Self.job(identifiers: (0..<10).map { "\($0)" }).validate()
        for wrong in [[], (0..<11).map { "\($0)" }, ["a", "a"]] {
            let error = #expect(throws: AttachmentError.self) { try Self.job(identifiers: wrong).validate() }
            #expect(error?.code == .invalidSource)
        }
    }

    @Test func `who takes the place of a job needs no other, and nobody is counted in vain`() throws {
        let options = SubmissionOptions(quotas: Quotas(storedBytes: 10, pendingJobs: 1), queueLimit: 2)
        let full = TenantUsage(storedBytes: 9, pendingJobs: 1)
        try options.admit(TenantUsage(), waiting: { 1 })
        #expect(throws: AttachmentError.queueFull) { try options.admit(TenantUsage(), waiting: { 2 }) }
        #expect(throws: AttachmentError.quotaExceeded(.storedBytes, used: 10, allowed: 10)) {
            try options.admit(TenantUsage(storedBytes: 10), waiting: { 0 })
        }
        #expect(throws: AttachmentError.quotaExceeded(.pendingJobs, used: 1, allowed: 1)) {
            try options.admit(full, replacing: .failed, waiting: { 0 })
        }
        // It waits already: the queue grows by nothing.
        try options.admit(full, replacing: .pending, waiting: { throw Unexpected() })
        #expect(throws: AttachmentError.queueFull) { try options.admit(full, replacing: .running, waiting: { 2 }) }
        try SubmissionOptions().admit(full, waiting: { throw Unexpected() })
    }
}

private struct Unexpected: Error {}
