import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Jobs
import Stores
import Synchronization

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Prepare files or URLs as one job.",
        discussion: """
            A job takes up to 10 sources. Each becomes an attachment with its own identifier and record.

            For an encrypted file, give its aesgcm URL (XEP-0454), which has the key after '#'. Satchel fetches the file \
            by https and does not keep the key. Quote the URL. While the command runs, other users of this \
            machine can see the URL in the list of processes.

            Examples:

              satchel add photo.heic
              satchel add https://example.com/clip.mov --trim-start 2.5 --trim-duration 10
              satchel add clip.mov --thumbnail-time 42 --trim-around-thumbnail
              satchel add front.jpg back.jpg --mode strict --deadline 10
            """)

    @Argument(help: ArgumentHelp("Files, or http, https or aesgcm URLs.", valueName: "file|url"), completion: .file())
    var sources: [String]

    @OptionGroup(title: "Renditions") var profiles: ProfileOptions
    @OptionGroup(title: "Renditions") var requested: RequestOptions
    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Decoding") var codecs: CodecOptions
    @OptionGroup(title: "Fetching") var fetch: FetchOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(
        help: ArgumentHelp(
            "Expected type of the sources: a media type, UTI or extension.", valueName: "type"))
    var typeHint: String?

    @Option(
        help: ArgumentHelp(
            "Identifiers of the attachments, in order (comma-separated or repeated). Default: a UUID for each.",
            valueName: "id"))
    var identifier: [Several<String>] = []

    private var identifiers: [String] { identifier.all() }

    @Option(help: "If a source fails, 'lenient' delivers the others and 'strict' delivers nothing.")
    var mode = JobMode.lenient

    @Option(
        help: ArgumentHelp(
            "Encrypt the renditions, each with its own key. 'satchel get' decrypts them.",
            valueName: "scheme"),
        completion: .list(EncryptionScheme.ofRenditions.map(\.rawValue)))
    var encrypt: EncryptionScheme?

    @Option(
        help: ArgumentHelp(
            "Seconds after which the best attempt so far is delivered. Default: the profile's.", valueName: "seconds"))
    var deadline: Double?

    func validate() throws {
        guard (1...JobSubmission.maximumAttachments).contains(sources.count) else {
            throw ValidationError(
                "A job takes 1 to \(JobSubmission.maximumAttachments) sources, not \(sources.count). Use 'satchel batch' for more."
            )
        }
        if identifiers.count > sources.count { throw ValidationError("There are more identifiers than sources.") }
        if Set(identifiers).count != identifiers.count { throw ValidationError("--identifier values must differ.") }
        if let encrypt, !EncryptionScheme.ofRenditions.contains(encrypt) {
            throw ValidationError("--encrypt must be 'matrix' or 'aesgcm', not '\(encrypt.rawValue)'.")
        }
        if let deadline, !(0.05...86_400).contains(deadline) {
            throw ValidationError("--deadline must be between 0.05 and 86400 seconds, not \(deadline).")
        }
    }

    func run() async throws {
        let profile = try profiles.chosen()
        let attachments = try sources.enumerated().map { index, source in
            try submission(of: source, identifier: index < identifiers.count ? identifiers[index] : "")
        }
        let context = try await ProcessingContext.open(
            store, codecs, fetch: fetch, expecting: DecoderSet(declaredType: nil, name: sources.first))
        var writer = try ResultWriter(format.format)
        var isComplete = true
        try await context.closing {
            let job = try await finished(
                try job(of: attachments, profile, run: RunID.generate()), in: context)
            for (source, attachment) in zip(sources, job.attachments) {
                // The fragment of an encrypted file's URL is its key, so it must not appear in results.
                let shown = source.scheme == AESGCMURL.scheme ? String(source.prefix { $0 != "#" }) : source
                var line = ResultLine(
                    path: Data(shown.utf8), record: attachment, attempt: job.attempt, isUnchanged: false)
                line.error?.speakToCommandLine()
                try writer.write(line)
                for warning in requested.warnings(about: attachment, under: profile) {
                    Console.printError("\(line.shownPath): warning: \(warning)")
                }
                if let error = line.error {
                    isComplete = false
                    Console.printError("\(line.shownPath): \(error.code.rawValue). \(error.message)")
                }
            }
            // Acknowledges the job last. If the process dies earlier, the same command shows this job again.
            try await context.store.records.acknowledge(job.id, of: .local)
        }
        if !isComplete { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func job(of attachments: [AttachmentSubmission], _ profile: Profile, run: RunID) throws -> JobSubmission {
        var asked = attachments
        // Generated identifiers must not change the work key.
        for index in asked.indices { asked[index].identifier = index < identifiers.count ? identifiers[index] : "" }
        let work = try WorkKey.of(
            asked, profileDigest: profile.digest, mode: mode, deadline: deadline, encrypt: encrypt)
        return JobSubmission(
            tenant: .local, profile: profile, mode: mode, deadline: deadline ?? profile.deadline, run: run,
            workKey: work, encrypt: encrypt, attachments: attachments)
    }

    /// Processes a job, continuing what an earlier, killed run of the same command began.
    ///
    /// If that run had finished the job but not acknowledged it, its record is returned.
    private func finished(_ job: JobSubmission, in context: ProcessingContext) async throws -> JobRecord {
        let records = context.store.records
        var job = job
        let options = SubmissionOptions(retriesFailed: true)
        if case .unchanged(let record) = try await records.submit(job, options) {
            if record.state.isFinished { return record }
            // Another run of this command is working on the job. This run submits a separate job.
            job.workKey = nil
            _ = try await records.submit(job, options)
        }
        guard let run = job.run else { preconditionFailure("a command's job has a run") }
        let worker = JobWorker(
            records: records, pipeline: context.pipeline, id: context.worker, source: .run(run), width: 1)
        worker.close()
        let finished = Mutex<JobRecord?>(nil)
        try await worker.run { record in finished.withLock { $0 = record } }
        guard let finished = finished.withLock({ $0 }) else {
            throw CommandFailure(
                "another run of this command is processing the job. Wait until it has finished.",
                status: .unavailable)
        }
        return finished
    }

    private func submission(of source: String, identifier: String) throws -> AttachmentSubmission {
        let request = requested.request
        if source.lowercased().hasPrefix("data:"), !FileManager.default.fileExists(atPath: source) {
            throw CommandFailure(
                "data URLs are not sources. Decode the data into a file and name that.", status: .usage)
        }
        if let scheme = source.scheme, !FileManager.default.fileExists(atPath: source) {
            guard ["http", "https", AESGCMURL.scheme].contains(scheme) else {
                throw CommandFailure(
                    "'\(source)' can't be fetched: the URL must be http, https or aesgcm. Download the file and add it instead.",
                    status: .usage)
            }
            let encrypted: AESGCMURL?
            do { encrypted = try AESGCMURL(source) } catch { throw CommandFailure(error.message, status: .usage) }
            return AttachmentSubmission(
                identifier: identifier, location: .url(encrypted?.url ?? source, headers: [:]),
                declaredType: typeHint, request: request, options: requested.options(typeHint: typeHint),
                encryption: encrypted?.encryption)
        }
        return try .file(
            source, identifier: identifier, typeHint: typeHint, request: request,
            options: requested.options(typeHint: typeHint))
    }
}

extension String {
    /// The lowercase scheme, if this looks like a URL.
    var scheme: String? { prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*(?=:\/\/)/).map { $0.output.lowercased() } }
}

extension LineError {
    /// Replaces advice for operators and API clients with advice for the command line.
    fileprivate mutating func speakToCommandLine() {
        switch ErrorCode(rawValue: code.rawValue) {
        case .blockedAddress:
            message = message.replacing(
                "An operator can allow it with the setting fetch.allow.", with: "Allow it with --fetch-allow.")
        case .fetchFailed, .fetchTimeout:
            message = message.replacing("or upload the file.", with: "or download it and name the file.")
        default: break
        }
    }
}
