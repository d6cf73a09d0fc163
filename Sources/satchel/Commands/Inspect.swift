import ArgumentParser
import Attachments
import Foundation
import Intake

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what a file really is, and what would be made of it and why.",
        discussion: """
            The decoder is asked, in its confinement; nothing is decoded to pixels, made or stored. For each rendition \
            it tells the type, size and duration, how a clip would be cut ('copy', 'smart' or 'encode'), and the \
            reasons, in the words of the steps that 'satchel show' tells afterwards. What depends on the pixels is told \
            as it may turn out. A source that the profile would refuse is refused here as well, and the exit status is 1.

              satchel inspect holiday.jpg
              satchel inspect holiday.jpg --profile avatar --crop attention
              satchel inspect clip.mov --profile message --format json
              satchel inspect clip.mov --trim-start 2.5 --trim-duration 6
            """)

    @Argument(help: ArgumentHelp("The file.", valueName: "file"))
    var file: String

    @OptionGroup(title: "What is made") var profiles: ProfileOptions
    @OptionGroup(title: "What is made") var requested: RequestOptions
    @OptionGroup(title: "Codecs") var codecs: CodecOptions

    @Option(help: "How the findings are written to standard output.")
    var format = RecordFormat.table

    func run() async throws {
        let profile = try profiles.chosen()
        let pool = CodecPool(try codecs.poolConfiguration)
        try await startCodecs(pool)
        let result: Result<Findings, AttachmentError>
        do throws(AttachmentError) {
            var walk = try DirectoryWalk(Data(file.utf8))
            guard case .file(let path, _)? = walk.next(), path.count <= URL(filePath: file).lastPathComponent.utf8.count
            else { throw .invalidSource(reason: "it is no regular file") }
            let source = try walk.root.open(path)
            result = .success(
                try await inspect(
                    source.takeDescriptor(), profile: profile, request: requested.request, limits: .commandLine,
                    wantsForecasts: true, in: pool))
        } catch {
            result = .failure(error)
        }
        await pool.shutdown()
        switch (result, format) {
        case (.success(let findings), .json): print(try JSON.text(findings, pretty: true))
        case (.success(let findings), .table): print(lines(of: findings, profile: profile).joined(separator: "\n"))
        case (.failure(let error), .json):
            print(try JSON.text(ErrorReport(error), pretty: true))
            throw ExitCode(1)
        case (.failure(let error), .table): throw CommandFailure("\(file): \(error.code.rawValue). \(error.message)")
        }
    }

    private func lines(of findings: Findings, profile: Profile) -> [String] {
        var facts: [(String, String)] = [
            ("kind", findings.kind.rawValue),
            ("type", "\(findings.type.rawValue) (libmagic says \(findings.sniffedType))"),
            ("found", findings.note),
        ]
        if let size = findings.size { facts.append(("size", "\(size.width)×\(size.height), upright")) }
        if let frames = findings.frames { facts.append(("frames", "\(frames)")) }
        if let duration = findings.duration { facts.append(("duration", Quantity.seconds(duration))) }
        facts.append(
            (
                "estimate",
                "\(Quantity.seconds(findings.estimate.cpuSeconds)) of CPU time, \(Quantity.bytes(findings.estimate.memory)) of memory"
            ))
        var lines = aligned(facts) + ["", "Under the profile '\(profile.name)' it becomes:"]
        var renditions = findings.forecasts.map { ($0.role.rawValue, $0.summary) }
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
