internal import AsyncHTTPClient
public import SatchelCore
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import Platform
internal import Synchronization

/// Talks to one bucket of an S3-compatible store.
///
/// Every request is signed with the hash of its body, which the server compares. One that fails for a passing reason (a
/// connection that broke or timed out, 500, 502, 503, 504, 429, `SlowDown`) is sent again twice, after a wait with full jitter, as
/// long as its time lasts, and the task's ``StoreTime``. Where the server says that the clocks are too far apart, the time of
/// that answer is what requests are signed with from then on, and the request is sent once more. Redirects aren't followed, nor
/// are the environment's proxies used.
public final class S3Client: Sendable {
    public let configuration: S3Configuration
    let address: S3Address
    private let http: HTTPClient
    private let credentials: CredentialCache
    private let clock: @Sendable () -> Instant
    private let offset = Mutex(Duration.zero)

    /// - Parameters:
    ///   - credentials: Where they come from; by default what ``CredentialChain`` finds in the environment.
    ///   - clock: This machine's wall clock.
    /// - Throws: `invalidSetting`.
    public init(
        _ configuration: S3Configuration, credentials: any CredentialSource = CredentialChain(),
        clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) throws(S3Error) {
        self.configuration = configuration
        address = try S3Address(configuration)
        self.credentials = CredentialCache(credentials)
        self.clock = clock
        var tls = TLSConfiguration.makeClientConfiguration()
        if let path = configuration.certificateAuthorities {
            do {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            } catch {
                throw .invalidSetting(name: "s3.ca", value: path, need: "it has to be a file of certificates in PEM")
            }
        }
        var http = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: configuration.connectTime.asTimeAmount, read: configuration.idleTime.asTimeAmount,
                write: configuration.idleTime.asTimeAmount),
            proxy: nil, decompression: .disabled)
        http.httpVersion = .http1Only
        http.connectionPool.retryConnectionEstablishment = false
        http.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.connections
        // Servers close idle connections too, some after a few seconds.
        http.connectionPool.idleTimeout = .seconds(4)
        http.dnsOverride = configuration.addresses
        self.http = HTTPClient(configuration: http)
    }

    deinit {
        // A client that is dropped without this ends the process.
        Task { [http] in try? await http.shutdown() }
    }

    /// What the server's clock is ahead of this machine's, as far as it ever mattered.
    public var clockOffset: Duration { offset.withLock { $0 } }

    /// The time that requests are signed with.
    var now: Instant { clock() + clockOffset }

    func signer() async throws(S3Error) -> SigV4 {
        SigV4(credentials: try await credentials.current(at: now), region: configuration.region)
    }

    func signedPart(of request: S3Request) -> SigV4.Request {
        SigV4.Request(
            request.method, authority: address.authority, path: address.path(of: request.key), query: request.query,
            headers: request.headers)
    }

    /// Sends a request until it succeeds, or nothing more can be done.
    ///
    /// - Parameter read: Is given every 2xx answer; it may be called again where it throws.
    func send<Answer: Sendable>(
        _ request: S3Request, read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws(S3Error) -> Answer {
        let limit = ContinuousClock.now + configuration.time
        let end = StoreTime.current.map { min(request.method == "GET" ? $0.reading : $0.writing, limit) } ?? limit
        let hash = try await request.body.digest()
        var tries = 1
        var wasSkewed = false
        while true {
            let failure: S3Error
            switch await tried(request, hash: hash, until: end, read: read) {
            case .success(let answer): return answer
            case .failure(let error): failure = error
            }
            if failure == .clockSkewed, !wasSkewed {
                wasSkewed = true
                continue
            }
            guard failure.isPassing, !Task.isCancelled, let wait = Self.wait(after: tries),
                ContinuousClock.now + wait < end
            else { throw failure }
            do { try await Task.sleep(for: wait) } catch { throw .cancelled }
            tries += 1
        }
    }

    /// Two more tries; the bounds of the waits before them are 200 and 400 ms.
    private static func wait(after tries: Int) -> Duration? {
        var generator = SystemRandomNumberGenerator.addressable
        return Backoff(base: .milliseconds(200), limit: .seconds(2), attempts: 3).wait(
            after: tries, error: .storeFailed(reason: ""), using: &generator)
    }

    /// Sends a request once, and stops whatever it is at when its time is up.
    private func tried<Answer: Sendable>(
        _ request: S3Request, hash: String, until end: ContinuousClock.Instant,
        read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer
    ) async -> Result<Answer, S3Error> {
        let result = await withTaskGroup(of: Result<Answer, S3Error>.self) { group in
            group.addTask { [self] in
                do { return .success(try await sendOnce(request, hash: hash, until: end, read: read)) } catch {
                    return .failure(S3Error(describing: error, from: address.host))
                }
            }
            // The client's own deadline ends with the head of an answer.
            group.addTask { [self] in
                do { try await Task.sleep(until: end, clock: .continuous) } catch { return .failure(.cancelled) }
                return .failure(.timedOut(host: address.host))
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failure(.cancelled)
        }
        return Task.isCancelled ? .failure(.cancelled) : result
    }

    private func sendOnce<Answer: Sendable>(
        _ request: S3Request, hash: String, until end: ContinuousClock.Instant,
        read: (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        let signer = try await signer()
        let signed = signedPart(of: request)
        var message = HTTPClientRequest(url: "\(address.scheme)://\(address.authority)\(signed.target)")
        message.method = HTTPMethod(rawValue: request.method)
        message.headers = HTTPHeaders(signer.signed(signed, hash: hash, at: now).map { ($0.name, $0.value) })
        message.body = request.body.content
        let left = end - .now
        guard left > .zero else { throw S3Error.timedOut(host: address.host) }
        let answer = try await http.execute(message, timeout: left.asTimeAmount)
        if (200..<300).contains(answer.status.code) { return try await read(answer) }
        throw try await refusal(answer, to: request, signedBy: signer)
    }

    /// What an answer other than 2xx says. One to HEAD has no body, and so no code.
    private func refusal(
        _ answer: HTTPClientResponse, to request: S3Request, signedBy signer: SigV4
    ) async throws -> S3Error {
        let status = Int(answer.status.code)
        var bytes: [UInt8] = []
        if request.method != "HEAD" {
            // Who refuses before all of a request was sent may close the connection before the reason was read. Of these the
            // status says enough.
            do {
                bytes = try await Self.body(of: answer, atMost: 64 << 10)
            } catch {
                guard status == 403 || status >= 500 else { throw error }
            }
        }
        let tree = try? XMLTree(bytes)
        let error = tree?.name == "Error" ? tree : nil
        let code = (error?["Code"]?.text ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if status == 403, code == "RequestTimeTooSkewed",
            let date = answer.headers.first(name: "Date").flatMap(Instant.init(httpDate:))
        {
            let clock = clock()
            offset.withLock { $0 = date - clock }
        }
        let region = error?["Region"]?.text ?? answer.headers.first(name: "X-Amz-Bucket-Region")
        return S3Error(
            status: status, code: String(code.prefix(64)), bucket: configuration.bucket,
            region: configuration.region, right: region, accessKey: signer.credentials.accessKey,
            operation: request.operation)
    }

    /// All of a body.
    ///
    /// - Throws: `malformedAnswer` where it is larger.
    static func body(of answer: HTTPClientResponse, atMost limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in answer.body {
            guard bytes.count + piece.readableBytes <= limit else {
                throw S3Error.malformedAnswer(reason: "it has more than \(limit) bytes")
            }
            bytes += piece.readableBytesView
        }
        return bytes
    }

    /// An answer in XML, with this element at its root.
    ///
    /// Some operations begin their answer before they know their end: then it is 200, and says that they failed.
    static func document(
        _ root: String, in answer: HTTPClientResponse, atMost limit: Int = 1 << 20
    ) async throws -> XMLTree {
        let tree: XMLTree
        do { tree = try XMLTree(try await body(of: answer, atMost: limit)) } catch let error as XMLTree.Malformed {
            throw S3Error.malformedAnswer(reason: error.reason)
        }
        if tree.name == "Error" { throw S3Error.unavailable(status: 200, code: tree["Code"]?.text ?? "") }
        guard tree.name == root else { throw S3Error.malformedAnswer(reason: "\(root) is missing") }
        return tree
    }
}

extension Duration {
    /// At most a year, so that no sum with it overflows.
    var asTimeAmount: TimeAmount { .milliseconds(min(wholeMilliseconds, 366 * 24 * 3600 * 1000)) }
}

extension Instant {
    /// Reads the date of an HTTP header: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7, the form that servers send).
    init?(httpDate text: String) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month + 1
        self.init("\(parts[3])-\(number < 10 ? "0" : "")\(number)-\(parts[1])T\(parts[4]).000Z")
    }

    /// Reads RFC 3339 with or without a fraction.
    init?(timestamp text: String) {
        self.init(text.contains(".") ? text : text.replacing("Z", with: ".000Z"))
    }
}
