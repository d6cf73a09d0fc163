import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hands on an answer as it arrives. `URLSession.bytes` would do, but isn't there on Linux.
final class ByteStream: NSObject, URLSessionDataDelegate {
    enum Piece: Sendable {
        case head(Answer)
        case bytes(Data)
    }

    private let continuation: AsyncThrowingStream<Piece, any Error>.Continuation

    private init(_ continuation: AsyncThrowingStream<Piece, any Error>.Continuation) {
        self.continuation = continuation
    }

    /// The answer to `request`: its head, then its bytes. The connection is closed when nobody reads any more.
    static func open(
        _ request: URLRequest, _ configuration: URLSessionConfiguration
    ) -> AsyncThrowingStream<Piece, any Error> {
        AsyncThrowingStream { continuation in
            let session = URLSession(
                configuration: configuration, delegate: ByteStream(continuation), delegateQueue: nil)
            let task = session.dataTask(with: request)
            continuation.onTermination = { _ in task.cancel() }
            task.resume()
            session.finishTasksAndInvalidate()
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        do {
            continuation.yield(.head(try Answer(response, Data())))
            completionHandler(.allow)
        } catch {
            continuation.finish(throwing: error)
            completionHandler(.cancel)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        continuation.yield(.bytes(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error.map { SatchelError.transport($0) })
    }
}
