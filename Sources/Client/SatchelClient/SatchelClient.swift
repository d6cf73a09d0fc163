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
/// Every call throws a ``SatchelError``, or `CancellationError` where its task was cancelled. Calls that can be repeated
/// without harm are, within ``RetryPolicy``.
public struct SatchelClient: Sendable {
    /// Where the service is: `https://media.example.com`.
    public let url: URL
    let transport: Transport

    /// For a back end: an API key may do what its roles say. Never ship one in an app.
    ///
    /// - Parameters:
    ///   - url: Where the service is.
    ///   - key: `satk_…`.
    ///   - retries: How often what can be repeated is.
    ///   - configuration: Of the session that is used. The default keeps no cookies and no cache.
    public init(
        url: URL, key: String, retries: RetryPolicy = RetryPolicy(),
        configuration: URLSessionConfiguration = .ephemeral
    ) {
        self.init(url: url, bearer: key, retries: retries, configuration: configuration)
    }

    /// For whoever was given a grant: may start leases on its attachment, and pass on narrower grants.
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

/// How often a call that can be repeated without harm is repeated.
///
/// Repeated are answers of 429 and 503, after the seconds that the service names, and for calls that may arrive twice
/// also connections that failed.
public struct RetryPolicy: Sendable, Hashable {
    /// Attempts in all; 1 for no repetition.
    public var attempts: Int
    /// Seconds that all waiting may take together.
    public var longestWait: TimeInterval

    public init(attempts: Int = 4, longestWait: TimeInterval = 30) {
        self.attempts = attempts
        self.longestWait = longestWait
    }

    /// Seconds before the attempt after `attempt` (1 for the first), with jitter so that clients don't come back together.
    func pause(after attempt: Int, retryAfter: TimeInterval?) -> TimeInterval {
        let backoff = 0.2 * pow(2, Double(attempt - 1))
        return (retryAfter ?? backoff) + Double.random(in: 0...backoff)
    }
}
