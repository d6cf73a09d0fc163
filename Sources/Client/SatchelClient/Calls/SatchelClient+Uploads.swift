public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension SatchelClient {
    /// Opens an upload. Give its ``Upload/url`` to the client that has the file; it needs no API key.
    public func openUpload(_ request: UploadRequest = UploadRequest()) async throws -> Upload {
        try await transport.send(Call("POST", "v1", "uploads").sending(request)).decode(Upload.self)
    }

    /// Returns the state of an upload.
    public func upload(_ id: String) async throws -> Upload {
        try await transport.send(Call("GET", "v1", "uploads", id)).decode(Upload.self)
    }

    /// Cancels an upload. Bytes that a job already uses are kept.
    public func cancel(upload id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "uploads", id))
    }

    /// Sends a file to an upload's URL and resumes after interruptions until it is complete. An app needs only the URL.
    ///
    /// ```swift
    /// try await SatchelClient.upload(movie, to: url) { sent, all in print(sent, "of", all) }
    /// ```
    ///
    /// If the app was ended, call it again to continue.
    ///
    /// - Parameters:
    ///   - file: The file. It is read in pieces, so it may be large.
    ///   - url: ``Upload/url``.
    ///   - retries: The number of attempts without progress, and the waiting time between them.
    ///   - configuration: The configuration of the session. The default keeps no cookies and no cache.
    ///   - progress: Called with the number of bytes that the service has stored, and the size of the file.
    /// - Returns: The complete upload.
    /// - Throws: A ``SatchelError``, such as `not_found` if the upload no longer exists.
    @discardableResult
    public static func upload(
        _ file: URL, to url: URL, retries: RetryPolicy = RetryPolicy(attempts: 8, longestWait: 120),
        configuration: URLSessionConfiguration = .ephemeral,
        progress: @Sendable (_ sent: Int64, _ all: Int64) -> Void = { _, _ in }
    ) async throws -> Upload {
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return try await FileUpload(file, to: url, by: session, retries: retries).run(progress)
    }

    /// Returns a suspended task for a background session, which sends the file while the app is not running.
    ///
    /// From iOS 17 on, the system resumes the upload after a broken connection. If the task fails, continue with
    /// ``upload(_:to:retries:configuration:progress:)``.
    ///
    /// - Parameters:
    ///   - file: The file, which must stay in place until the task has ended.
    ///   - url: ``Upload/url``.
    ///   - session: A session with a `URLSessionConfiguration.background(withIdentifier:)`.
    public static func uploadTask(of file: URL, to url: URL, in session: URLSession) -> URLSessionUploadTask {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        // A session declares a file of which it was told nothing as a form.
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return session.uploadTask(with: request, fromFile: file)
    }
}
