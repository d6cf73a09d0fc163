import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

/// Every sample file through the real program once; the suite's tests look at what came out.
private let processed = Result { try ProcessedSamples() }

private struct ProcessedSamples: Sendable {
    let manifest: MediaManifest
    let lines: [String: Line]
    let output: URL
    let home: URL

    struct Line: Decodable, Sendable {
        struct File: Decodable, Sendable {
            var mediaType: MediaType
            var bytes: Int64
            var width: Int?
            var height: Int?
            var duration: Double?
            var file: String
        }
        var path: String
        var state: String
        var kind: MediaKind?
        var fidelity: Fidelity?
        var attachmentId: String?
        var source: SourceFacts
        var renditions: [String: File]
        var diagnosis: Diagnosis?
        var error: ErrorReport?

        struct SourceFacts: Decodable, Sendable {
            var mediaType: String?
            var width: Int?
            var height: Int?
            var duration: Double?
        }
    }

    init() throws {
        manifest = try MediaManifest.load()
        home = FileManager.default.temporaryDirectory.appending(path: "satchel-samples-\(UUID().uuidString)")
        output = home.appending(path: "out")
        let satchel = Program(
            try Repository.product("satchel"),
            environment: [
                "SATCHEL_STORE": home.appending(path: "store").path(percentEncoded: false),
                "SATCHEL_ACCESS_KEYS": home.appending(path: "access.keys").path(percentEncoded: false),
            ])
        let list = manifest.files.map(\.path).joined(separator: "\n")
        let result = try satchel.run([
            "batch", Repository.media.path(percentEncoded: false), "--output", output.path(percentEncoded: false),
            "--format", "jsonl",
        ])
        var lines: [String: Line] = [:]
        for text in result.outputText.split(separator: "\n") {
            let line = try JSON.decode(Line.self, from: Data(text.utf8))
            lines[line.path] = line
        }
        self.lines = lines
        #expect(!list.isEmpty && result.status == 1, "\(result.errorText)")
    }

    /// The renditions of what was delivered.
    var renditions: [(line: Line, role: String, file: Line.File, url: URL)] {
        lines.values.sorted { $0.path < $1.path }.flatMap { line in
            line.renditions.sorted { $0.key < $1.key }.map {
                (line, $0.key, $0.value, output.appending(path: $0.value.file))
            }
        }
    }
}

