public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension SatchelClient {
    /// Opens an upload: its ``Upload/url`` is for whoever has the file, without an API key.
    public func openUpload(_ request: UploadRequest = UploadRequest()) async throws -> Upload {
        try await transport.send(Call("POST", "v1", "uploads").sending(request)).decode(Upload.self)
    }

    /// How far an upload is.
    public func upload(_ id: String) async throws -> Upload {
        try await transport.send(Call("GET", "v1", "uploads", id)).decode(Upload.self)
    }

    /// Ends an upload, whatever has arrived; what a job has stays the job's.
    public func cancel(upload id: String) async throws {
        _ = try await transport.send(Call("DELETE", "v1", "uploads", id))
    }

    /// Sends a file to an upload's URL, from where the service says that it stands, as often as that takes. For an app: the URL
    /// is all that it needs.
    ///
    /// ```swift
    /// try await SatchelClient.upload(movie, to: url) { sent, all in print(sent, "of", all) }
    /// ```
    ///
    /// Called again after the app was ended, it goes on where it was.
    ///
    /// - Parameters:
    ///   - file: Read piece by piece, however large it is.
    ///   - url: ``Upload/url``.
    ///   - retries: Attempts without a byte of progress, and how long is waited between them.
    ///   - configuration: Of the session that is used. The default keeps no cookies and no cache.
    ///   - progress: Told how much is durable at the service.
    /// - Returns: The upload, complete.
    /// - Throws: A ``SatchelError``, such as `not_found` for a URL that is no upload's any more.
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

    /// The same for a background session, which sends while the app sleeps: a task that isn't resumed yet. From iOS 17 on the
    /// system goes on by itself where a connection broke, by the protocol that the service speaks; what ends for good is gone on
    /// with by ``upload(_:to:retries:configuration:progress:)``.
    ///
    /// - Parameters:
    ///   - file: Stays where it is until the task has ended.
    ///   - url: ``Upload/url``.
    ///   - session: Of a `URLSessionConfiguration.background(withIdentifier:)`.
    public static func uploadTask(of file: URL, to url: URL, in session: URLSession) -> URLSessionUploadTask {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        // A session declares a file of which it was told nothing as a form.
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return session.uploadTask(with: request, fromFile: file)
    }
}
