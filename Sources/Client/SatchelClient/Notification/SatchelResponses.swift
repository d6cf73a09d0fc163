public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Reports responses to notifications to the service, and receives its decisions.
///
/// It needs no API key, because the URL is in the payload (``SatchelNotification/respond``). An app's delegate reports responses
/// with `respond(to:in:data:within:completionHandler:)`. A content extension inherits from
/// `SatchelNotificationContentViewController`.
///
/// The delegate also receives responses that an extension answered with ``Option/forward``. An app with such an extension
/// should report only the default action and dismissals.
public enum SatchelResponses {
    /// A response of a person to a notification on one device.
    public struct Response: Sendable, Hashable {
        /// The id of the response. The service accepts a response with the same id only once.
        public var id: UUID
        /// An opened notification on one device. The service keeps the state of its actions and its view.
        public var session: UUID
        /// The id of an action, `default` or `dismiss`. The system's identifiers for the latter two also work.
        public var action: String
        /// The typed text, if the action asks for one; at most 2,000 characters.
        public var text: String?
        /// JSON of at most 1 kB for the app's own back end, such as a signed user id. The URL is the same on all devices that receive
        /// the payload, so it does not identify the user.
        public var data: Data?
        /// The time of the response, by the device's clock.
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

    /// Sends a response. If the service can't be reached, is overloaded or fails, it is sent again with the same id.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - url: ``SatchelNotification/respond``.
    ///   - seconds: The time limit for all attempts. An app that was launched for a response has little time.
    ///   - configuration: The configuration of the session. The default keeps no cookies and no cache.
    /// - Throws: ``SatchelError/Code/notFound`` if the notification no longer takes responses,
    ///   ``SatchelError/Code/unknownAction`` if it does not offer the action, ``SatchelError/Code/timedOut`` if there was no answer
    ///   in time, or the error of the last attempt. `CancellationError` if the task was cancelled.
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
