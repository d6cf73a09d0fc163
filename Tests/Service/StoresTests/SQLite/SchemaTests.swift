import SatchelCore
import GRDB
import TestSupport
import Testing

@testable import Stores

/// The rules hold even where the code is wrong: these tests go around it.
@Suite struct SchemaTests {
    @Test func `commits are durable, and foreign keys hold`() async throws {
        let fixture = try Fixture()
        let settings = try await fixture.sqlite.connections.writeWithoutTransaction { database in
            try ["journal_mode", "synchronous", "foreign_keys", "secure_delete"].map { name in
                try String.fetchOne(database, sql: "PRAGMA \(name)")
            }
        }
        #expect(settings == ["wal", "2", "1", "2"])
    }

    @Test(arguments: WorkState.allCases, WorkState.allCases)
    func `a job changes its state only as the state machine says`(from: WorkState, to: WorkState) async throws {
        let fixture = try Fixture()
        try await fixture.put(from)
        let change = fixture.change(to: to)
        if from == to || from.canBecome(to) {
            try await change()
        } else {
            await #expect(throws: DatabaseError.self) { try await change() }
        }
    }

    @Test(arguments: [
        "UPDATE jobs SET generation = generation - 1",
        "UPDATE jobs SET claim = 'another' WHERE state = 'running'",
        "UPDATE blobs SET tenant = 'other'",
        "UPDATE jobs SET state = 'lost'",
        "UPDATE jobs SET tenant = 'other'",
        "UPDATE jobs SET worker = NULL WHERE state = 'running'",
        "UPDATE attachments SET tenant = 'other'",
        "UPDATE attachments SET state = 'delivered'",
        "UPDATE blobs SET bytes = bytes + 1",
        "UPDATE blobs SET refs = -1",
        "DELETE FROM blobs",
        "INSERT INTO tombstones SELECT name, 0 FROM blobs",
        "UPDATE renditions SET role = 'poster'",
        "UPDATE store SET last_instant = last_instant - 1",
        "UPDATE lines SET claimed_rank = claimed_rank - 1",
        "DELETE FROM lines",
        "DELETE FROM store",
        "INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, state, details, created_at) SELECT 'other', 'x', key, '', 9, 0, 'x', 'pending', '{}', 0 FROM jobs",
        "UPDATE access SET expires_at = expires_at + 1 WHERE parent IS NOT NULL",
        "UPDATE access SET kid = 'x'",
        "INSERT INTO access (id, kind, tenant, attachment, parent, lease_limit, kid, created_at, expires_at) SELECT 'abcdefghijklmnopqrstuv', 'grant', tenant, attachment, id, lease_limit + 1, kid, 0, expires_at FROM access WHERE parent IS NULL",
        "INSERT INTO access (id, kind, tenant, attachment, parent, kid, created_at, expires_at) SELECT 'abcdefghijklmnopqrstuv', 'lease', 'other', attachment, id, kid, 0, expires_at FROM access WHERE parent IS NULL",
        "UPDATE calls SET body = x'00'",
        "UPDATE calls SET job = (SELECT key FROM jobs), generation = 1, body = NULL",
        "INSERT INTO calls (id, tenant, type, job, generation, url, created_at, due_at) SELECT 'x', 'other', 'job.finished', key, 1, 'https://a.example', 0, 0 FROM jobs",
        "INSERT INTO calls (id, tenant, type, url, created_at, due_at) VALUES ('x', 'other', 'job.finished', 'https://a.example', 0, 0)",
        "UPDATE calls SET state = 'pending', finished_at = NULL WHERE state = 'cancelled'",
        "UPDATE calls SET is_kept = 0",
        "UPDATE tickets SET expires_at = expires_at + 1",
        "UPDATE tickets SET tenant = 'other'",
        "UPDATE tickets SET ended_at = NULL WHERE ended_at IS NOT NULL",
        "INSERT INTO tickets (id, tenant, notification, kind, kid, expires_at, record) SELECT 'abcdefghijklmnopqrstuv', 'other', key, 'respond', 'x', 9, '{}' FROM notifications",
        "INSERT INTO response_sessions VALUES ('abcdefghijklmnopqrstuv', 'x', '{}')",
        "INSERT INTO responses SELECT 'other', 9, notification, ticket, 'x', session, firing, is_preview, received_at, record FROM responses",
        "INSERT INTO responses SELECT tenant, 9, notification, ticket, id, session, firing, is_preview, received_at, record FROM responses",
        "INSERT INTO responses SELECT tenant, place, notification, ticket, 'x', session, firing, is_preview, received_at, record FROM responses",
        "UPDATE responses SET place = place + 1",
        "UPDATE responses SET is_preview = 1",
        "UPDATE responses SET record = '{}'",
        "UPDATE tenants SET last_response = last_response - 1",
        "UPDATE attachments SET code = 'corrupt' WHERE state <> 'failed'",
        "INSERT INTO labels SELECT tenant, 'k', printf('%201s', 'x'), key FROM jobs",
        "INSERT INTO tallies VALUES ('local', 60001, 'quick', 'delivered', '', 1, '', '')",
        "INSERT INTO tallies VALUES ('local', 60000, 'quick', 'failed', '', 1, '', '')",
        "INSERT INTO tallies VALUES ('local', 60000, 'quick', 'delivered', '', 0, '', '')",
    ])
    func `what breaks a rule is refused`(statement: String) async throws {
        let fixture = try Fixture()
        let attachment = try await fixture.store.deliver([.main: "text"])
        _ = try await fixture.sqlite.submit([.sample()], SubmissionOptions())
        _ = try await fixture.claim()
        try await fixture.sqlite.enqueue(.sample("message", subject: "subject"))
        try await fixture.sqlite.cancelCalls(of: "subject", tenant: .local)
        let granted = try await fixture.sqlite.grant(
            on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60), leaseLimit: 3)
        let (_, token) = try #require(granted)
        _ = try await fixture.sqlite.startLease(in: .bearer(token), renditions: nil, for: .seconds(60))
        try await fixture.sqlite.putNotification()
        let (ticket, _) = try await fixture.sqlite.newTicket()
        try await fixture.sqlite.fireNotification(opening: ticket)
        _ = try await fixture.sqlite.take(.sample(1), by: ticket)
        _ = try await fixture.sqlite.settle(.sample(1), by: ticket, ResponseSettlement(answer: nil))
        #expect(try await fixture.sqlite.remove(NotificationID(rawValue: "a"), of: .local, from: .delivered))
        await #expect(throws: DatabaseError.self) {
            try await fixture.sqlite.connections.write { try $0.execute(sql: statement) }
        }
    }

    @Test func `access that was ended stays ended`() async throws {
        let fixture = try Fixture()
        let attachment = try await fixture.store.deliver([.main: "text"])
        let started = try await fixture.sqlite.startLease(
            on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(60))
        let (lease, _) = try #require(started)
        #expect(try await fixture.sqlite.revoke(lease.id, in: .owner(.local)))
        await #expect(throws: DatabaseError.self) {
            try await fixture.sqlite.connections.write { try $0.execute(sql: "UPDATE access SET ended_at = NULL") }
        }
    }

    @Test func `what is asked often is found by an index, however much there is`() async throws {
        let fixture = try Fixture()
        let run = RunID(rawValue: "r")
        let label = JobLabel("a", "b")
        let filters = [
            RecordFilter(), RecordFilter(state: .failed), RecordFilter(kind: .video),
            RecordFilter(state: .failed, kind: .video), RecordFilter(run: run), RecordFilter(code: .corrupt),
            RecordFilter(profile: "p"), RecordFilter(identifier: "photo"), RecordFilter(labels: [label]),
            RecordFilter(since: Instant(milliseconds: 1), before: Instant(milliseconds: 2)),
            RecordFilter(
                state: .failed, kind: .video, run: run, code: .corrupt, profile: "p", identifier: "photo",
                since: Instant(milliseconds: 1), before: Instant(milliseconds: 2), labels: [label, JobLabel("c", "d")]),
        ]
        let lists = [ListedTable.jobs, .attachments].flatMap { table in
            filters.flatMap { filter in
                [nil, filter.labels.first].flatMap { rare in
                    let query = ListQuery(
                        table, of: .local, where: filter, after: "10", limit: 10, rare: rare,
                        between: PlaceRange(start: "1", end: "9"))
                    return [query.page(to: nil), query.page(to: "5"), query.floor(10)]
                }
            }
        }
        let operation: [(String, StatementArguments)] = [
            (Database.jobsLabelled, ["", "", "", 1]), (Database.createdAt(in: .jobs), ["", 1]),
            (Database.createdAt(in: .attachments), ["", ""]), (Database.talliesSince, ["", 0]),
            (Database.openAccess(.link), ["", 0, 1]), (Database.notificationsDue, ["", 0, 1]),
            (Database.callsThatFailed, ["", 1]), (Database.callsThatFail, ["", 1]),
            (Database.accessTo, ["", "", "", 1]), (Database.firstFailure, ["", "", 0]),
            (Database.lastFailure, ["", "", 0]), (Database.failedKinds, ["", "", 0, 1]),
            (Database.failedJobs, ["", "", 0, 1]),
        ]
        let calls = [(nil, nil), (nil, "z"), (CallType.jobFinished, nil), (CallType.jobFinished, "z")].map {
            type, cursor in
            Database.calls(of: .local, in: .failed, type: type, after: cursor, limit: 10)
        }
        let others: [(String, StatementArguments)] =
            [
                (Database.jobsWaitingInLine, ["quick", 0, 0, 1]),
                (Database.lastRank, ["acme", "quick", 0, 0]),
                (Database.claimedRank, ["quick", 0]),
                (Database.pendingByDeadline, [0, 1]),
                (Database.jobsWaitingInRun, ["r", 0, 0, 1]),
                ("SELECT DISTINCT worker FROM jobs WHERE run = ? AND state = 'running'", [""]),
                ("SELECT key FROM jobs WHERE run = ? AND state = 'running' AND worker = ?", ["", "w"]),
                ("SELECT * FROM jobs WHERE tenant = ? AND work_key = ?", ["", ""]),
                ("SELECT * FROM access WHERE id = ?", [""]),
                (Database.liveBlob, ["acme", ""]),
                ("SELECT 1 FROM attachments WHERE spool = ?", [""]),
                ("SELECT 1 FROM retained_spool WHERE name = ?", [""]),
                ("DELETE FROM attachments WHERE tenant = ? AND id = ?", ["", ""]),
            ]
        let ofTheService: [(String, StatementArguments)] = [
            (Database.accessByJob, ["", "", 0]),
            (Database.attachmentsOver, [0, 0, 0, 0, 1]),
            (Database.webhooksDue, [0, 1]),
            (Database.webhooksDueTo, ["", "", 0, 1]),
            (Database.nextReceiverOfTenant, ["", ""]),
            (Database.receiverOfNextTenant, [""]),
            (Database.nextWebhook, [0]),
            ("UPDATE calls SET state = 'cancelled' WHERE tenant = ? AND subject = ? AND state = 'pending'", ["", ""]),
            ("SELECT * FROM calls WHERE job = ? AND generation = ?", [1, 1]),
            (Database.oldestDue, ["quick", 0]),
            (Database.accessThatRanOut, ["lease", 0]),
            (Database.leasesOfTenantThatRanOut, ["", 0]),
            ("SELECT open FROM open_access WHERE kind = ?", ["lease"]),
            (
                "SELECT job, body_digest FROM idempotency_keys WHERE tenant = ? AND key = ? AND created_at > ?",
                ["", "", 0]
            ),
            ("SELECT * FROM usage WHERE tenant = ?", [""]),
            ("SELECT pending, running FROM lanes WHERE lane = ?", ["quick"]),
            ("SELECT * FROM api_keys WHERE id = ?", [""]),
            ("SELECT count(*) FROM categories WHERE tenant = ?", [""]),
            ("SELECT body FROM categories WHERE tenant = ? ORDER BY id", [""]),
            ("SELECT body FROM categories WHERE tenant = ? AND id = ?", ["", ""]),
            ("DELETE FROM jobs WHERE key = ?", [1]),
            ("UPDATE tombstones SET made_at = ? WHERE made_at = 0", [1]),
            ("SELECT DISTINCT headers_kid FROM jobs WHERE headers_kid IS NOT NULL", []),
        ]
        let forgetting = Database.forgettable.map { ($0.sql, [0, 1] as StatementArguments) }
        for (sql, arguments) in [lists, calls, operation, others, ofTheService, forgetting].joined() {
            let plan = try await fixture.sqlite.connections.read { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments)
                    .map { $0["detail"] as String }
            }
            #expect(!plan.isEmpty)
            for step in plan {
                // A list that is given with the question is read whole.
                #expect(
                    step.hasPrefix("SEARCH") || step.contains("SUBQUERY") || step.hasPrefix("SCAN json_each")
                        || step.hasPrefix("SCAN (subquery") || step.hasPrefix("CO-ROUTINE")
                        || step.hasPrefix("USE TEMP B-TREE"),
                    "\(sql): \(step)")
            }
        }
    }
}

