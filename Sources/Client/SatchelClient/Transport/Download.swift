import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One download, which ends when its task is cancelled: on Linux, URLSession's own may then never end.
final class Download: Sendable {
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
