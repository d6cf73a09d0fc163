import ArgumentParser
import Ingest

/// How URLs are fetched.
struct FetchOptions: ParsableArguments {
    @Option(
        name: .customLong("fetch-allow"),
        help: ArgumentHelp(
            "An exception to the fetch guard: a host, an address or a CIDR, with an optional port; several with commas, or repeated.",
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
                    status: 2)
            }
        }
    }
}
