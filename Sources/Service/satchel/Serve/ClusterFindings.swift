import API
import SatchelCore
import Foundation
import S3
import Stores

/// Checks of the database and the bucket that nodes share.
struct ClusterFindings {
    let configuration: ServiceConfiguration
    /// The URL of the database.
    let url: String

    var all: [Finding] {
        get async { await database + bucket }
    }

    private var database: [Finding] {
        get async {
            let found: DatabaseExamination
            do {
                found = try await configuration.database(url).examine()
            } catch {
                return [Finding(.bad, "database", "\(error)")]
            }
            var findings = [
                Finding(
                    .good, "database",
                    "\(StoreLocation(configuration.store)), PostgreSQL \(found.version), \(Self.milliseconds(found.roundTrip)) away, \(found.connections) of \(found.connectionLimit) connections in use"
                )
            ]
            func add(_ grade: Finding.Grade, _ detail: String) {
                findings.append(Finding(grade, "database", detail))
            }
            if found.schema == nil { add(.bad, "no store yet. Run 'satchel store migrate' once") }
            for risk in found.risks { add(.bad, "\(risk): a crash may lose acknowledged data") }
            if !found.forbidden.isEmpty {
                add(
                    .bad,
                    "this role has no access to \(found.forbidden.joined(separator: ", ")). Grant it SELECT, INSERT, UPDATE and DELETE"
                )
            }
            if found.ownsSchema {
                add(.extra, "this role owns the tables. A service only needs a role that reads and writes rows")
            }
            if !found.hasSynchronousStandby {
                add(.extra, "commits do not wait for a standby: a failover may lose acknowledged data")
            } else if found.standbys == 0 {
                add(.bad, "commits wait for a standby, but none is connected: nothing is acknowledged until one is")
            }
            if let sentence = wakeups(found.hearsWakeups) { add(.extra, sentence) }
            // A single node needs no URL for others.
            let working = found.nodes.filter { $0.role?.works ?? false }
            let unreachable = working.filter { $0.url == nil }.map(\.name)
            if found.nodes.count(where: { $0.role != nil }) > 1, !unreachable.isEmpty {
                add(.extra, Self.reach(of: Set(unreachable).sorted(), of: working.count))
            }
            return findings + Self.clock("database", found.clockOffset) + Self.nodes(found.nodes)
                + found.nodes.flatMap {
                    Self.clock("nodes", $0.clockAhead, of: "the clock of \($0.name)", than: "the database's")
                }
        }
    }

    /// Says why nodes do not wake each other; `nil` if they do, or if that is turned off.
    private func wakeups(_ areHeard: Bool?) -> String? {
        let often = "nodes look for work every 100 ms and don't wake each other"
        return switch areHeard {
        case true?: nil
        case false?:
            often
                + ", because NOTIFY does not work through this URL. If there is a pooler in transaction mode, set postgres.pooled. Otherwise use the URL of the server itself"
        case nil where configuration.database.wakeups == .off: nil
        case nil: often + ", because postgres.pooled is set. Set postgres.notify to off to hide this line"
        }
    }

    /// Counts the running nodes by role.
    private static func nodes(_ nodes: [DatabaseExamination.LivingNode]) -> [Finding] {
        guard !nodes.isEmpty else { return [] }
        let roles = NodeRole.allCases.map { role in (role.rawValue, nodes.count { $0.role == role }) }
            .filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let (commands, ending) = (nodes.count { $0.role == nil }, nodes.count(where: \.isDraining))
        var words = roles.isEmpty ? [] : ["running: " + roles.joined(separator: ", ")]
        if commands > 0 { words.append(Quantity.count(commands, "command")) }
        if ending > 0 { words.append("\(ending) stopping") }
        return [Finding(.good, "nodes", words.joined(separator: "; "))]
    }

    private static func reach(of names: [String], of count: Int) -> String {
        let among = count == 1 ? "" : ", of \(count) working nodes"
        return
            "no URL for other nodes is set on \(names.joined(separator: ", "))\(among). Clients that follow a job there from another node see only its beginning and end. Set cluster.advertise on each working node to http://{host}:8080"
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
                    Finding(.bad, "bucket", error.description)
                ]
            }
            var findings = [
                Finding(
                    .good, "bucket", "\(blobs), write, read and delete work; \(Self.milliseconds(found.roundTrip)) away"
                )
            ]
            if found.endsUnfinishedUploads == false {
                findings.append(
                    Finding(
                        .extra, "bucket",
                        "no lifecycle rule aborts incomplete multipart uploads. Add one with 8 days, or you pay for their parts indefinitely"
                    ))
            }
            return findings + Self.clock("bucket", found.clockOffset)
        }
    }

    private static func clock(
        _ subject: String, _ offset: Duration, of name: String = "its clock", than other: String = "this machine's"
    ) -> [Finding] {
        guard let words = offset.clockDifference else { return [] }
        let detail = "\(name) is \(words) \(other) clock. Correct the wrong one"
        return [Finding(.extra, subject, detail)]
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\((duration.inSeconds * 10_000).rounded() / 10) ms"
    }
}
