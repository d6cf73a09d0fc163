import ArgumentParser
import SatchelCore
internal import Bytes
import CodecPool
import Foundation
import Ingest
import Stores
import SystemPackage

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what files really are, and what a profile would make of them.",
        discussion: """
            Each file is examined by the decoder, in its sandbox. Only headers are read, so damage further on is not found. \
            With --decode, the file is decoded as 'satchel add' would, and the results are thrown away.

            For each rendition, the command shows the type, size and duration, how a clip would be cut ('copy', 'smart' \
            or 'encode'), and the reasons. If a result depends on the pixels, it shows what is possible.

            The exit status is 1 if the profile would reject a file. With --format jsonl, there is one line per file. It \
            has the 'path' and either the 'findings' or the 'error'.

            Examples:

              satchel inspect holiday.jpg
              satchel inspect holiday.jpg --profile avatar --crop attention
              satchel inspect clip.mov --profile message --format json
              satchel inspect clip.mov --trim-start 2.5 --trim-duration 6
              satchel inspect --decode recording.ogg
              satchel inspect *.mov --format jsonl
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup(title: "Renditions") var profiles: ProfileOptions
    @OptionGroup(title: "Renditions") var requested: RequestOptions
    @OptionGroup(title: "Decoding") var codecs: DecoderOptions

    @Flag(help: "Decode the files too, to find damage that the headers don't show.")
    var decode = false

    @Option(help: "Output format; 'json' takes a single file.")
    var format = Format.table

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, jsonl
    }

    func validate() throws {
        if let url = files.first(where: { $0.scheme != nil && !FileManager.default.fileExists(atPath: $0) }) {
            throw ValidationError(
                "'\(url)' is a URL, and 'satchel inspect' takes files. Download the file, or prepare it with 'satchel add'."
            )
        }
        if format == .json && files.count > 1 {
            throw ValidationError(
                "--format json takes one file, not \(files.count). Use --format jsonl.")
        }
    }

    func run() async throws {
        let profile = try profiles.chosen()
        let pool = CodecPool(try codecs.poolConfiguration)
        try await startCodecs(pool, DecoderSet(declaredType: nil, name: files.first))
        var hasRefused = false
        try await ending(with: { await pool.shutdown() }) {
            for (index, file) in files.enumerated() {
                let result = await look(at: file, profile: profile, in: pool)
                if case .failure = result { hasRefused = true }
                try write(result, of: file, isFirst: index == 0, profile: profile)
            }
        }
        if hasRefused { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func look(
        at file: String, profile: Profile, in pool: CodecPool
    ) async -> Result<ProbeResult, AttachmentError> {
        do throws(AttachmentError) {
            var walk = try DirectoryWalk(Data(file.utf8))
            guard case .file(let path, _)? = walk.next(), path.count <= URL(filePath: file).lastPathComponent.utf8.count
            else { throw .invalidSource(reason: "it is not a regular file") }
            let source = try walk.root.open(path)
            let bytes = source.state.bytes
            do throws(AttachmentError) {
                let staging = decode ? MemoryStagingArea(scratch: "/tmp") : nil
                return .success(
                    try await inspect(
                        source.takeDescriptor(), named: file, profile: profile, request: requested.request,
                        limits: .commandLine, wantsForecasts: true, staging: staging, in: pool))
            } catch {
                throw error.ofFile(named: file, declared: nil, bytes: bytes)
            }
        } catch {
            return .failure(error)
        }
    }

    private func write(
        _ result: Result<ProbeResult, AttachmentError>, of file: String, isFirst: Bool, profile: Profile
    ) throws {
        let output = ResultOutput()
        switch (result, format) {
        case (.success(let probeResult), .json): try output.line(JSON.text(probeResult, pretty: true))
        case (.failure(let error), .json): try output.line(JSON.text(ErrorReport(error), pretty: true))
        case (.success(let probeResult), .jsonl):
            try output.line(JSON.text(Self.line(file, probeResult, nil)))
        case (.failure(let error), .jsonl):
            try output.line(JSON.text(Self.line(file, nil, ErrorReport(error))))
        case (.success(let probeResult), .table):
            if files.count > 1 { try output.line((isFirst ? "" : "\n") + Data(file.utf8).displayPath) }
            try output.line(lines(of: probeResult, profile: profile).joined(separator: "\n"))
        case (.failure(let error), .table):
            Console.printError("satchel: \(Data(file.utf8).displayPath): \(error.code.rawValue). \(error.message)")
        }
    }

    /// A line of `--format jsonl`.
    private static func line(_ file: String, _ findings: ProbeResult?, _ error: ErrorReport?) -> JSONFields {
        ["path": file, "findings": findings, "error": error]
    }

    private func lines(of probeResult: ProbeResult, profile: Profile) -> [String] {
        var facts: [(String, String)] = [
            ("kind", probeResult.kind.rawValue),
            ("type", "\(probeResult.type.rawValue) (libmagic: \(probeResult.sniffedType))"),
            ("found", probeResult.note),
        ]
        if let size = probeResult.size { facts.append(("size", "\(size.width)×\(size.height), upright")) }
        if let frames = probeResult.frames { facts.append(("frames", "\(frames)")) }
        if let duration = probeResult.duration { facts.append(("duration", Quantity.seconds(duration))) }
        let diagnosis = probeResult.diagnosis
        facts += diagnosis.tracks.map { ($0.kind.rawValue, $0.text) }
        if let pages = diagnosis.pages { facts.append(("pages", "\(pages)")) }
        if diagnosis.hasTransparency { facts.append(("alpha", "its pixels can be transparent")) }
        if let seconds = diagnosis.announced { facts.append(("announced", Quantity.seconds(seconds))) }
        facts += diagnosis.evidence.map { ("evidence", $0.text) }
        facts += diagnosis.omissions.map { ("left out", $0.text) }
        facts += diagnosis.losses.map { ("lost", $0.text) }
        facts += diagnosis.changes.map { ("changed", $0.text) }
        facts.append(
            (
                "checked",
                diagnosis.checked == .decoded
                    ? "The data was decoded." : "From the file's headers; the data was not decoded."
            ))
        facts.append(
            (
                "estimate",
                "\(Quantity.seconds(probeResult.estimate.cpuSeconds)) of CPU time, \(Quantity.bytes(probeResult.estimate.memory)) of memory"
            ))
        var lines = aligned(facts, at: 11) + ["", "Under the profile '\(profile.name)' it becomes:"]
        var renditions = probeResult.forecasts.map { ($0.role.rawValue, $0.summary) }
        if profile.keepsOriginal {
            renditions.append(("original", "unchanged, because the profile keeps the original"))
        }
        lines += aligned(renditions, at: 11)
        return lines
    }
}

extension Forecast {
    /// Such as `video/mp4, 10.0 s, copy: the cut is on a keyframe`. The reasons include the size.
    fileprivate var summary: String {
        let parts = [type.rawValue, duration.map { Quantity.seconds($0) }, method?.rawValue].compactMap(\.self)
        return "\(parts.joined(separator: ", ")): \(note)"
    }
}

enum RecordFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json
}
