import ArgumentParser
import SatchelCore
import Foundation
import Stores

/// What is taken from directories, and where its renditions and results go.
struct TreeOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Directories, or single files; of 'batch' also one s3://bucket/prefix.", valueName: "dir"),
        completion: .file())
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also put the renditions here, in a mirror of the sources' tree: a directory, or s3://bucket/prefix.",
            valueName: "dir"),
        completion: .directory)
    var output: String?

    @Option(
        help: ArgumentHelp("Also write every result as a line of JSON into this file.", valueName: "file"),
        completion: .file())
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Only files that match; several with commas, or repeated. '*' matches '/' too.", valueName: "pattern"))
    var include: [Several<String>] = []

    @Option(
        help: ArgumentHelp(
            "Not what matches, files and directories; several with commas, or repeated.", valueName: "pattern"))
    var exclude: [Several<String>] = []

    @Option(help: ArgumentHelp("Seconds that one file may take.", valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Show what is unchanged, too, and what is passed over, such as links; with --format table.")
    var all = false

    @Flag(name: [.long, .customShort("q")], help: "Show no results and no progress, and say only what went wrong.")
    var quiet = false

    @Flag(help: "Remove each source once its record is kept; only with a profile that keeps the original.")
    var move = false

    func validate() throws {
        if let url = sources.first(where: {
            $0.scheme != nil && BucketLocation($0) == nil && !FileManager.default.fileExists(atPath: $0)
        }) {
            throw ValidationError("'\(url)' is a URL: 'satchel add' fetches it, this command takes directories.")
        }
        if let timeout, !(timeout > 0 && timeout <= 604_800) {
            throw ValidationError("--timeout must be more than 0 and at most 604800 seconds, not \(timeout).")
        }
        if all && quiet { throw ValidationError("--all and --quiet exclude each other.") }
    }

    var timeLimit: Duration? { timeout.map { .seconds(fraction: $0) } }

    /// The profile, where these options go with it.
    func checked(_ profile: Profile) throws -> Profile {
        if move && !profile.keepsOriginal {
            throw CommandFailure(
                "--move removes sources, so it needs a profile that keeps the original; '\(profile.name)' doesn't, 'archive' does.",
                status: 2)
        }
        return profile
    }

    /// - Parameter paths: Of the sources that are files; nil where they are objects.
    func mirror(of paths: [Data]?, _ context: ProcessingContext) async throws -> Mirror? {
        guard let output else { return nil }
        let blobs = context.store.blobs
        let target: any MirrorTarget
        if let location = BucketLocation(output) {
            target = try await MirrorBucket(location, blobs: blobs, scratch: context.store.scratch)
        } else {
            target = try MirrorDirectory(
                root: URL(filePath: output, directoryHint: .isDirectory),
                sources: (paths ?? []).map { URL(filePath: String(decoding: $0, as: UTF8.self)) }, blobs: blobs)
        }
        return Mirror(target, ofKeys: paths == nil)
    }

    func writer(_ format: FormatOptions) throws -> ResultWriter {
        try ResultWriter(
            format.format, quiet ? .nothing : all ? .all : .changes, report: report.map { URL(filePath: $0) })
    }
}
