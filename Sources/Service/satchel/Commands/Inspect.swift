import ArgumentParser
import SatchelCore
import CodecPool
import Foundation
import Ingest

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Tell what files really are, and what would be made of them and why.",
        discussion: """
            The decoder is asked, in its confinement; nothing is decoded to pixels, made or stored. For each rendition \
            it tells the type, size and duration, how a clip would be cut ('copy', 'smart' or 'encode'), and the \
            reasons, in the words of the steps that 'satchel show' tells afterwards. What depends on the pixels is told \
            as it may turn out. A source that the profile would refuse is refused here as well, and the exit status is 1.

            Of several files, all are looked at, one after the other, in one start: with '--format jsonl' there is a line \
            for each, with its 'path' and its 'findings' or the 'error' for which it is refused.

              satchel inspect holiday.jpg
              satchel inspect holiday.jpg --profile avatar --crop attention
              satchel inspect clip.mov --profile message --format json
              satchel inspect clip.mov --trim-start 2.5 --trim-duration 6
              satchel inspect *.mov --format jsonl
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup(title: "What is made") var profiles: ProfileOptions
    @OptionGroup(title: "What is made") var requested: RequestOptions
    @OptionGroup(title: "Codecs") var codecs: CodecOptions

    @Option(help: "How the findings are written to standard output; 'json' is one document, of one file.")
    var format = Format.table

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, jsonl
    }

    func validate() throws {
        if let url = files.first(where: { $0.scheme != nil && !FileManager.default.fileExists(atPath: $0) }) {
            throw ValidationError("'\(url)' is a URL: 'satchel add' fetches it, 'satchel inspect' looks at files.")
        }
        if format == .json && files.count > 1 {
            throw ValidationError(
                "--format json is of one file, not of \(files.count); --format jsonl has a line for each.")
        }
    }

    func run() async throws {
        let profile = try profiles.chosen()
        let pool = CodecPool(try codecs.poolConfiguration)
        try await startCodecs(pool, DecoderSet(declaredType: nil, name: files.first))
        var hasRefused = false
        do {
            for (index, file) in files.enumerated() {
                let result = await look(at: file, profile: profile, in: pool)
                if case .failure = result { hasRefused = true }
                try write(result, of: file, isFirst: index == 0, profile: profile)
            }
        } catch {
            await pool.shutdown()
            throw error
        }
        await pool.shutdown()
        if hasRefused { throw ExitCode(1) }
    }

    private func look(
        at file: String, profile: Profile, in pool: CodecPool
    ) async -> Result<ProbeResult, AttachmentError> {
        do throws(AttachmentError) {
            var walk = try DirectoryWalk(Data(file.utf8))
            guard case .file(let path, _)? = walk.next(), path.count <= URL(filePath: file).lastPathComponent.utf8.count
            else { throw .invalidSource(reason: "it is no regular file") }
            let source = try walk.root.open(path)
            return .success(
                try await inspect(
                    source.takeDescriptor(), named: file, profile: profile, request: requested.request,
                    limits: .commandLine, wantsForecasts: true, in: pool))
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
            try output.line(JSON.text(Line(path: file, findings: probeResult, error: nil)))
        case (.failure(let error), .jsonl):
            try output.line(JSON.text(Line(path: file, findings: nil, error: ErrorReport(error))))
        case (.success(let probeResult), .table):
            if files.count > 1 { try output.line((isFirst ? "" : "\n") + Data(file.utf8).displayPath) }
            try output.line(lines(of: probeResult, profile: profile).joined(separator: "\n"))
        case (.failure(let error), .table):
            Console.printError("satchel: \(Data(file.utf8).displayPath): \(error.code.rawValue). \(error.message)")
        }
    }

    /// A line of `--format jsonl`.
    private struct Line: Encodable {
        var path: String
        @Nullable var findings: ProbeResult?
        @Nullable var error: ErrorReport?
    }

    private func lines(of probeResult: ProbeResult, profile: Profile) -> [String] {
        var facts: [(String, String)] = [
            ("kind", probeResult.kind.rawValue),
            ("type", "\(probeResult.type.rawValue) (libmagic says \(probeResult.sniffedType))"),
            ("found", probeResult.note),
        ]
        if let size = probeResult.size { facts.append(("size", "\(size.width)×\(size.height), upright")) }
        if let frames = probeResult.frames { facts.append(("frames", "\(frames)")) }
        if let duration = probeResult.duration { facts.append(("duration", Quantity.seconds(duration))) }
        facts.append(
            (
                "estimate",
                "\(Quantity.seconds(probeResult.estimate.cpuSeconds)) of CPU time, \(Quantity.bytes(probeResult.estimate.memory)) of memory"
            ))
        var lines = aligned(facts) + ["", "Under the profile '\(profile.name)' it becomes:"]
        var renditions = probeResult.forecasts.map { ($0.role.rawValue, $0.summary) }
        if profile.keepsOriginal {
            renditions.append(("original", "as it came, because the profile keeps its sources"))
        }
        lines += aligned(renditions)
        return lines
    }

    private func aligned(_ facts: [(String, String)]) -> [String] {
        facts.map { name, value in name + String(repeating: " ", count: max(1, 11 - name.count)) + value }
    }
}

extension Forecast {
    /// `video/mp4, 10.0 s, copy: the cut is on a keyframe`; the size is among the reasons.
    fileprivate var summary: String {
        let parts = [type.rawValue, duration.map { Quantity.seconds($0) }, method?.rawValue].compactMap(\.self)
        return "\(parts.joined(separator: ", ")): \(note)"
    }
}

enum RecordFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json
}
