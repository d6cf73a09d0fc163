import API
import ArgumentParser
import SatchelCore
import CodecPool
import Foundation
import Ingest
import Jobs
import Logging
import Platform
import Stores

struct Preview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview", abstract: "Show in a browser what a notification looks like, and try its actions.",
        discussion: """
            Prepares the payload's media in a temporary store and prints the URL of a page on this machine. The page \
            updates when the files change. Press Ctrl-C to stop; nothing is left behind.

            A string 'cid:photo' in the payload becomes the link of --attach photo=FILE. An attachment that no string names \
            appears under the payload's key 'satchel'.

            The handler decides what happens when an action of the category is tapped. Without a handler, the page shows \
            what would be forwarded to the app.

            Examples:

              satchel preview push.json
              satchel preview push.json --category c.json --attach photo=x.jpg
              satchel preview push.json --category c.json --handler http://127.0.0.1:8090/
              satchel preview message.json --format fcm
            """)

    @Argument(help: ArgumentHelp("The payload, as it is sent to the service.", valueName: "file"), completion: .json)
    var payload: String

    @Option(help: ArgumentHelp("Format of the payload.", valueName: "format"))
    var format = PayloadFormat.apns

    @Option(
        help: ArgumentHelp("The payload's category as JSON, as in the API.", valueName: "file"),
        completion: .json)
    var category: String?

    @OptionGroup var attached: AttachOptions

    @Option(help: ArgumentHelp("URL to call when an action is tapped. No other URL is called.", valueName: "url"))
    var handler: String?

    @Option(help: ArgumentHelp("Port to listen on. Default: any free port.", valueName: "port"))
    var port: Int?

    @OptionGroup(title: "Renditions") var profiles: ProfileFileOptions
    @OptionGroup(title: "Fetching") var fetch: FetchOptions

    /// The time between two checks of the files.
    private static let interval: Duration = .milliseconds(300)
    /// How long a file must stay unchanged before it is read.
    private static let settling: Duration = .milliseconds(100)

    func validate() throws {
        if let port, !(1...65_535).contains(port) {
            throw ValidationError("--port must be between 1 and 65535, not \(port).")
        }
        _ = try handlerURL
    }

    private var handlerURL: FetchURL? {
        get throws {
            do {
                return try handler.map { try FetchURL($0) }
            } catch let error as AttachmentError {
                guard case .invalidSource(let reason) = error else { throw error }
                throw ValidationError("--handler can't be called: \(reason).")
            }
        }
    }

    func run() async throws {
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let files = PreviewFiles(payload: payload, format: format, category: category, attachments: attached.files)
        let contents = try files.contents()
        let url = try handlerURL
        let allowed = try FetchAllowance.list(
            url.map { [$0.origin.split(separator: "/").last ?? ""] }?.map(String.init) ?? [])
        try checkPort()
        let isListening = Promise<Void>()
        let configuration = try configuration
        let store = try await configuration.openStore()
        let client = HandlerClient(
            clock: { store.records.time }, guardedBy: FetchGuard(allowing: allowed),
            userAgent: "Satchel/\(Version.current)")
        // The store is removed here because it would outlive the process.
        defer { try? FileManager.default.removeItem(atPath: store.directory) }
        let service = try await ServiceComposition.make(
            configuration, store: store, logger: Logger(label: "satchel"),
            metrics: MetricsRegistry(), manager: nil,
            preview: { service in
                LivePreview(of: service, handler: url.map { ResponseHandler(url: $0.text) }, client: client) {
                    Console.printError($0)
                }
            },
            onListening: { isListening.make(.success(())) })
        let result = await Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { isListening.make(.failure(CancellationError())) }
                    try await service.run()
                }
                group.addTask {
                    try await isListening.value
                    if let preview = service.preview {
                        try await follow(files, contents, preview, at: service.configuration.settings.publicURL)
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }.result
        await service.codecs.shutdown()
        await client.end()
        await service.api.end()
        try result.get()
    }

    private var listen: ListenAddress { ListenAddress(host: "127.0.0.1", port: port ?? 0) }

    private func checkPort() throws {
        do {
            _ = try FreePort.bound(listen)
        } catch let failure as CommandFailure {
            throw CommandFailure(
                failure.sentence.replacing("another address or port with --listen", with: "another port with --port"),
                status: failure.status)
        }
    }

    /// The configuration of the preview's own service: on the loopback interface, with a store in memory.
    private var configuration: ServiceConfiguration {
        get throws {
            let configured = StoreOptions.configured
            var configuration = ServiceConfiguration()
            configuration.store = "\(StoreLocation.memory)"
            configuration.listen = listen
            configuration.grace = .seconds(1)
            configuration.memory = configured.memory
            configuration.codecs = configured.codecs
            configuration.sandbox = configured.sandbox
            configuration.profiles = profiles.profiles ?? configured.profiles
            configuration.fetchAllow = fetch.allow.all()
            configuration.settings.payloadPointers = configured.settings.payloadPointers
            _ = try ProfileFileOptions.all(in: configuration.profiles)
            _ = try fetch.allowances
            return configuration
        }
    }

    /// Shows the contents of the files, and again whenever they change.
    private func follow(
        _ files: PreviewFiles, _ contents: LivePreview.Contents, _ preview: LivePreview, at publicURL: String
    ) async throws {
        var latest = try await show(.success(contents), preview)
        try ResultOutput().line(publicURL + preview.path)
        Console.printError("Following \(files.names). Press Ctrl-C to stop.")
        while true {
            try await Task.sleep(for: Self.interval)
            var found = Self.read(files)
            while found != latest {
                try await Task.sleep(for: Self.settling)
                let again = Self.read(files)
                if again == found {
                    latest = try await show(found, preview)
                } else {
                    found = again
                }
            }
        }
    }

    /// The contents of the files, or the problems found.
    private typealias Found = Result<LivePreview.Contents, LivePreview.Refusal>

    private static func read(_ files: PreviewFiles) -> Found {
        do {
            return .success(try files.contents())
        } catch {
            return .failure(.init(problems: [(error as? CommandFailure)?.sentence ?? "\(error)"]))
        }
    }

    private func show(_ found: Found, _ preview: LivePreview) async throws -> Found {
        do {
            switch found {
            case .success(let contents): try await preview.show(contents)
            case .failure(let refusal):
                preview.fail(refusal.problems)
                throw refusal
            }
        } catch let refusal as LivePreview.Refusal {
            for problem in refusal.problems { Console.printError(problem) }
        }
        return found
    }
}
