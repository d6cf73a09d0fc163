import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends a file piece by piece, by Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload): what arrived of a piece
/// counts, also where its connection broke.
struct FileUpload {
    /// Bytes of a request: few enough to hold in memory, many enough that a round trip more costs nothing.
    private static let piece = 4 << 20

    private let file: URL
    private let url: URL
    private let session: URLSession
    private let retries: RetryPolicy

    init(_ file: URL, to url: URL, by session: URLSession, retries: RetryPolicy) {
        self.file = file
        self.url = url
        self.session = session
        self.retries = retries
    }

    func run(_ progress: (Int64, Int64) -> Void) async throws -> Upload {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let length = Int64(try handle.seekToEnd())
        var offset: Int64?
        var attempt = 0
        var waited: TimeInterval = 0
        while true {
            do {
                let start: Int64
                if let offset { start = offset } else { start = try await ask() }
                guard start <= length else {
                    throw SatchelError(
                        code: .invalidRequest, detail: "The service has more bytes than the file: it is another file.")
                }
                offset = start
                progress(start, length)
                let answer = try await send(handle, from: start, of: length)
                (attempt, waited) = (0, 0)
                if let upload = answer {
                    progress(length, length)
                    return upload
                }
                offset = min(start + Int64(Self.piece), length)
            } catch let error as SatchelError where Self.mayPass(error) {
                // It may have got more than was told of.
                offset = nil
                attempt += 1
                let pause = retries.pause(after: attempt, retryAfter: error.retryAfter)
                guard attempt < retries.attempts, waited + pause <= retries.longestWait else { throw error }
                try await Task.sleep(nanoseconds: UInt64(pause * 1e9))
                waited += pause
            }
        }
    }

    /// Whether asking where it stands may help.
    private static func mayPass(_ error: SatchelError) -> Bool {
        guard let status = error.status else { return error.code == .transport }
        return [408, 409, 429].contains(status) || status >= 500
    }

    /// Where the upload stands. One that is complete stands at its end, and is answered once more by an empty request.
    private func ask() async throws -> Int64 {
        let answer = try await session.answer(to: request("HEAD"), with: .none)
        guard let text = answer.header("Upload-Offset"), let offset = Int64(text) else {
            throw SatchelError(code: .unreadable, detail: "The URL is no upload's.", status: answer.status)
        }
        return offset
    }

    /// - Returns: The upload once it is complete.
    private func send(_ handle: FileHandle, from offset: Int64, of length: Int64) async throws -> Upload? {
        try handle.seek(toOffset: UInt64(offset))
        let bytes = try handle.read(upToCount: Self.piece) ?? Data()
        let isLast = offset + Int64(bytes.count) == length
        var request = request("PATCH")
        request.setValue("\(offset)", forHTTPHeaderField: "Upload-Offset")
        request.setValue("\(length)", forHTTPHeaderField: "Upload-Length")
        request.setValue(isLast ? "?1" : "?0", forHTTPHeaderField: "Upload-Complete")
        request.setValue("application/partial-upload", forHTTPHeaderField: "Content-Type")
        request.httpBody = bytes
        let answer = try await session.answer(to: request, with: .none)
        return answer.header("Upload-Complete") == "?1" ? try answer.decode(Upload.self) : nil
    }

    private func request(_ method: String) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: 60)
        request.httpMethod = method
        return request
    }
}
