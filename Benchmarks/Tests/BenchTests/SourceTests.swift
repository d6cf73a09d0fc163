import Foundation
import Testing

@testable import bench

@Suite struct SourceTests {
    private func set(_ sources: [(width: Int, height: Int, frames: Int, bytes: Int)]) -> SourceSet {
        SourceSet(
            sources: sources.enumerated().map { index, source in
                SourceSet.Source(
                    path: "\(index)", width: source.width, height: source.height, frames: source.frames,
                    bytes: source.bytes)
            })
    }

    @Test func `words are of the files that are measured`() {
        let one = set([(4000, 3000, 30, 19_960)])
        #expect(one.photographs == "1 photograph of 12 MP")
        #expect(one.animations == "1 GIF of 30 frames")
        #expect(one.pictures == "1 picture of 20 kB")
        let several = set([(1600, 1200, 2, 900), (6000, 4000, 125, 17_400), (2000, 1000, 44, 3000)])
        #expect(several.photographs == "3 photographs of 1.9 to 24 MP")
        #expect(several.animations == "3 GIFs of 2 to 125 frames")
        #expect(several.pictures == "3 pictures of 0.9 to 17 kB")
        #expect(set([(2000, 1000, 1, 1), (2000, 1010, 1, 1)]).photographs == "2 photographs of 2 MP")
        #expect(set([]).photographs == "0 photographs")
    }

    @Test func `of many that are left out the first are named`() {
        var many = set([(1, 1, 1, 1)])
        many.leftOut = (0..<25).map { SourceSet.LeftOut(name: "\($0).jpg", reason: "it is empty") }
        #expect(many.notes.count == 21)
        #expect(many.notes[0] == "Left out for everybody: 0.jpg: it is empty")
        #expect(many.notes[20] == "Left out for everybody: 5 more")
    }

    /// A run over files of one's own, with programs that only have to be there.
    private func context(_ fill: (URL) throws -> Void) throws -> (home: URL, run: RunContext) {
        let home = FileManager.default.temporaryDirectory.appending(
            path: "sources-\(UUID().uuidString)", directoryHint: .isDirectory)
        var options = Options()
        options.programs = home.appending(path: "programs", directoryHint: .isDirectory)
        options.directory = home.appending(path: "bench", directoryHint: .isDirectory)
        options.peerFiles =
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../peers").standardizedFileURL
        let corpus = home.appending(path: "mine", directoryHint: .isDirectory)
        options.corpus = corpus
        for place in [options.programs, corpus] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        for name in ["satchel", "satchel-codec"] {
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: options.programs.appending(path: name).path)
        }
        try fill(corpus)
        return (home, try RunContext(options))
    }

    private struct NotAsked: Error {}

    @Test func `damaged photographs are left out for everybody, by their own names`() throws {
        let (home, run) = try context { corpus in
            func photograph(_ name: String) throws -> URL {
                let file = corpus.appending(path: name)
                try CameraJPEG(quality: 85).write(
                    Scene(width: 320, height: 240, seed: 1, name, 0), to: file, scratch: corpus)
                return file
            }
            _ = try photograph("b-whole.jpg")
            _ = try photograph("d-odd.jpg")
            let half = try photograph("a-half.jpg")
            let data = try Data(contentsOf: half)
            try data.prefix(data.count / 2).write(to: half)
            try Data().write(to: corpus.appending(path: "c-empty.jpeg"))
            try Command("vips", ["black", corpus.appending(path: "e.png").path(percentEncoded: false), "8", "8"]).run()
            try FileManager.default.moveItem(
                at: corpus.appending(path: "e.png"), to: corpus.appending(path: "e-other.jpg"))
        }
        defer { try? FileManager.default.removeItem(at: home) }
        var asked: [String] = []
        let set = try run.sources(.photographs, synthetic: { throw NotAsked() }) { files in
            asked = files
            return [files[1]: "Satchel doesn't deliver it: corrupt"]
        }
        #expect(asked.count == 2)
        #expect(set.photographs == "1 photograph of 0.1 MP")
        #expect(set.leftOut.map(\.name) == ["a-half.jpg", "c-empty.jpeg", "e-other.jpg", "d-odd.jpg"])
        #expect(set.leftOut[0].reason.contains("truncated"))
        #expect(set.leftOut[2].reason == "it is PNG")
        // Those who take directories find no others.
        let place = URL(filePath: set.files[0]).deletingLastPathComponent()
        #expect(try Directory(url: place).files == set.files)
    }

    @Test func `damaged animations and stills are left out, and nothing left is an error that says why`() throws {
        let (home, run) = try context { corpus in
            func gif(_ name: String, frames: Int) throws -> URL {
                let file = corpus.appending(path: name)
                try Command(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10", "-frames:v", "\(frames)",
                        file.path(percentEncoded: false),
                    ]
                ).run()
                return file
            }
            _ = try gif("still.gif", frames: 1)
            _ = try gif("whole.gif", frames: 7)
            let cut = try gif("cut.gif", frames: 7)
            let data = try Data(contentsOf: cut)
            try data.prefix(300).write(to: cut)
        }
        defer { try? FileManager.default.removeItem(at: home) }
        let set = try run.sources(.animations, synthetic: { throw NotAsked() }) { _ in [:] }
        #expect(set.animations == "1 GIF of 7 frames")
        #expect(Set(set.leftOut.map(\.name)) == ["still.gif", "cut.gif"])
        do {
            _ = try run.sources(.animations, synthetic: { throw NotAsked() }) { files in [files[0]: "it is refused"] }
            Issue.record("something is left")
        } catch {
            #expect("\(error)".contains("whole.gif: it is refused") && "\(error)".contains("still.gif"))
        }
    }

    @Test func `a batch's report says which files don't come out as measured`() throws {
        let home = FileManager.default.temporaryDirectory.appending(
            path: "report-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: home) }
        let programs = home.appending(path: "programs", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        for name in ["satchel", "satchel-codec"] {
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: programs.appending(path: name).path)
        }
        let both = #"{"main": {"media_type": "image/jpeg"}, "thumbnail": {"media_type": "image/jpeg"}}"#
        let lines = [
            #"{"path": "in/a.jpg", "state": "delivered", "seconds": 1, "error": null, "renditions": \#(both)}"#,
            #"{"path": "in/b.jpg", "state": "failed", "seconds": 1, "error": {"code": "corrupt", "message": "It ends."}, "renditions": {}}"#,
            #"{"path": "in/c.jpg", "state": "delivered", "seconds": 1, "renditions": {"main": {"media_type": "image/png"}}}"#,
        ]
        let batch = Command("sh", ["-c", "printf '%s\\n' '\(lines.joined(separator: "' '"))' > \"$2\"; exit 1", "sh"])
        let report = try BatchReport(batch, try Workplace(home, programs: programs))
        let wanted = ["main": "image/jpeg", "thumbnail": "image/jpeg"]
        #expect(
            report.refusals(of: ["/x/a.jpg", "/x/b.jpg", "/x/c.jpg"], wanted: wanted) == [
                "/x/b.jpg": "Satchel doesn't deliver it: corrupt: It ends.",
                "/x/c.jpg": "Satchel makes another main and thumbnail of it",
            ])
        #expect(report.lines.filter(\.isDelivered).count == 2)
    }
}
