import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@Suite struct JobCommandTests {
    private func states(_ user: borrowing CommandLineUser, _ arguments: String...) throws -> [String: String] {
        let result = try user.satchel.run(["jobs", "--format", "jsonl"] + arguments)
        #expect(result.status == 0, "\(result.errorText)")
        let lines = try result.output.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
        }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                (line["id"] as? String).map { ($0, line["state"] as? String ?? "") }
            })
    }

    @Test func `a service's job is listed, cancelled and tried again from the command line`() async throws {
        let user = try CommandLineUser()
        let tenant = TenantID(rawValue: "default")
        let id = JobID(rawValue: "push-1")
        do {
            let store = try Store.open(
                at: user.store.path(percentEncoded: false), keys: user.home.url.path + "/keys/access.keys")
            let job = JobSubmission(
                tenant: tenant, id: id, profile: .notification,
                attachments: [AttachmentSubmission(location: .url("https://example.com/a.jpg", headers: [:]))])
            _ = try await store.records.submit(job)
        }
        let mine = ["--tenant", "default"]
        #expect(try states(user, mine[0], mine[1], "--state", "pending") == ["push-1": "pending"])
        #expect(try states(user).isEmpty, "the command line's own tenant has none")
        let unneeded = try user.run("retry", mine[0], mine[1], "push-1")
        #expect(unneeded.status == 0 && unneeded.errorText.contains("pending; nothing changed"))
        #expect(try user.run("cancel", mine[0], mine[1], "push-1").status == 0)
        #expect(try states(user, mine[0], mine[1]) == ["push-1": "cancelled"])
        #expect(try user.run("cancel", mine[0], mine[1], "push-1").status == 0, "twice is the same as once")
        #expect(try user.run("retry", mine[0], mine[1], "push-1").status == 0)
        #expect(try states(user, mine[0], mine[1]) == ["push-1": "pending"])
        for command in ["cancel", "retry"] {
            let unknown = try user.run(command, mine[0], mine[1], "push-2")
            #expect(unknown.status == 4 && unknown.errorText.contains("there is no job 'push-2'"))
        }
    }

    @Test func `a batch's jobs say what failed, and how that is tried again`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/good.jpg")
        try user.file("in/bad.jpg", Data("\u{FF}\u{D8}\u{FF}no picture".utf8))
        _ = try user.batch("in")
        let table = try user.run("jobs")
        #expect(table.status == 0 && table.outputText.hasPrefix("JOB"))
        let failed = try states(user, "--state", "failed")
        let all = try states(user)
        #expect(failed.count == 1 && all.count == 2)
        let id = try #require(failed.keys.first)
        let retried = try user.run("retry", id)
        #expect(retried.status == 4 && retried.errorText.contains("--retry-failed"), "\(retried.errorText)")
        let finished = try user.run("cancel", id)
        #expect(finished.status == 0 && finished.errorText.contains("already failed"))
        let csv = try user.run("jobs", "--format", "csv", "--limit", "1")
        #expect(csv.outputText.hasPrefix("job_id,state,delivered,attempt,created_at,profile,why\n"))
        #expect(csv.errorText.contains("Use --limit 0 to list all"))
    }

    @Test func `failures are listed by code, found by what they are of, and tried again together`() async throws {
        let user = try CommandLineUser()
        do {
            let store = try Store.open(
                at: user.store.path(percentEncoded: false), keys: user.home.url.path + "/keys/access.keys")
            for number in 1...3 {
                let job = JobSubmission(
                    tenant: TenantID(rawValue: "default"), id: JobID(rawValue: "push-\(number)"),
                    profile: .notification, metadata: ["order": "\(number)"],
                    attachments: [AttachmentSubmission(location: .url("https://example.com/a.jpg", headers: [:]))])
                _ = try await store.records.submit(job)
                let claims = try await store.records.claim(
                    ClaimCapacity(1), from: .lane(.fetch), by: WorkerID(rawValue: "w"), for: .seconds(60))
                let claim = try #require(claims.first)
                let outcome = AttachmentOutcome(
                    id: claim.attachments[0], result: .failure(.fetchTimeout(seconds: 3)), kind: nil,
                    source: SourceFacts(), steps: [])
                _ = try await store.records.deliver([outcome], under: claim)
            }
        }
        let mine = ["--tenant", "default"]
        let listed = try user.satchel.run(["failures", "--format", "jsonl", "--since", "1h"] + mine)
        let line = try #require(try JSONSerialization.jsonObject(with: listed.output) as? [String: Any])
        #expect(line["code"] as? String == "fetch_timeout" && line["count"] as? Int == 3)
        #expect(line["jobs"] as? [String] == ["push-3", "push-2", "push-1"] && line["retryable"] as? Bool == true)
        let none = try user.satchel.run(["failures", "--code", "corrupt"] + mine)
        #expect(none.status == 0 && none.output.isEmpty && none.errorText.contains("No failures found"))
        #expect(
            try states(user, mine[0], mine[1], "--metadata", "order=2", "--since", "1h") == ["push-2": "failed"])
        #expect(try states(user, mine[0], mine[1], "--code", "fetch_timeout", "--before", "1h").isEmpty)
        #expect(try states(user, mine[0], mine[1], "--metadata", "order=2,order=3").isEmpty, "all must hold")
        let again = try user.satchel.run(["retry", "--code", "fetch_timeout"] + mine)
        #expect(again.status == 0 && again.errorText.contains("3 jobs will be retried"), "\(again.errorText)")
        #expect(try states(user, mine[0], mine[1], "--state", "pending").count == 3)
        for wrong in [["retry"], ["retry", "push-1", "--code", "corrupt"], ["jobs", "--metadata", "order"]] {
            #expect(try user.satchel.run(wrong).status == 2)
        }
    }
}