@Suite struct SampleTests {
    @Test func `every sample comes out as the manifest expects`() throws {
        let samples = try processed.get()
        for sample in samples.manifest.files {
            let line = try #require(samples.lines[sample.path], "\(sample.path) has no result")
            let expect = sample.expect
            #expect(line.state == expect.state, "\(sample.path): \(line.error?.message ?? "delivered")")
            if let code = expect.code { #expect(line.error?.code == code, "\(sample.path)") }
            guard expect.state == "delivered" else { continue }
            #expect(line.fidelity == expect.fidelity ?? .full, "\(sample.path)")
            if let kind = expect.kind { #expect(line.kind == kind, "\(sample.path)") }
            if let type = expect.type { #expect(line.source.mediaType == type.rawValue, "\(sample.path)") }
            if let width = expect.width { #expect(line.source.width == width, "\(sample.path)") }
            if let height = expect.height { #expect(line.source.height == height, "\(sample.path)") }
            if let duration = expect.duration, let found = line.source.duration {
                #expect(abs(found - duration) < max(0.1, duration * 0.05), "\(sample.path): \(found), not \(duration)")
            }
        }
    }

    @Test func `inspect with decoding finds in every troubled file what a batch finds`() throws {
        struct Inspected: Decodable {
            var path: String
            var findings: ProbeResult?
            var error: ErrorReport?
        }
        let samples = try processed.get()
        let paths = samples.manifest.files.map(\.path).filter { $0.hasPrefix("trouble/") }
        let media = Repository.media.path(percentEncoded: false)
        let told = try Program(try Repository.product("satchel")).run(
            ["inspect", "--decode", "--format", "jsonl"] + paths.map { "\(media)/\($0)" })
        let inspected = try told.outputText.split(separator: "\n").map {
            try JSON.decode(Inspected.self, from: Data($0.utf8))
        }
        #expect(inspected.count == paths.count, "\(told.errorText)")
        for (path, found) in zip(paths, inspected) {
            let line = try #require(samples.lines[path])
            #expect(found.error?.message == line.error?.message, "\(path)")
            guard let diagnosis = line.diagnosis, line.error == nil else { continue }
            #expect(found.findings?.diagnosis == diagnosis, "\(path)")
        }
    }

    @Test func `an independent decoder opens every rendition, and finds the size that the record says`() throws {
        let renditions = try processed.get().renditions
        #expect(renditions.count > 150)
        for (line, role, file, url) in renditions {
            let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int64
            #expect(size == file.bytes, "\(line.path) \(role)")
        }
        let directory = try TemporaryDirectory()
        // Some at once: to start takes longer than to decode.
        for start in stride(from: 0, to: renditions.count, by: 16) {
            let some = Array(renditions[start..<min(start + 16, renditions.count)])
            let names = some.map { "\($0.line.path) \($0.role)" }
            // Each once to its end, and its first picture as a player shows it: turned by its rotation, its pixels made square.
            let outputs = some.enumerated().flatMap { index, rendition in
                let whole = ["-map", "\(index):v?", "-map", "\(index):a?", "-f", "null", "-"]
                let first = [
                    "-map", "\(index):v:0", "-frames:v", "1", "-vf", "scale=iw*sar:ih,setsar=1", "-f", "image2",
                    "-update",
                    "1", "-c:v", "ppm", directory.url.appending(path: "\(index).ppm").path,
                ]
                return rendition.file.width == nil ? whole : whole + first
            }
            let decoded = try Program.tool("ffmpeg").run(
                ["-v", "error", "-xerror", "-y"] + some.flatMap { ["-i", $0.url.path] } + outputs)
            #expect(decoded.status == 0 && decoded.errors.isEmpty, "\(decoded.errorText) of one of \(names)")
            for (index, rendition) in some.enumerated() {
                guard let width = rendition.file.width, let height = rendition.file.height else { continue }
                let picture = try Data(contentsOf: directory.url.appending(path: "\(index).ppm"))
                let header = String(decoding: picture.prefix(20), as: UTF8.self).split(separator: "\n").dropFirst()
                    .first
                #expect(header == "\(width) \(height)", "\(names[index])")
                try FileManager.default.removeItem(at: directory.url.appending(path: "\(index).ppm"))
            }
        }
    }

    @Test func `nothing is over its cap, and a notification gets only what iOS takes`() throws {
        let samples = try processed.get()
        let accepted: Set<MediaType> = [.jpeg, .png, .gif, .mp4, .m4a, .mp3, .wav, .aiff]
        for (line, role, file, _) in samples.renditions {
            let kind = try #require(line.kind)
            let cap = try #require(Profile.notification.cap(of: RenditionRole(rawValue: role) ?? .main, for: kind))
            #expect(file.bytes <= cap, "\(line.path) \(role)")
            #expect(accepted.contains(file.mediaType), "\(line.path) \(role)")
            if role == "main", kind == .video { #expect(file.duration ?? 0 <= 10.1, "\(line.path)") }
            if role == "main", kind == .audio { #expect(file.duration ?? 0 <= 30.1, "\(line.path)") }
            if role == "main", kind == .image {
                #expect(max(file.width ?? 0, file.height ?? 0) <= 1038, "\(line.path)")
            }
        }
    }

    @Test func `no place, device or person of a source is in any rendition`() throws {
        let samples = try processed.get()
        let judged = try Program.tool("exiftool").run(
            [
                "-r", "-ee", "-G1", "-json", "-GPS:all", "-XMP:all", "-IPTC:all", "-EXIF:all", "-QuickTime:Title",
                "-QuickTime:Artist", "-Keys:all", "-UserData:all", "-ItemList:all", "-ID3:all", "-PNG:Comment",
                "-GIF:Comment",
                samples.output.path,
            ])
        let files = try #require(try JSONSerialization.jsonObject(with: judged.output) as? [[String: Any]])
        #expect(files.count == samples.renditions.count)
        for file in files {
            let tags = file.keys.filter { $0 != "SourceFile" }
            #expect(tags.isEmpty, "\(file["SourceFile"] ?? ""): \(tags)")
        }
        for (line, role, _, url) in samples.renditions {
            let data = try Data(contentsOf: url)
            #expect(
                data.range(of: Data("CANARY".utf8)) == nil && data.range(of: Data("canary".utf8)) == nil,
                "\(line.path) \(role)")
        }
    }

    @Test func `every step of every sample says what was done and why, in one style`() async throws {
        let samples = try processed.get()
        let store = try Store.open(
            at: samples.home.appending(path: "store").path, keys: samples.home.appending(path: "access.keys").path)
        var looked = 0
        for line in samples.lines.values.sorted(by: { $0.path < $1.path }) {
            guard let id = line.attachmentId else { continue }
            let record = try #require(
                try await store.records.attachment(AttachmentID(rawValue: id), of: .local), "\(line.path)")
            for step in record.steps {
                let note = try #require(step.note, "\(line.path) \(step.name)")
                let which = "\(line.path) \(step.name): \(note)"
                #expect((1...200).contains(note.count), "\(which)")
                #expect(!note.hasSuffix(".") && !note.hasSuffix(";") && !note.hasSuffix(", "), "\(which)")
                // A figure has no separators, no unit but bytes, and no more decimals than are of use.
                for flaw in ["nil", "Optional", "  ", ";;", " ;", "because ;", "kB", " MB", "\n"] {
                    #expect(!note.contains(flaw), "\(which)")
                }
                #expect(note.firstMatch(of: /\d\.\d{4,}|\d,\d{3}/) == nil, "\(which)")
                guard RenditionRole(rawValue: step.name) != nil else { continue }
                looked += 1
                #expect(Self.reasons.contains(where: note.contains), "\(which)")
            }
            let names = record.steps.map(\.name)
            let losses = record.steps.filter { $0.name == "loss" }.compactMap(\.note)
            #expect(names.contains("fidelity") == (record.fidelity != nil && record.fidelity != .full), "\(line.path)")
            #expect(losses.isEmpty || record.fidelity != .full, "\(line.path): \(losses)")
            for loss in losses {
                // What, and why.
                #expect(loss.firstMatch(of: /^.+: .+$/) != nil, "\(line.path): \(loss)")
            }
            #expect(names.prefix(2) == ["wait", "identify"] && names.last == "commit", "\(line.path): \(names)")
            #expect(Set(record.renditions.keys.map(\.rawValue)).isSubset(of: names), "\(line.path)")
        }
        #expect(looked > 150)
    }

    @Test func `a record says what was kept, which is no larger than it was, and else why not`() async throws {
        let samples = try processed.get()
        let store = try Store.open(
            at: samples.home.appending(path: "store").path, keys: samples.home.appending(path: "access.keys").path)
        var kept: [MediaType: Int] = [:]
        for (line, role, file, _) in samples.renditions where role == "main" {
            guard line.kind == .image || line.kind == .animation, let id = line.attachmentId else { continue }
            let record = try #require(
                try await store.records.attachment(AttachmentID(rawValue: id), of: .local), "\(line.path)")
            let note = try #require(record.steps.first { $0.name == role }?.note, "\(line.path)")
            guard note.hasPrefix("kept: ") else {
                // Where it became smaller or a part of it was left out, its shape says it.
                let words = ["; not kept: ", " because the longest side may be ", "cropped"]
                #expect(words.contains(where: note.contains), "\(line.path): \(note)")
                continue
            }
            kept[file.mediaType, default: 0] += 1
            #expect(line.source.mediaType == file.mediaType.rawValue, "\(line.path)")
            let source = Repository.media.appending(path: line.path)
            let bytes = Int64(try source.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
            #expect(file.bytes <= bytes + bytes / 33 + 64, "\(line.path): \(file.bytes)")
        }
        for type in [MediaType.jpeg, .png, .gif] { #expect(kept[type, default: 0] > 0, "\(type)") }
        #expect(kept.count == 3)
    }

    /// One of these is in the note of a rendition: why it is as it is.
    private static let reasons = [
        "because", "as it is", "as its profile", "square by its profile", "copied", "on a keyframe",
        "under the aim of ", "under the cap of ",
    ]

    @Test func `a file under Media that is no sample is skipped`() throws {
        let samples = try processed.get()
        let known = Set(samples.manifest.files.map(\.path))
        for line in samples.lines.values where !known.contains(line.path) {
            #expect(line.state == "skipped", "\(line.path)")
        }
    }
}
