public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Talks to a Satchel service.
///
/// ```swift
/// let satchel = SatchelClient(url: URL(string: "https://media.example.com")!, key: "satk_…")
/// let job = try await satchel.submit(JobRequest([.file(photo)]), waitingUpTo: 10)
/// ```
///
/// Every call throws a ``SatchelError``, or `CancellationError` if its task was cancelled. Calls that are safe to repeat are
/// retried within ``RetryPolicy``.
public struct SatchelClient: Sendable {
    /// The URL of the service: `https://media.example.com`.
    public let url: URL
    let transport: Transport

    /// Creates a client for a back end. The roles of the API key decide what it may do. Never ship an API key in an app.
    ///
    /// - Parameters:
    ///   - url: The URL of the service.
    ///   - key: The API key: `satk_…`.
    ///   - retries: How often calls are retried.
    ///   - configuration: The configuration of the session. The default keeps no cookies and no cache.
    public init(
        url: URL, key: String, retries: RetryPolicy = RetryPolicy(),
        configuration: URLSessionConfiguration = .ephemeral
    ) {
        self.init(url: url, bearer: key, retries: retries, configuration: configuration)
    }

    /// Creates a client for the holder of a grant. It may start leases on the attachment and derive narrower grants.
    public init(
        url: URL, grant: String, retries: RetryPolicy = RetryPolicy(),
        configuration: URLSessionConfiguration = .ephemeral
    ) {
        self.init(url: url, bearer: grant, retries: retries, configuration: configuration)
    }

    private init(url: URL, bearer: String, retries: RetryPolicy, configuration: URLSessionConfiguration) {
        self.url = url
        transport = Transport(base: url, bearer: bearer, retries: retries, configuration: configuration)
    }
}

/// How often calls that are safe to repeat are retried.
///
/// Responses of 429 and 503 are retried after the seconds that the service names. Failed connections are retried for calls
/// that may arrive twice.
public struct RetryPolicy: Sendable, Hashable {
    /// The number of attempts; 1 for no retry.
    public var attempts: Int
    /// The maximum total waiting time in seconds.
    public var longestWait: TimeInterval

    public init(attempts: Int = 4, longestWait: TimeInterval = 30) {
        self.attempts = attempts
        self.longestWait = longestWait
    }

    /// The seconds to wait after `attempt` (1 for the first), with jitter so that clients do not retry at the same time.
    func pause(after attempt: Int, retryAfter: TimeInterval?) -> TimeInterval {
        let backoff = 0.2 * pow(2, Double(attempt - 1))
        return (retryAfter ?? backoff) + Double.random(in: 0...backoff)
    }
}
