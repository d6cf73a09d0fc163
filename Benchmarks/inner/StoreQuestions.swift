import SatchelCore
import Glibc
import Stores

/// What a store is asked all the time, at several sizes of the same store.
///
/// Prints, for each size, round and question: the size, the question's name, how often it was asked, the 50th and the
/// 99th percentile of its time and the processor time of one, all in microseconds.
enum StoreQuestions {
    /// Of each question in each round.
    private static let repetitions = 100
    private static let rounds = 3

    static func measure(in directory: String, counts: [Int]) async throws {
        var copies = try await StoreOfCopies(in: directory)
        for count in counts {
            try copies.grow(to: count)
            // Caches and statements are as in a service that has run for a while.
            if count == counts[0] { try await ask(copies, prints: false) }
            for _ in 0..<rounds { try await ask(copies, prints: true) }
        }
    }

    private static func ask(_ copies: StoreOfCopies, prints: Bool) async throws {
        func time(_ name: String, _ ask: (Int) async throws -> Void) async throws {
            let line = "\(copies.count) \(name) \(repetitions) \(try await times(of: ask))"
            guard prints else { return }
            print(line)
            fflush(nil)
        }
        let (store, samples) = (copies.store, copies.samples)
        let records = store.records
        let tenant = SampleRecords.tenant
        let quotas = Quotas(storedBytes: 1 << 50, pendingJobs: 1 << 40, liveLeases: 1 << 40)
        var claims: [Claim] = []
        try await time("submit") { _ in
            _ = try await records.submit(
                samples.submission, SubmissionOptions(quotas: quotas, queueLimit: 1 << 40))
        }
        try await time("claim") { _ in claims.append(try await samples.claim()) }
        var committed: [[RenditionRole: CommittedBlob]] = []
        for claim in claims { committed.append(try await samples.commit(claim)) }
        try await time("deliver") { _ = try await samples.deliver(claims[$0], committed[$0]) }
        try await time("list") { _ in
            _ = try await records.attachments(of: tenant, where: RecordFilter(), after: nil, limit: 50)
        }
        try await time("list.jobs") { _ in
            _ = try await records.jobs(of: tenant, where: RecordFilter(state: .pending), after: nil, limit: 50)
        }
        let middle = try await records.attachments(of: tenant, where: RecordFilter(), after: nil, limit: 1000)
        let images = RecordFilter(state: .delivered, kind: .image)
        try await time("list.filtered") { _ in
            _ = try await records.attachments(of: tenant, where: images, after: middle.next, limit: 50)
        }
        let attachments = try await records.attachments(of: tenant, where: images, after: nil, limit: repetitions)
        try await time("read") {
            _ = try await records.attachment(attachments.elements[$0].id, of: tenant)
        }
        var tokens: [AccessToken] = []
        for id in try copies.leases(repetitions) {
            guard let token = try await records.token(id, of: tenant) else { complain("a lease has no token") }
            tokens.append(token)
        }
        try await time("lease-check") {
            guard try await records.open(tokens[$0], role: .main) != nil else { complain("a lease opens nothing") }
        }
        var leases: [String] = []
        try await time("lease.start") {
            let started = try await records.startLease(
                on: attachments.elements[$0].id, in: .owner(tenant), renditions: nil, for: .seconds(20 * 86_400),
                within: quotas)
            guard let (lease, _) = started else { complain("no lease starts on \(attachments.elements[$0].id)") }
            leases.append(lease.id)
        }
        try await time("lease.stop") { _ = try await records.revoke(leases[$0], in: .owner(tenant)) }
        try await time("statistics") { _ in _ = try await records.statistics() }
    }

    private static func times(of ask: (Int) async throws -> Void) async throws -> String {
        var times: [Double] = []
        let cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
        for index in 0..<repetitions {
            let start = milliseconds(CLOCK_MONOTONIC)
            try await ask(index)
            times.append((milliseconds(CLOCK_MONOTONIC) - start) * 1000)
        }
        let each = (milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1000 / Double(repetitions)
        times.sort()
        return "\(times[repetitions / 2]) \(times[repetitions * 99 / 100]) \(each)"
    }
}
