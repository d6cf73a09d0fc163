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
            Up to 10 sources make one job; each becomes an attachment with its own identifier and record.

              satchel add photo.heic
              satchel add https://example.com/clip.mov --trim-start 2.5 --trim-duration 10
              satchel add clip.mov --thumbnail-time 42 --trim-around-thumbnail --trim-duration 6
              satchel add front.jpg back.jpg --mode strict --deadline 10

            Of an encrypted file, an aesgcm URL (XEP-0454) has the key behind its '#'. The file is fetched by https, and the
            key isn't kept. Put the URL into quotes; other users of this machine may see it while the command runs.
            """)

    @Argument(help: ArgumentHelp("Files, or http, https and aesgcm URLs.", valueName: "file|url"), completion: .file())
    var sources: [String]

    @OptionGroup(title: "What is made") var profiles: ProfileOptions
    @OptionGroup(title: "What is made") var requested: RequestOptions
    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Codecs") var codecs: CodecOptions
    @OptionGroup(title: "Fetching") var fetch: FetchOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(
        help: ArgumentHelp(
            "The attachments' identifiers, in order; several with commas, or repeated. Default: a UUID.",
            valueName: "id"))
    var identifier: [Several<String>] = []

    private var identifiers: [String] { identifier.all() }

    @Option(help: "'lenient' delivers what it can, 'strict' all or nothing.")
    var mode = JobMode.lenient

    @Option(
        help: ArgumentHelp(
            "Encrypt what is made, each rendition with a key of its own: 'matrix' or 'aesgcm'. 'satchel get' decrypts it.",
            valueName: "scheme"),
        completion: .list(EncryptionScheme.ofRenditions.map(\.rawValue)))
    var encrypt: EncryptionScheme?

    @Option(
        help: ArgumentHelp("Seconds until what is ready is delivered. Default: the profile's.", valueName: "seconds"))
    var deadline: Double?

    func validate() throws {
        guard (1...JobSubmission.maximumAttachments).contains(sources.count) else {
            throw ValidationError(
                "A job takes 1 to \(JobSubmission.maximumAttachments) sources, not \(sources.count); 'satchel batch' takes more."
            )
        }
        if identifiers.count > sources.count { throw ValidationError("There are more --identifier than sources.") }
        if Set(identifiers).count != identifiers.count { throw ValidationError("Two --identifier are the same.") }
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
        do {
            let job = try await finished(
                try job(of: attachments, profile, run: RunID.generate()), in: context)
            for (source, attachment) in zip(sources, job.attachments) {
                // What stands behind the '#' of an encrypted file's URL opens it: no result says it.
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
            // Only now: killed before, the same command shows this job instead of making another.
            try await context.store.records.acknowledge(job.id, of: .local)
        } catch let error as AttachmentError {
            await context.close()
            throw CommandFailure(error.message)
        }
        await context.close()
        if !isComplete { throw ExitCode(1) }
    }

    private func job(of attachments: [AttachmentSubmission], _ profile: Profile, run: RunID) throws -> JobSubmission {
        var asked = attachments
        // A generated identifier says nothing about what was asked for.
        for index in asked.indices { asked[index].identifier = index < identifiers.count ? identifiers[index] : "" }
        let work = try WorkKey.of(
            asked, profileDigest: profile.digest, mode: mode, deadline: deadline, encrypt: encrypt)
        return JobSubmission(
            tenant: .local, profile: profile, mode: mode, deadline: deadline ?? profile.deadline, run: run,
            workKey: work, encrypt: encrypt, attachments: attachments)
    }

    /// Carries a job out, unless an earlier run of the same command had finished it and was killed before it could say
    /// so. What that run had begun is carried on.
    private func finished(_ job: JobSubmission, in context: ProcessingContext) async throws -> JobRecord {
        let records = context.store.records
        var job = job
        let options = SubmissionOptions(retriesFailed: true)
        if case .unchanged(let record) = try await records.submit(job, options) {
            if record.state.isFinished { return record }
            // The same command is at work right now: this one makes something of its own.
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
            throw CommandFailure("The same command was started twice at once, and the other one has the job.")
        }
        return finished
    }

    private func submission(of source: String, identifier: String) throws -> AttachmentSubmission {
        let request = requested.request
        if let scheme = source.scheme, !FileManager.default.fileExists(atPath: source) {
            guard ["http", "https", AESGCMURL.scheme].contains(scheme) else {
                throw CommandFailure(
                    "'\(source)' can't be fetched: only http, https and aesgcm URLs are. Download it, then name the file.",
                    status: 2)
            }
            let encrypted: AESGCMURL?
            do { encrypted = try AESGCMURL(source) } catch { throw CommandFailure(error.message, status: 2) }
            return AttachmentSubmission(
                identifier: identifier, location: .url(encrypted?.url ?? source, headers: [:]),
                declaredType: requested.typeHint, request: request, options: requested.options,
                encryption: encrypted?.encryption)
        }
        return try .file(
            source, identifier: identifier, typeHint: requested.typeHint, request: request, options: requested.options)
    }
}

extension String {
    /// The scheme where this looks like a URL, in small letters.
    var scheme: String? { prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*(?=:\/\/)/).map { $0.output.lowercased() } }
}

extension LineError {
    /// Names flags instead of settings, and what a person at the command line can do instead of a client.
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
