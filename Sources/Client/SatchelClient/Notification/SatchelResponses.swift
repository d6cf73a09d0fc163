public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Tells the service what people do with notifications, and hears what becomes of them.
///
/// Needs no API key: the URL is in the payload, ``SatchelNotification/respond``. An app's delegate passes on what it gets
/// with `respond(to:in:data:within:completionHandler:)`, a content extension inherits from
/// `SatchelNotificationContentViewController`. What an extension has answered with ``Option/forward`` the app's delegate gets
/// too: an app with such an extension tells the service of the default action and of dismissals alone.
public enum SatchelResponses {
    /// What a person did with a notification on one device.
    public struct Response: Sendable, Hashable {
        /// The service takes a response once, however often it comes with the same id.
        public var id: UUID
        /// One opened notification on one device: what its actions and its view have become is kept for it.
        public var session: UUID
        /// An action's id, `default` or `dismiss`; the system's identifiers of these two mean the same.
        public var action: String
        /// What was typed, where the action asks for a text; at most 2,000 characters.
        public var text: String?
        /// JSON of at most 1 kB for the app's own back end, such as who responded in a form that it can check: the URL is the
        /// same on all devices that a payload was sent to.
        public var data: Data?
        /// When it was done, by the device's clock.
        public var at: Date

        public init(
            id: UUID = UUID(), session: UUID = UUID(), action: String, text: String? = nil, data: Data? = nil,
            at: Date = Date()
        ) {
            self.id = id
            self.session = session
            self.action = action
            self.text = text
            self.data = data
            self.at = at
        }
    }

    /// Sends a response, and again with the same id while the service can't be reached, is overloaded or fails.
    ///
    /// - Parameters:
    ///   - response: What was done.
    ///   - url: ``SatchelNotification/respond``.
    ///   - seconds: For all attempts together; an app that was woken for a response has little time.
    ///   - configuration: Of the session that is used. The default keeps no cookies and no cache.
    /// - Throws: A ``SatchelError``: ``SatchelError/Code/notFound`` where the notification takes no responses any more,
    ///   ``SatchelError/Code/unknownAction`` for what it doesn't offer, ``SatchelError/Code/timedOut`` where no answer came in
    ///   time, the last attempt's where another would come too late. `CancellationError` where the task was cancelled.
    public static func respond(
        _ response: Response, at url: URL, within seconds: TimeInterval = 10,
        configuration: URLSessionConfiguration = .ephemeral
    ) async throws -> Answer {
        let end = Date(timeIntervalSinceNow: seconds)
        // Longer than the whole, whose end says more.
        var request = URLRequest(url: url, timeoutInterval: max(seconds, 0) + 60)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try response.body
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return try await withThrowingTaskGroup(of: Answer.self) { [request] group in
            group.addTask {
                try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 86_400) * 1e9))
                throw SatchelError(
                    code: .timedOut,
                    detail: "No answer to the response came within \(seconds) s. Send it again with the same id.")
            }
            group.addTask {
                try await send(request, by: session, until: end)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    private static func send(_ request: URLRequest, by session: URLSession, until end: Date) async throws -> Answer {
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try await session.answer(to: request, with: .none).decode(Answer.self)
            } catch let error as SatchelError {
                // Nothing of a response happens twice, so that whatever may pass is tried again.
                let isTransient = error.status.map { $0 == 429 || $0 >= 500 } ?? (error.code == .transport)
                let pause = RetryPolicy().pause(after: attempt, retryAfter: error.retryAfter)
                guard isTransient, pause < end.timeIntervalSinceNow else { throw error }
                try await Task.sleep(nanoseconds: UInt64(pause * 1e9))
            }
        }
    }
}

extension SatchelResponses.Response {
    /// As it is sent.
    fileprivate var body: Data {
        get throws(SatchelError) {
            var object: [String: Any] = [
                "id": id.uuidString.lowercased(), "session": session.uuidString.lowercased(), "action": action,
                "at": at.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            ]
            object["text"] = text
            do {
                object["data"] = try data.map {
                    try JSONSerialization.jsonObject(with: $0, options: .fragmentsAllowed)
                }
                return try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            } catch {
                throw SatchelError(
                    code: .invalidRequest, detail: "A response's data must be JSON.", underlying: error)
            }
        }
    }
}
