import ArgumentParser
import Attachments
import Foundation
import Intake

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what a file really is, and what would be made of it.",
        discussion: """
            The decoder is asked, in its confinement; nothing is decoded to pixels, made or stored.

              satchel inspect holiday.jpg
              satchel inspect clip.mov --profile message --format json
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
                    in: pool))
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
        facts.append(("makes", findings.planned.map(\.rawValue).joined(separator: ", ") + " under '\(profile.name)'"))
        facts.append(
            (
                "estimate",
                "\(Quantity.seconds(findings.estimate.cpuSeconds)) of CPU time, \(Quantity.bytes(findings.estimate.memory)) of memory"
            ))
        return facts.map { name, value in name + String(repeating: " ", count: 10 - name.count) + value }
    }
}

enum RecordFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json
}