extension Fixture {
    /// Brings one job into a state by the ordinary way.
    fileprivate func put(_ state: WorkState) async throws {
        let submission = JobSubmission.sample()
        _ = try await records.submit([submission], SubmissionOptions())
        if state == .pending { return }
        if state == .cancelled {
            _ = try await records.cancel(submission.id, of: .local)
            return
        }
        let claim = try await claim()
        switch state {
        case .failed:
            _ = try await records.deliver([.failed(claim.attachments[0], .corrupt(reason: "x"))], under: claim)
        case .delivered:
            let blob = try await store.commit("x")
            _ = try await records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        default: break
        }
    }

    /// Changes the state of all jobs, with every column as the state wants it.
    fileprivate func change(to state: WorkState) -> @Sendable () async throws -> Void {
        let pool = sqlite.connections
        return {
            try await pool.write { database in
                try database.execute(
                    sql: """
                        UPDATE jobs SET state = :state,
                            claim = iif(:state = 'running', coalesce(claim, 'c'), NULL),
                            worker = iif(:state = 'running', 'w', NULL),
                            claimed_until = iif(:state = 'running', 1, NULL),
                            submission = iif(:state IN ('pending', 'running'), '{}', NULL),
                            delivered_claim = iif(:state = 'delivered', 'c', NULL),
                            finished_at = iif(:state IN ('pending', 'running'), NULL, 1)
                        """, arguments: ["state": state.rawValue])
            }
        }
    }
}
