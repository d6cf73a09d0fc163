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

    @Test func `photographs have 2 to 12 megapixels, three shapes, and every fourth is portrait`() {
        let shots = (0..<Inputs.shots).map { Inputs.shot($0, seed: 9) }
        let pixels = shots.map { Double($0.width * $0.height) / 1e6 }
        #expect(pixels.allSatisfy { $0 > 1.9 && $0 < 12.5 })
        let shapes = Set(shots.map { (Double($0.width) / Double($0.height) * 20).rounded() / 20 })
        #expect(shapes == [1.35, 1.5, 1.8])
        #expect(shots.filter { $0.orientation.isPortrait }.count == 6)
        #expect(shots.allSatisfy { $0.density >= 0.25 && $0.density <= 0.4 })
        #expect((0..<Inputs.shots).map { Inputs.shot($0, seed: 9) } == shots)
        #expect((0..<Inputs.shots).map { Inputs.shot($0, seed: 8).density } != shots.map(\.density))
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
        #expect(try named.sources(.all).files.count == 4)
        #expect(throws: CommandFailure.self) { try named.sources(.clips) }
    }
}
