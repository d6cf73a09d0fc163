import Foundation
import Testing

@testable import bench

@Suite struct CorpusTests {
    @Test func `a scene follows from its seed, name and index alone`() {
        let first = Scene(width: 120, height: 90, seed: 3, "scene", 5)
        #expect(first.pixels == Scene(width: 120, height: 90, seed: 3, "scene", 5).pixels)
        #expect(first.pixels != Scene(width: 120, height: 90, seed: 4, "scene", 5).pixels)
        #expect(first.pixels != Scene(width: 120, height: 90, seed: 3, "scene", 6).pixels)
        #expect(first.pixels != Scene(width: 120, height: 90, seed: 3, "other", 5).pixels)
    }

    @Test func `photographs are of the sizes, qualities and kinds that cameras write`() {
        let shots = (0..<Inputs.shots).map { Inputs.shot($0, seed: 9) }
        let pixels = shots.map { Double($0.width * $0.height) / 1e6 }
        #expect(pixels.allSatisfy { $0 > 1.9 && $0 < 24.5 } && pixels.filter { $0 > 12.5 }.count == 1)
        #expect(abs(Quotient.mean(pixels) - 6) < 0.2)
        let shapes = Set(shots.map { (Double($0.width) / Double($0.height) * 20).rounded() / 20 })
        #expect(shapes == [1.35, 1.5, 1.8])
        #expect(shots.filter { $0.file.orientation.isPortrait }.count == 6)
        let qualities = shots.map(\.file.quality)
        #expect(qualities.min() == 75 && qualities.max() == 97)
        for sampling in CameraJPEG.Sampling.allCases {
            #expect(shots.contains { $0.file.sampling == sampling }, "\(sampling)")
        }
        #expect(shots.filter(\.file.isProgressive).count == 2)
        #expect(shots.allSatisfy { !($0.file.isProgressive && $0.file.hasPreview) })
        #expect((0..<Inputs.shots).map { Inputs.shot($0, seed: 9) } == shots)
        #expect((0..<Inputs.shots).map { Inputs.shot($0, seed: 8).look } != shots.map(\.look))
    }

    @Test(arguments: CameraJPEG.Sampling.allCases, [false, true])
    func `a camera's file is what it says, with a preview`(sampling: CameraJPEG.Sampling, isProgressive: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "camera-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appending(path: "one.jpg")
        try CameraJPEG(
            quality: 90, sampling: sampling, isProgressive: isProgressive, orientation: .threeQuarterTurn,
            hasPreview: true
        ).write(Scene(width: 640, height: 400, seed: 1, "camera", 0), to: file, scratch: directory)
        let judge = """
            import io, struct, sys
            from PIL import Image
            data = open(sys.argv[1], "rb").read()
            image = Image.open(io.BytesIO(data))
            image.load()
            exif = image.getexif()
            start = data.index(b"Exif\\0\\0") + 6
            first = struct.unpack(">I", data[start + 4 : start + 8])[0]
            count = struct.unpack(">H", data[start + first : start + first + 2])[0]
            at = start + first + 2 + count * 12
            second = start + struct.unpack(">I", data[at : at + 4])[0]
            entries = [struct.unpack(">HHII", data[second + 2 + i * 12 : second + 14 + i * 12]) for i in range(3)]
            place, length = entries[1][3], entries[2][3]
            preview = Image.open(io.BytesIO(data[start + place : start + place + length]))
            preview.load()
            print(*image.layer[0][1:3], int("progressive" in image.info), exif[0x112], len(exif.get_ifd(0x8769)), *preview.size)
            """
        let answer = try #require(
            Machine.answer(of: "/usr/bin/python3", ["-c", judge, file.path(percentEncoded: false)]))
        let (across, down) = (sampling.rawValue.prefix(1), sampling.rawValue.suffix(1))
        #expect(
            answer.trimmingCharacters(in: .whitespacesAndNewlines)
                == "\(across) \(down) \(isProgressive ? 1 : 0) 8 2 160 100")
    }

    @Test(arguments: ["screen", "lines", "sticker"])
    func `a drawing follows from its seed, and a sticker alone is transparent`(kind: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "drawings-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let script =
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../peers/drawings.py")
            .standardizedFileURL.path(percentEncoded: false)
        func drawn(seed: Int, _ name: String) throws -> URL {
            let file = directory.appending(path: name)
            try Command(
                "/usr/bin/python3",
                [script, kind, "\(seed)", "200", "160", "12", "7", file.path(percentEncoded: false)]
            ).run()
            return file
        }
        let first = try drawn(seed: 1, "first.gif")
        #expect(try Data(contentsOf: first) == Data(contentsOf: drawn(seed: 1, "again.gif")))
        #expect(try Data(contentsOf: first) != Data(contentsOf: drawn(seed: 2, "other.gif")))
        let info = try #require(Machine.answer(of: "gifsicle", ["--info", first.path(percentEncoded: false)]))
        #expect(info.contains("logical screen 200x160") && info.contains("delay 0.07s"))
        #expect(info.contains("12 images"))
        #expect(info.contains("disposal background") == (kind == "sticker"))
    }

    @Test func `a photograph has the bytes it is to have, and its orientation`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "corpus-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appending(path: "one.jpg")
        let scene = Scene(width: 800, height: 600, seed: 1, "photograph", 0)
        try CameraJPEG.write(scene, to: file, bytes: 150_000, orientation: .quarterTurn, scratch: directory)
        let bytes = try Data(contentsOf: file).count
        #expect(abs(bytes - 150_000) < 20_000)
        let header = try #require(
            Machine.answer(of: "vipsheader", ["-f", "orientation", file.path(percentEncoded: false)]))
        #expect(header.trimmingCharacters(in: .whitespacesAndNewlines) == "6")
    }

    @Test func `a named corpus gives each kind alone`() throws {
        let home = FileManager.default.temporaryDirectory.appending(
            path: "named-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: home) }
        let corpus = home.appending(path: "mine/deeper", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: corpus, withIntermediateDirectories: true)
        for name in ["a.JPG", "b.gif", "deeper.jpeg", "note.txt"] {
            try Data(name.utf8).write(to: corpus.appending(path: name))
        }
        let named = NamedCorpus(
            directory: home.appending(path: "mine"), place: home.appending(path: "links", directoryHint: .isDirectory))
        #expect(try named.sources(.photographs).files.count == 2)
        #expect(try named.sources(.animations).files.count == 1)
        let all = try named.sources(.all)
        #expect(all.names == ["deeper/a.JPG", "deeper/b.gif", "deeper/deeper.jpeg", "deeper/note.txt"])
        #expect(all.files.map { URL(filePath: $0).pathExtension } == ["jpg", "gif", "jpeg", "txt"])
        #expect(throws: CommandFailure.self) { try named.sources(.clips) }
    }
}
