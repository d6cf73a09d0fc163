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
                    guard
                        let file = await self.download(
                            url, link.previewEncryption, "preview-\(index)", session, patience)
                    else { return false }
                    self.keep(file) { $0[index].preview = file }
                    return false
                }
            }
            if fits(link) {
                group.addTask {
                    guard let file = await self.download(link.url, link.encryption, "main-\(index)", session, patience)
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

    /// - Parameter encryption: With what it is encrypted; nil where it isn't.
    /// - Returns: The file, decrypted; nil where it can't be had or opened.
    private func download(
        _ url: URL, _ encryption: Encryption?, _ name: String, _ session: URLSession, _ patience: TimeInterval
    ) async -> URL? {
        let file = directory.appendingPathComponent(name).appendingPathExtension(url.pathExtension)
        let request = URLRequest(url: url, timeoutInterval: patience)
        guard let encryption else { return await Download(request, to: file).run(by: session) }
        let fetched = directory.appendingPathComponent(name).appendingPathExtension("encrypted")
        guard let ciphertext = await Download(request, to: fetched).run(by: session) else { return nil }
        defer { try? FileManager.default.removeItem(at: ciphertext) }
        return (try? encryption.decrypt(ciphertext, to: file)).map { file }
    }

    /// Whether an attachment is small enough to be had: what is opened as a whole is twice in the memory of an extension, which
    /// has 24 MB.
    private func fits(_ link: SatchelNotification.Link) -> Bool {
        guard let bytes = link.bytes else { return true }
        if case .aesgcm = link.encryption, bytes > 8_000_000 { return false }
        return bytes <= largest
    }
}
