import ArgumentParser
import SatchelCore
import Foundation
import Stores

/// Options for the files to process and for where their renditions and results go.
struct TreeOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Directories or files.", valueName: "dir"),
        completion: .file())
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also write the renditions to this directory or s3://bucket/prefix, in the sources' directory structure.",
            valueName: "dir"),
        completion: .directory)
    var output: String?

    @Option(
        help: ArgumentHelp("Also write all results to this file, as JSON lines.", valueName: "file"),
        completion: .file())
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Process only matching files (comma-separated or repeated). '*' also matches '/'.", valueName: "pattern"))
    var include: [Several<String>] = []

    @Option(
        help: ArgumentHelp(
            "Skip matching files and directories (comma-separated or repeated).", valueName: "pattern"))
    var exclude: [Several<String>] = []

    @Option(help: ArgumentHelp("Maximum time for one file, in seconds.", valueName: "seconds"))
    var timeout: Double?

    @Flag(
        help: "In the table, also show unchanged files, and files that Satchel does not open, such as symbolic links.")
    var all = false

    @Flag(name: [.long, .customShort("q")], help: "Show only problems: no results and no progress.")
    var quiet = false

    @Flag(
        help:
            "Delete each source file after a copy of it is in the store. Needs a profile that keeps originals, such as 'archive'."
    )
    var move = false

    func validate() throws {
        if let url = sources.first(where: {
            $0.scheme != nil && BucketLocation($0) == nil && !FileManager.default.fileExists(atPath: $0)
        }) {
            throw ValidationError(
                "'\(url)' is a URL, and this command takes directories and files. Use 'satchel add' to fetch it.")
        }
        if let timeout, !(timeout > 0 && timeout <= 604_800) {
            throw ValidationError("--timeout must be more than 0 and at most 604800 seconds, not \(timeout).")
        }
        if all && quiet { throw ValidationError("--all and --quiet cannot be combined.") }
    }

    var timeLimit: Duration? { timeout.map { .seconds(fraction: $0) } }

    /// Returns the profile if it fits these options.
    func checked(_ profile: Profile) throws -> Profile {
        if move && !profile.keepsOriginal {
            throw CommandFailure(
                "--move deletes sources, so it needs a profile that keeps originals, such as 'archive'. '\(profile.name)' does not keep them.",
                status: .usage)
        }
        return profile
    }

    /// - Parameter paths: The sources if they are files; `nil` if they are objects.
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
