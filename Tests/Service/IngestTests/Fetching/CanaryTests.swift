import SatchelCore
import Foundation
import Ingest
import TestSupport
import Testing

/// The fetcher against listeners on every address, inside a network namespace of its own.
@Suite struct CanaryTests {
    private struct Report: Decodable {
        var direct: [String]
        var heardDirect: Int
        var opensDirect: Int
        var redirected: [String]
        var heardRedirected: Int
        var opensRedirected: Int
        var redirects: Int
        var controls: [String]
        var heardControls: Int
        var left: Int
    }

    private struct Attempt: Encodable {
        var url: String
        var answers: [String]?
    }

    @Test func `no hostile URL is ever contacted, directly or by a redirect, while what is allowed is`() throws {
        let directory = try TemporaryDirectory()
        // A line break can't stand in a redirect's header; those URLs are tried directly like all others.
        let hostile = HostileURL.all
        let report = try run(
            hostile.map { Attempt(url: $0.url, answers: $0.answers?.map(\.description)) }, in: directory.path)

        #expect(report.direct == hostile.map(\.verdict.rawValue))
        #expect(report.heardDirect == 0)
        #expect(report.opensDirect == 0)

        // Each redirect is asked for once; what it leads to is not, whatever it is taken for. Relative references lead
        // back to the redirector, whose own are the only connections.
        #expect(report.redirected.count == hostile.count)
        #expect(report.heardRedirected == 0)
        #expect(report.opensRedirected == report.redirects)
        #expect(report.redirects >= hostile.count)
        for (code, source) in zip(report.redirected, hostile) where source.verdict == .blockedAddress {
            #expect(code == ErrorCode.blockedAddress.rawValue, "\(source.url.debugDescription)")
        }

        #expect(report.controls == Array(repeating: "fetched", count: 5))
        #expect(report.heardControls == 5)
        #expect(report.left == 0)
    }

    private func run(_ attempts: [Attempt], in directory: String) throws -> Report {
        let encoder = JSONEncoder()
        let input = Data(try attempts.map { try encoder.encode($0) }.joined(separator: [UInt8(ascii: "\n")]))
        var arguments = [
            "--net", "sh", "-c",
            """
            ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo \
            && exec "$0" "$1"
            """,
            try Repository.product("fetch-probe").path(percentEncoded: false), directory + "/spool",
        ]
        if geteuid() != 0 { arguments.insert("--map-root-user", at: 0) }
        let result = try Program.tool("unshare").run(arguments, input: input)
        try #require(result.status == 0, "the probe needs unshare and ip")
        return try JSONDecoder().decode(Report.self, from: result.output)
    }
}
