import API
import SatchelCore
import Foundation
import S3
import Stores

/// What a node would find of the database and the bucket that it shares.
struct ClusterFindings {
    let configuration: ServiceConfiguration
    /// As `--store` has it.
    let url: String

    /// From which difference clocks are worth a word.
    private static let clockTolerance: Duration = .seconds(60)

    var all: [Finding] {
        get async { await database + bucket }
    }

    private var database: [Finding] {
        get async {
            let found: DatabaseExamination
            do {
                found = try await configuration.database(url).examine()
            } catch {
                return [Finding(grade: .bad, subject: "database", detail: "\(error)")]
            }
            var findings = [
                Finding(
                    grade: .good, subject: "database",
                    detail:
                        "\(StoreLocation(configuration.store)), PostgreSQL \(found.version), \(Self.milliseconds(found.roundTrip)) away, \(found.connections) of \(found.connectionLimit) connections in use"
                )
            ]
            func add(_ grade: Finding.Grade, _ detail: String) {
                findings.append(Finding(grade: grade, subject: "database", detail: detail))
            }
            if found.schema == nil { add(.bad, "it has no store yet: run 'satchel store migrate' with it once") }
            for risk in found.risks { add(.bad, "\(risk): a crash may lose what was acknowledged") }
            if !found.forbidden.isEmpty {
                add(
                    .bad,
                    "this role may not read and write \(found.forbidden.joined(separator: ", ")): grant it SELECT, INSERT, UPDATE and DELETE"
                )
            }
            if found.ownsSchema {
                add(.extra, "this role owns the tables; one that reads and writes rows is enough for a service")
            }
            if !found.hasSynchronousStandby {
                add(.extra, "no commit waits for a standby: a failover may lose what was acknowledged")
            } else if found.standbys == 0 {
                add(.bad, "commits wait for a standby, and none streams: nothing is acknowledged until one does")
            }
            if let sentence = wakeups(found.hearsWakeups) { add(.extra, sentence) }
            // Alone, a node tells whoever follows a job all of it.
            let working = found.nodes.filter { $0.role?.works ?? false }
            let unreachable = working.filter { $0.url == nil }.map(\.name)
            if found.nodes.count(where: { $0.role != nil }) > 1, !unreachable.isEmpty {
                add(.extra, Self.reach(of: Set(unreachable).sorted(), of: working.count))
            }
            return findings + Self.clock("database", found.clockOffset) + Self.nodes(found.nodes)
        }
    }

    /// What keeps nodes from waking each other; nil where nothing does, or nobody wants it.
    private func wakeups(_ areHeard: Bool?) -> String? {
        let often = "nodes look for work every 100 ms and don't wake each other"
        return switch areHeard {
        case true?: nil
        case false?:
            often
                + ": what one notifies no other hears through this URL, as behind a pooler in transaction mode. Where there is one, set postgres.pooled; else name the server itself"
        case nil where configuration.database.wakeups == .off: nil
        case nil: often + ", as postgres.pooled says that a pooler is between; postgres.notify: off keeps this quiet"
        }
    }

    /// Who lives, by what they do.
    private static func nodes(_ nodes: [DatabaseExamination.LivingNode]) -> [Finding] {
        guard !nodes.isEmpty else { return [] }
        let roles = NodeRole.allCases.map { role in (role.rawValue, nodes.count { $0.role == role }) }
            .filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let (commands, ending) = (nodes.count { $0.role == nil }, nodes.count(where: \.isDraining))
        var words = roles.isEmpty ? [] : ["living by role: " + roles.joined(separator: ", ")]
        if commands > 0 { words.append(commands == 1 ? "1 command runs" : "\(commands) commands run") }
        if ending > 0 { words.append(ending == 1 ? "1 is ending" : "\(ending) are ending") }
        return [Finding(grade: .good, subject: "nodes", detail: words.joined(separator: "; "))]
    }

    private static func reach(of names: [String], of count: Int) -> String {
        let among = count == 1 ? "" : "of \(count) nodes that work, "
        return
            "\(among)\(names.joined(separator: ", ")) \(names.count == 1 ? "doesn't" : "don't") say how others reach \(names.count == 1 ? "it" : "them"): whoever follows a job there from another node hears only that it begins and ends. Set cluster.advertise on each that works, to http://{host}:8080"
    }

    private var bucket: [Finding] {
        get async {
            guard let blobs = configuration.blobs else { return [] }
            let found: BucketExamination
            do {
                found = try await S3Client(
                    configuration.bucket.configuration(of: blobs, ProcessInfo.processInfo.environment)
                ).examine()
            } catch {
                return [
                    Finding(grade: .bad, subject: "bucket", detail: error.description)
                ]
            }
            var findings = [
                Finding(
                    grade: .good, subject: "bucket",
                    detail: "\(blobs), written, read and deleted; \(Self.milliseconds(found.roundTrip)) away")
            ]
            if found.endsUnfinishedUploads == false {
                findings.append(
                    Finding(
                        grade: .extra, subject: "bucket",
                        detail:
                            "no rule of it aborts uploads in parts that nobody finished: add one, after 8 days, or they are paid for as long as it is there"
                    ))
            }
            return findings + Self.clock("bucket", found.clockOffset)
        }
    }

    private static func clock(_ subject: String, _ offset: Duration) -> [Finding] {
        guard offset > clockTolerance || offset < .zero - clockTolerance else { return [] }
        return [
            Finding(
                grade: .extra, subject: subject,
                detail:
                    "its clock is \(Int(abs(offset.inSeconds))) s \(offset > .zero ? "ahead of" : "behind") this machine's: set the one that is wrong"
            )
        ]
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\((duration.inSeconds * 10_000).rounded() / 10) ms"
    }
}
