import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Fetches what a notification links to, and knows at every moment what of it can be shown.
///
/// Each attachment and its preview are fetched side by side, straight to the disk, and kept as they come. The preview is
/// given up when the attachment is there.
final class NotificationFetch<Shown: Sendable>: Sendable {
    /// What there is of one attachment.
    struct Holding: Sendable {
        var main: Shown?
        var preview: URL?
    }

    struct State: Sendable {
        var holdings: [Holding]
        var isFinished = false
    }

    private let links: [SatchelNotification.Link]
    private let directory: URL
    private let largest: Int64
    private let show: @Sendable (SatchelNotification.File) throws -> Shown
    let state: Locked<State>

    /// - Parameters:
    ///   - directory: Where the files go; a new temporary one where nil.
    ///   - largest: Bytes; what is larger stands as its preview.
    ///   - show: Makes of a file what is shown. Where it throws, an attachment stands as its preview, and a preview is left
    ///     out.
    init(
        _ notification: SatchelNotification?, in directory: URL? = nil, largest: Int64 = 50_000_000,
        show: @escaping @Sendable (SatchelNotification.File) throws -> Shown
    ) {
        links = notification?.attachments ?? []
        self.directory =
            directory
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("satchel-\(UUID().uuidString)")
        self.largest = largest
        self.show = show
        state = Locked(State(holdings: [Holding](repeating: Holding(), count: links.count)))
    }

    /// Fetches until all is there that will come, `seconds` are over, or the task is cancelled.
    func run(within seconds: TimeInterval) async {
        guard !links.isEmpty else { return }
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let configuration = URLSessionConfiguration.ephemeral
        // None of them waits for another that stalls.
        configuration.httpMaximumConnectionsPerHost = 2 * links.count
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let patience = min(max(seconds, 1), 86_400)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 86_400) * 1e9))
                return false
            }
            for index in links.indices {
                group.addTask {
                    await self.fetch(index, by: session, patience)
                    return true
                }
            }
            var missing = links.count
            while missing > 0, await group.next() == true { missing -= 1 }
            group.cancelAll()
        }
    }

    /// What can be shown of what is there, in the order of the links; at once. What comes later is removed.
    func finish() -> [Shown] {
        let holdings = state.withLock { state in
            state.isFinished = true
            return state.holdings
        }
        return zip(links, holdings).compactMap { link, holding in
            guard let preview = holding.preview else { return holding.main }
            let shown =
                holding.main ?? (try? show(SatchelNotification.File(link: link, file: preview, isPreview: true)))
            if holding.main != nil || shown == nil { try? FileManager.default.removeItem(at: preview) }
            return shown
        }
    }

    // MARK: One attachment

    private func fetch(_ index: Int, by session: URLSession, _ patience: TimeInterval) async {
        let link = links[index]
        await withTaskGroup(of: Bool.self) { group in
            if let url = link.previewURL {
                group.addTask {
                    guard let file = await self.download(url, "preview-\(index)", session, patience)
                    else { return false }
                    self.keep(file) { $0[index].preview = file }
                    return false
                }
            }
            if (link.bytes ?? 0) <= largest {
                group.addTask {
                    guard let file = await self.download(link.url, "main-\(index)", session, patience)
                    else { return false }
                    guard let main = try? self.show(SatchelNotification.File(link: link, file: file, isPreview: false))
                    else {
                        try? FileManager.default.removeItem(at: file)
                        return false
                    }
                    self.keep(file) { $0[index].main = main }
                    return true
                }
            }
            for await isAll in group where isAll { group.cancelAll() }
        }
    }

    /// Notes a file that came, unless it came too late.
    private func keep(_ file: URL, _ note: (inout [Holding]) -> Void) {
        let isInTime = state.withLock { state in
            if !state.isFinished { note(&state.holdings) }
            return !state.isFinished
        }
        if !isInTime { try? FileManager.default.removeItem(at: file) }
    }

    /// - Returns: The file; nil where it can't be had.
    private func download(_ url: URL, _ name: String, _ session: URLSession, _ patience: TimeInterval) async -> URL? {
        let file = directory.appendingPathComponent(name).appendingPathExtension(url.pathExtension)
        return await Download(URLRequest(url: url, timeoutInterval: patience), to: file).run(by: session)
    }
}

/// One download, which ends when its task is cancelled: on Linux, URLSession's own may then never end.
private final class Download: Sendable {
    private struct State {
        var isOver = false
        var continuation: CheckedContinuation<URL?, Never>?
        var task: URLSessionDownloadTask?
    }

    private let request: URLRequest
    private let file: URL
    private let state = Locked(State())

    init(_ request: URLRequest, to file: URL) {
        self.request = request
        self.file = file
    }

    /// - Returns: The file; nil where it can't be had.
    func run(by session: URLSession) async -> URL? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let task = state.withLock { state -> URLSessionDownloadTask? in
                    guard !state.isOver else { return nil }
                    let task = session.downloadTask(with: request) { [self] temporary, response, _ in
                        end(with: keep(temporary, response))
                    }
                    state.continuation = continuation
                    state.task = task
                    return task
                }
                guard let task else { return continuation.resume(returning: nil) }
                task.resume()
            }
        } onCancel: {
            end(with: nil)
        }
    }

    /// Moves what came to its place, before the system removes it.
    private func keep(_ temporary: URL?, _ response: URLResponse?) -> URL? {
        guard let temporary, (response as? HTTPURLResponse)?.statusCode == 200 else { return nil }
        try? FileManager.default.removeItem(at: file)
        return (try? FileManager.default.moveItem(at: temporary, to: file)).map { file }
    }

    private func end(with file: URL?) {
        let last = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        // Where it was given up, nobody waits for what came.
        if last.isOver, let file { try? FileManager.default.removeItem(at: file) }
        last.continuation?.resume(returning: file)
        if file == nil { last.task?.cancel() }
    }
}
