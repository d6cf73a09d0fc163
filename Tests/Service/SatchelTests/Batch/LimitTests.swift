import Foundation
import Glibc
import TestSupport
import Testing

/// A batch of an ordinary user whose limits are low.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
    private static let samples = [
        "jpeg/coffee.jpg", "png/alpha.png", "webp/animated.webp", "heic/alpha.heic", "mp4/film.mp4",
    ]

    /// Runs the program as a user other than root, with limits as `prlimit` takes them.
    private func run(_ user: borrowing CommandLineUser, _ limits: [String], _ arguments: [String]) throws
        -> ProgramResult
    {
        let satchel = user.satchel.executable.path(percentEncoded: false)
        let prlimit = Program(
            Program.tool("prlimit").executable, environment: user.satchel.environment, in: user.home.url)
        guard Privileges.canChangeUser else { return try prlimit.run(limits + [satchel] + arguments) }
        let path = user.home.url.path(percentEncoded: false)
        _ = try Program.tool("chown").run(["-R", "\(Self.account)", path])
        let setpriv = Program(
            Program.tool("setpriv").executable, environment: user.satchel.environment, in: user.home.url)
        return try setpriv.run(
            ["--reuid=\(Self.account)", "--regid=\(Self.account)", "--clear-groups", "prlimit"] + limits + [satchel]
                + arguments)
    }

    /// An account of its own, if the tests run as root.
    private static let account = Privileges.canChangeUser ? 61_234 : getuid()

    /// Processes and threads of the account, which a limit counts as well.
    private static func tasks() -> Int {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.filter { Int($0) != nil }.reduce(0) { count, process in
            let owner = try? FileManager.default.attributesOfItem(atPath: "/proc/\(process)")[.ownerAccountID]
            guard (owner as? NSNumber)?.uint32Value == account else { return count }
            return count + ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task"))?.count ?? 0)
        }
    }

    private static func lines(_ result: ProgramResult) throws -> [[String: Any]] {
        try result.output.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
        }
    }

    @Test(arguments: [3, 5, 8, 12, 16, 24, 40])
    func `under a limit of processes no file is judged, and all are delivered later`(limit: Int) throws {
        let user = try CommandLineUser()
        for sample in Self.samples { try user.sample(sample, as: "in/\(sample.split(separator: "/")[1])") }
        let command = ["batch", "in", "--format", "jsonl"]
        let limited = try run(user, ["--nproc=\(limit + Self.tasks())"], command)
        #expect(limited.signal == nil && [0, 1, 3].contains(limited.status), "\(limited.errorText)")
        #expect(!limited.errorText.contains("allow-unsandboxed"))
        for line in try Self.lines(limited) where line["state"] as? String != "delivered" {
            let error = line["error"] as? [String: Any]
            #expect(error?["code"] as? String == "store_failed" && error?["retryable"] as? Bool == true, "\(line)")
        }
        if limited.status != 0 { #expect(limited.errorText.contains("ulimit -u"), "\(limited.errorText)") }
        let free = try run(user, [], command)
        #expect(free.status == 0, "\(free.errorText)")
        #expect(try Self.lines(free).count == Self.samples.count)
    }

    // Too few for one codec, whatever number of cores the machine has.
    @Test(arguments: [16, 40, 64, 79])
    func `a low limit of open files is named, and judges no file`(limit: Int) throws {
        let user = try CommandLineUser()
        for sample in Self.samples { try user.sample(sample, as: "in/\(sample.split(separator: "/")[1])") }
        let limited = try run(user, ["--nofile=\(limit):\(limit)"], ["batch", "in", "--format", "jsonl"])
        #expect([0, 3].contains(limited.status), "\(limited.status) \(limited.errorText)")
        #expect(limited.errorText.contains("LimitNOFILE=, ulimit -n"), "\(limited.errorText)")
        #expect(!limited.errorText.contains("allow-unsandboxed"))
        let checked = try run(user, ["--nofile=\(limit):\(limit)"], ["doctor"])
        #expect(limit == 16 || checked.outputText.contains("ulimit -n"), "\(checked.outputText)")
    }
}
