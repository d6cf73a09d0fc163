import Foundation
import Testing

@testable import bench

@Suite struct ContestTests {
    /// A workplace with programs that only have to be there.
    private func workplace() throws -> Workplace {
        let home = FileManager.default.temporaryDirectory.appending(
            path: "contest-\(UUID().uuidString)", directoryHint: .isDirectory)
        let programs = home.appending(path: "programs", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        for name in ["satchel", "satchel-codec"] {
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: programs.appending(path: name).path)
        }
        return try Workplace(home, programs: programs)
    }

    private func contest(_ contenders: [Contender], sources: [String], _ workplace: Workplace) -> Contest {
        Contest(
            name: "test", title: "Test", item: "thing", contenders: contenders, sources: sources, measure: "right",
            rounds: 2, workplace: workplace)
    }

    private struct Wrong: Error {}

    @Test func `who makes something else has no figure but a reason`() throws {
        let workplace = try workplace()
        defer { try? FileManager.default.removeItem(at: workplace.directory) }
        let right = Contender("right", "Right", .own) { _, _ in Usage(wall: 1, cpu: 2, largestProcess: 0) }
        let wrong = Contender("wrong", "Wrong", .peer) { _, _ in Usage(wall: 1, cpu: 1, largestProcess: 0) }
        let gone = Contender.absent("gone", "Gone", "isn't there")
        let comparison = try contest([right, wrong, gone], sources: ["a", "b"], workplace).hold { contender, _ in
            if contender.name == "wrong" { throw Wrong() }
            return []
        }
        #expect(comparison["right"]?["cpu"] == Spread([1000, 1000]))
        #expect(comparison["right"]?["multiple"] == Spread([1, 1]))
        #expect(comparison["wrong"]?.figures.isEmpty == true)
        #expect(comparison["wrong"]?.absence?.contains("Wrong") == true)
        #expect(comparison["gone"]?.absence?.contains("isn't there") == true)
    }

    @Test func `who breaks in a round has no figure of the rounds before`() throws {
        let workplace = try workplace()
        defer { try? FileManager.default.removeItem(at: workplace.directory) }
        let calls = Counter()
        let breaking = Contender("breaking", "Breaking", .peer) { _, _ in
            // The look and a round go well.
            if calls.next() == 2 { throw Wrong() }
            return Usage(wall: 1, cpu: 1, largestProcess: 0)
        }
        let comparison = try contest([breaking], sources: ["a"], workplace).hold { _, _ in [] }
        #expect(comparison["breaking"]?.figures.isEmpty == true)
        #expect(comparison["breaking"]?.absence != nil)
    }

    @Test func `one more costs what many cost over few`() throws {
        let workplace = try workplace()
        defer { try? FileManager.default.removeItem(at: workplace.directory) }
        let starting = Contender("right", "Right", .own, startsOnce: true) { sources, _ in
            Usage(wall: 1, cpu: 10 + 3 * Double(sources.count), largestProcess: 0)
        }
        var contest = contest([starting], sources: ["a", "b"], workplace)
        contest.moreSources = ["c", "d"]
        let comparison = try contest.hold { _, _ in [] }
        #expect(comparison["right"]?["cpu_more"] == Spread([3000, 3000]))
        #expect(comparison["right"]?["cpu"] == Spread([8000, 8000]))
    }

    @Test func `the judge refuses a picture of another size, and a better picture is nearer`() throws {
        let workplace = try workplace()
        defer { try? FileManager.default.removeItem(at: workplace.directory) }
        var options = Options()
        options.directory = workplace.directory
        options.peerFiles =
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../peers")
            .standardizedFileURL
        let judge = StillJudge(options, workplace)
        func path(_ name: String) -> String { workplace.scratch.appending(path: name).path(percentEncoded: false) }
        let scene = Scene(width: 640, height: 480, seed: 1, "judged", 0)
        try CameraJPEG.write(
            scene, to: URL(filePath: path("source.jpg")), bytes: 120_000, orientation: .quarterTurn,
            scratch: workplace.scratch)
        for quality in [50, 90] {
            try Command(
                "vipsthumbnail", [path("source.jpg"), "--size", "200x200", "-o", path("\(quality).jpg[Q=\(quality)]")]
            ).run()
        }
        let verdicts = try judge.verdicts(
            [50, 90].map { StillJudge.Case(source: path("source.jpg"), output: path("\($0).jpg"), size: 200) })
        #expect(verdicts[0].decibels + 2 < verdicts[1].decibels)
        #expect(verdicts[0].similarity < verdicts[1].similarity && verdicts[1].similarity < 1)
        #expect(verdicts[0].bytes < verdicts[1].bytes)
        #expect(throws: CommandFailure.self) {
            try judge.verdicts([StillJudge.Case(source: path("source.jpg"), output: path("90.jpg"), size: 201)])
        }
        // Not turned upright: the same picture on its side.
        try Command("vips", ["rot", path("90.jpg"), path("turned.jpg"), "d90"]).run()
        #expect(throws: CommandFailure.self) {
            try judge.verdicts([StillJudge.Case(source: path("source.jpg"), output: path("turned.jpg"), size: 200)])
        }
    }
}
