import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What edit lists say is shown is what is delivered, wholly and in parts.
@Suite struct EditListTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    typealias Edit = EditLists.Edit

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// Of the pictures and of the sound; nil for what FFmpeg wrote.
        var pictures: [Edit]?
        var audio: [Edit]?
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "pictures later", pictures: [.empty(1), .of(0, 3)], audio: nil),
        Case(name: "sound later", pictures: nil, audio: [.empty(1), .of(0, 3)]),
        Case(name: "both later", pictures: [.empty(2), .of(0, 3)], audio: [.empty(2), .of(0, 3)]),
        Case(name: "both from within a group", pictures: [.of(0.6, 3)], audio: [.of(0.6, 3)]),
        Case(name: "both from a moment between pictures", pictures: [.of(0.633, 2.9)], audio: [.of(0.633, 2.9)]),
        Case(name: "pictures from within a group", pictures: [.of(1.4, 3)], audio: nil),
        Case(name: "sound from within", pictures: nil, audio: [.of(0.5, 3)]),
        Case(name: "a part of one group", pictures: [.of(0.4, 0.8)], audio: [.of(0.4, 0.8)]),
        Case(
            name: "the middle left out", pictures: [.of(0, 0.8), .of(1.6, 2.8)], audio: [.of(0, 0.8), .of(1.6, 2.8)]),
        Case(name: "twice the same", pictures: [.of(0, 1), .of(0, 1)], audio: [.of(0, 1), .of(0, 1)]),
        Case(name: "the end first", pictures: [.of(2, 3), .of(0, 1)], audio: [.of(2, 3), .of(0, 1)]),
        Case(
            name: "the end first, within groups", pictures: [.of(2.2, 3), .of(0.4, 1)],
            audio: [.of(2.2, 3), .of(0.4, 1)]),
        Case(
            name: "a pause", pictures: [.of(0, 1), .empty(0.5), .of(1, 2)], audio: [.of(0, 1), .empty(0.5), .of(1, 2)]),
        Case(name: "longer than there is", pictures: [.of(1, 30)], audio: [.of(1, 30)]),
    ]

    static let codings = [
        ("long.mp4", "-c:v libx264 -preset veryfast -crf 16 -g 250 -bf 2 -c:a aac"),
        ("groups.mov", "-c:v libx264 -preset veryfast -crf 16 -sc_threshold 0 -g 25 -bf 3 -c:a aac"),
        (
            "negative.mp4",
            "-c:v libx264 -preset veryfast -crf 16 -sc_threshold 0 -g 25 -bf 2 -c:a aac -movflags negative_cts_offsets"
        ),
        (
            "open.mov",
            "-c:v libx265 -preset ultrafast -crf 16 -x265-params log-level=0:keyint=25:open-gop=1 -tag:v hvc1 -c:a aac"
        ),
        ("silent.mp4", "-c:v libx264 -preset veryfast -crf 16 -sc_threshold 0 -g 25 -bf 2 -an"),
        ("silent4.mp4", "-c:v mpeg4 -q:v 2 -g 25 -an"),
    ]

    private static func words(_ arguments: String) -> [String] {
        ["-vf", "scale=64:48", "-pix_fmt", "yuv420p", "-t", "3"] + arguments.split(separator: " ").map(String.init)
    }

    /// At once; one by one where that fails.
    private static let made: Void = { try? Tool.prepare(CountedClips.inputs, codings.map { (words($0.1), $0.0) }) }()

    @Test(arguments: codings)
    func `what an edit list shows is delivered, as it is forecast, wholly and in parts`(
        name: String, arguments: String
    ) throws {
        let plain = directory.url.appending(path: name)
        _ = Self.made
        try Tool.ffmpeg(CountedClips.inputs + Self.words(arguments), to: plain)
        let hasAudio = !arguments.hasSuffix("-an")
        let sniffed = try Clips.sniff(plain)
        var problems: [String] = []
        var count = 0
        let place = Self.codings.firstIndex { $0.0 == name } ?? 0
        let cases = Sweep.of(Self.cases.enumerated(), every: 2, from: place).filter {
            hasAudio || $0.element.pictures != nil
        }
        let files = try cases.map { index, edited in
            let file = directory.url.appending(path: "\(index)-\(name)")
            try EditLists.write(hasAudio ? [edited.pictures, edited.audio] : [edited.pictures], into: plain, as: file)
            return file
        }
        // By one process, unless it complains of one.
        let sources = try? CountedClips.shown(files, hasAudio: hasAudio, in: directory.url)
        var parts: [(words: String, judge: PartJudge, file: URL, made: RenderedClip)] = []
        for (place, (index, edited)) in cases.enumerated() {
            let file = files[place]
            let source: CountedClips.Shown
            do {
                source = try sources?[place] ?? CountedClips.shown(file, hasAudio: hasAudio, in: directory.url)
            } catch {
                // Of leading pictures FFmpeg's own times may run backwards where one part follows another: no judge.
                guard name == "open.mov", (edited.pictures?.count ?? 0) > 1 else { throw error }
                continue
            }
            var trims: [TrimRequest?] = [nil]
            for start in [0.08, 0.32, 0.64, 0.88, 1.24] { trims.append(TrimRequest(start: start, duration: 0.4)) }
            for start in [0.32, 1.24] { trims.append(TrimRequest(start: start)) }
            trims = Sweep.of(trims, every: 4, from: index)
            for trim in trims {
                let words = "\(edited.name) \(trim.map { "\($0.start ?? 0) + \($0.duration ?? -1)" } ?? "whole")"
                var judge = PartJudge(
                    source: source, start: trim?.start ?? 0, duration: trim?.duration, origin: 0, tolerance: 1)
                guard judge.start < judge.length - 0.1, !judge.wanted.isEmpty else { continue }
                count += 1
                do {
                    let part = try CountedClips.part(file, trim, sniffed: sniffed)
                    let report = part.made.ending.trim
                    let note = part.made.report(.main)?.note ?? ""
                    let isCopied = note.hasPrefix("copied")
                    let method =
                        report?.method ?? (isCopied ? .copy : note.contains(" pictures copied, ") ? .smart : .encode)
                    let told = try Self.forecast(of: file, trim, sniffed: sniffed)
                    if told != method { problems.append("\(words): \(String(describing: told)) was forecast: \(note)") }
                    if let start = trim?.start { judge.shift = (report?.start ?? start) - start }
                    parts.append((words, judge, part.file, part.made))
                } catch {
                    problems.append("\(words): \(error)")
                }
            }
        }
        let sounding = parts.filter { hasAudio && $0.judge.hasAudio }.map(\.file)
        let heard = try CountedClips.shown(sounding, hasAudio: true, in: directory.url)
        let silent = parts.map(\.file).filter { !sounding.contains($0) }
        let seen = try CountedClips.shown(silent, hasAudio: false, in: directory.url)
        let shown = Dictionary(uniqueKeysWithValues: zip(sounding + silent, heard + seen))
        for part in parts {
            let found = shown[part.file].map { part.judge.problems(of: $0) } ?? []
            if !found.isEmpty {
                let note = part.made.report(.main)?.note.prefix(30) ?? ""
                problems.append("\(part.words): \(found.joined(separator: ", ")) (\(note))")
            }
        }
        #expect(problems.isEmpty, "\(problems.count) of \(count): \n\(problems.prefix(60).joined(separator: "\n"))")
    }

    private static func forecast(of file: URL, _ trim: TrimRequest?, sniffed: String) throws -> TrimMethod? {
        let order = WorkOrder(
            profile: CountedClips.profile, request: RenditionRequest(trim: trim), wantsForecasts: true)
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        return try withDescriptor(file) { descriptor in
            guard let clip = try Clip.open(descriptor, sniffed: sniffed, order: order) else { return nil }
            return clip.probeResult.forecasts.first { $0.role == .main }?.method
        }
    }

    @Test(arguments: [0, 0.5, 2], ["pictures", "sound"])
    func `an edit list that asks for another speed is named, as nothing that is supported`(rate: Double, track: String)
        throws
    {
        let plain = directory.url.appending(path: "plain.mp4")
        try Tool.ffmpeg(
            CountedClips.inputs + ["-t", "1", "-c:v", "libx264", "-c:a", "aac"], to: plain)
        let file = directory.url.appending(path: "edited.mp4")
        let edits = [Edit.of(0, 0.4), Edit.of(0.4, 0.8, rate: rate)]
        try EditLists.write(track == "pictures" ? [edits, nil] : [nil, edits], into: plain, as: file)
        let refusal = try Rendered.refusal(of: file, in: directory.url)
        guard case .unsupportedFeature(let reason, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(reason.contains(rate == 0 ? "still" : "\(rounded(rate)) times"))
    }

    @Test func `a list of edits that goes on for ever, or nowhere, is read as far as it goes`() {
        // moov, trak, tkhd of track 1, edts, elst that claims more edits than it holds.
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            [0, 0, UInt8((content.count + 8) >> 8), UInt8(truncatingIfNeeded: content.count + 8)] + Array(name.utf8)
                + content
        }
        func edits(_ file: [UInt8]) -> [EditList.Edit] {
            EditList.edits(of: [1], bytes: Int64(file.count)) { count, offset in
                offset >= 0 && offset + Int64(count) <= Int64(file.count)
                    ? Array(file[Int(offset)..<Int(offset) + count]) : nil
            }.flatMap { $0 }
        }
        let header = box("tkhd", [UInt8](repeating: 0, count: 12) + [0, 0, 0, 1] + [UInt8](repeating: 0, count: 60))
        func movie(_ count: [UInt8], _ edits: [UInt8]) -> [UInt8] {
            box("moov", box("trak", header + box("edts", box("elst", [0, 0, 0, 0] + count + edits))))
        }
        let usual: [UInt8] = [0, 0, 0, 9, 0, 0, 0, 0, 0, 1, 0, 0]
        let double: [UInt8] = [0, 0, 0, 9, 0, 0, 0, 0, 0, 2, 0, 0]
        let empty: [UInt8] = [0, 0, 0, 9, 255, 255, 255, 255, 0, 2, 0, 0]
        let whole = movie([0, 0, 0, 2], usual + double)
        let plain = EditList.Edit(isEmpty: false, rate: 1)
        #expect(edits(whole) == [plain, EditList.Edit(isEmpty: false, rate: 2)])
        #expect(edits(movie([0, 0, 0, 2], empty + usual)).map(\.isEmpty) == [true, false])
        #expect(edits(movie([255, 255, 255, 255], usual)) == [plain])
        #expect(edits(movie([0, 0, 0, 0], double)).isEmpty)
        for length in 0..<whole.count { #expect(edits(Array(whole[..<length])).isEmpty) }
        for index in whole.indices {
            var changed = whole
            for value in [0, 1, 255] as [UInt8] {
                changed[index] = value
                #expect(edits(changed).count <= 2)
            }
        }
    }
}
