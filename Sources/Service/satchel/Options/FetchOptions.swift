import ArgumentParser
import Ingest

/// Options for fetching URLs.
struct FetchOptions: ParsableArguments {
    @Option(
        name: .customLong("fetch-allow"),
        help: ArgumentHelp(
            "Private host, address or CIDR that Satchel may fetch from, with an optional port (comma-separated or repeated).",
            valueName: "host"))
    var allow: [Several<String>] = []

    func fetcher(into spool: Spool) throws -> Fetcher {
        Fetcher(
            guardedBy: FetchGuard(allowing: try allowances), into: spool, userAgent: "Satchel/\(Version.current)")
    }

    var allowances: [FetchAllowance] {
        get throws {
            do {
                return try FetchAllowance.list(allow.all())
            } catch {
                throw CommandFailure(
                    error.problems.map { "--fetch-allow '\($0.value)': \($0.remedy)." }.joined(separator: "\n"),
                    status: .usage)
            }
        }
    }
}
