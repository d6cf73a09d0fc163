import Testing

@testable import SatchelCore

/// What is counted of a job's end.
@Suite struct TallyTests {
    private let now = Instant(milliseconds: 1_763_720_130_000)
    private let tenant = TenantID(rawValue: "acme")

    private func sheet(_ steps: [Step], _ error: AttachmentError) throws -> Tally {
        let submission = JobSubmission(
            tenant: tenant, profile: .notification,
            attachments: [AttachmentSubmission(location: .url("https://example.com/a", headers: [:]))])
        let id = AttachmentID.generate()
        let conclusion = try JobConclusion(
            of: submission, [id], wanted: [id],
            outcomes: [
                AttachmentOutcome(id: id, result: .failure(error), kind: nil, source: SourceFacts(), steps: steps)
            ], at: now)
        var sheet = TallySheet()
        sheet.add(conclusion, of: tenant, in: .fetch, submittedAt: now - .seconds(10), at: now)
        let key = Tally.Key(
            tenant: tenant, minute: Instant(milliseconds: 1_763_720_100_000), lane: .fetch, state: .failed,
            code: error.code)
        #expect(Array(sheet.tallies.keys) == [key])
        return try #require(sheet.tallies[key])
    }

    @Test func `what wasn't spent on an attachment it waited, also for another attempt`() throws {
        let tally = try sheet(
            [
                Step(name: "fetch", seconds: 1), Step(name: "wait", seconds: 3), Step(name: "retry", seconds: 2),
                Step(name: "identify", seconds: 1),
            ], .unreadable(Finding(.checksumDiffers)))
        #expect(tally.count == 1 && tally.work.total == 1 && tally.waiting.total == 1)
        #expect((1.3...3).contains(tally.work.quantile(1) ?? 0), "2 s")
        #expect((5.3...12).contains(tally.waiting.quantile(1) ?? 0), "8 s")
    }

    @Test func `what nobody began took no work`() throws {
        let tally = try sheet([Step(name: "wait", seconds: 10)], .deadlineExceeded(seconds: 10))
        #expect(tally.count == 1 && tally.work.total == 0 && tally.waiting.total == 1)
    }

    @Test func `what was called off is counted, without times`() {
        var sheet = TallySheet()
        sheet.add(cancelled: 0, of: tenant, in: .quick, at: now)
        #expect(sheet.isEmpty)
        sheet.add(cancelled: 3, of: tenant, in: .quick, at: now)
        #expect(sheet.tallies.values.map(\.count) == [3] && sheet.tallies.values.allSatisfy { $0.waiting.total == 0 })
    }
}
