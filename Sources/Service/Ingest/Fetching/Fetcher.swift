import AsyncHTTPClient
public import SatchelCore
import FoundationEssentials
import NIOCore
import NIOHTTP1
package import NIOSSL
import Platform

/// Brings a URL's bytes into the spool, contacting nothing that the guard refuses.
///
/// A name is resolved once; every address is checked, and the connection goes to exactly one of those that were, while
/// `Host` and the TLS server name stay the URL's. Redirects are followed by hand, each checked from the start. The
/// environment's proxies are ignored, cookies are not kept, and nothing of the body stays in memory but the piece that
/// is being written.
public struct Fetcher: Sendable {
    /// How many redirects are followed by default; curl and wget follow 50 and 20, browsers 20.
    public static let defaultRedirects = 10

    /// Answers with all addresses of a host name.
    public typealias Resolve = @Sendable (String) async throws -> [IPAddress]

    /// Told how far a fetch is: bytes so far, and in all where the origin said.
    public typealias FetchReport = @Sendable (_ received: Int64, _ total: Int64?) -> Void

    private let client: GuardedClient
    private let spool: Spool
    private let traced: TracedOrigins
    private let redirects: Int

    /// - Parameters:
    ///   - gate: Decides who may be contacted.
    ///   - spool: Where the bytes go.
    ///   - userAgent: Such as `Satchel/1.0`.
    ///   - traced: Origins that receive the trace of a fetch.
    ///   - redirects: A fetch fails at the redirect after this many.
    ///   - resolve: Stands in for the system's name service.
    package init(
        guardedBy gate: FetchGuard, into spool: Spool, userAgent: String, tracing traced: TracedOrigins = .init(),
        redirects: Int = Self.defaultRedirects, resolve: Resolve? = nil, trustRoots: NIOSSLTrustRoots = .default
    ) {
        client = GuardedClient(guardedBy: gate, userAgent: userAgent, resolve: resolve, trustRoots: trustRoots)
        self.spool = spool
        self.traced = traced
        self.redirects = redirects
    }

    /// Fetches a URL.
    ///
    /// - Parameters:
    ///   - headers: Sent to the URL's own origin (scheme, host and port) alone, and dropped on a redirect elsewhere.
    ///   - trace: A `traceparent`, sent to the URL's own origin alone, and only where that is one of those that are told.
    ///   - progress: Told the bytes that came so far, and all where the origin told, at most 4 times a second.
    /// - Returns: A file of the spool, which disappears with the answer.
    /// - Throws: `invalid_source`, `blocked_address`, `fetch_failed`, `fetch_timeout`, `source_too_large`,
    ///   `store_failed`, `store_full`; then nothing is left in the spool. A cancelled task gets `fetch_failed`.
    public func fetch(
        _ url: String, headers: [String: String] = [:], trace: String? = nil,
        within limits: FetchLimits = FetchLimits(), progress report: FetchReport? = nil
    ) async throws(AttachmentError) -> FetchedSource {
        do {
            let source = try await fetchUncounted(
                url, headers: headers, trace: trace, within: limits, telling: report)
            JobMetrics.count("fetches_total", [("result", "fetched")])
            return source
        } catch {
            JobMetrics.count("fetches_total", [("result", error.code.rawValue)])
            throw error
        }
    }

    private func fetchUncounted(
        _ url: String, headers: [String: String], trace: String?, within limits: FetchLimits,
        telling report: FetchReport?
    ) async throws(AttachmentError) -> FetchedSource {
        let url = try FetchURL(url)
        var headers = try FetchHeaders(headers)
        if let trace, traced.contains(url) { headers.addUnlessThere("traceparent", trace) }
        let own = headers
        let progress = FetchProgress(telling: report)
        defer { JobMetrics.count("fetched_bytes_total", by: progress.bytes) }
        let result = await withTaskGroup(of: Result<FetchedSource, AttachmentError>?.self) { group in
            group.addTask {
                do {
                    return .success(try await follow(url, headers: own, within: limits, telling: progress))
                } catch {
                    return .failure(FetchFailure.describe(error, after: progress.elapsed))
                }
            }
            group.addTask {
                await progress.watch(limits).map { .failure($0) }
            }
            var first: Result<FetchedSource, AttachmentError>?
            for await result in group {
                guard let result, first == nil else { continue }
                first = result
                group.cancelAll()
            }
            return first
        }
        guard let result else { throw .fetchFailed(.reset, reason: "the fetch was cancelled") }
        return try result.get()
    }

    private func follow(
        _ first: FetchURL, headers: FetchHeaders, within limits: FetchLimits, telling progress: FetchProgress
    ) async throws -> FetchedSource {
        var url = first
        var followed = 0
        while true {
            let own = url.origin == first.origin ? headers : FetchHeaders()
            switch try await ask(url, headers: own, within: limits, telling: progress) {
            case .fetched(let source): return source
            case .redirect(let location):
                followed += 1
                guard followed <= redirects else {
                    throw AttachmentError.fetchFailed(
                        .redirect, reason: "too many redirects (limit \(redirects))")
                }
                let next: FetchURL
                do {
                    next = try url.resolving(location)
                } catch {
                    throw AttachmentError.fetchFailed(.redirect, reason: "it redirects to an unusable URL")
                }
                guard next.isSecure || !url.isSecure else {
                    throw AttachmentError.fetchFailed(.redirect, reason: "it redirects from https to http")
                }
                url = next
            }
        }
    }

    /// What one request came to.
    private enum Answer {
        case fetched(FetchedSource)
        case redirect(to: String)
    }

    private func ask(
        _ url: FetchURL, headers: FetchHeaders, within limits: FetchLimits, telling progress: FetchProgress
    ) async throws -> Answer {
        // The whole fetch has a limit of its own, which cancels; this one only has to be no shorter.
        try await client.send(to: url, connect: limits.connect, time: limits.time) { request in
            headers.add(to: &request.headers)
            request.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
            if !request.headers.contains(name: "Accept") {
                request.headers.add(name: "Accept", value: "image/*, video/*, audio/*, */*;q=0.5")
            }
        } read: { response in
            try await read(response, from: url, within: limits, telling: progress)
        }
    }

    /// The content codings of IANA's registry (RFC 9110, section 8.4.1) that change bytes. Origins also send other words there,
    /// such as `aws-chunked` and `utf-8`, with plain bytes.
    private static let codings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]

    private func read(
        _ response: HTTPClientResponse, from url: FetchURL, within limits: FetchLimits,
        telling progress: FetchProgress
    ) async throws -> Answer {
        let status = Int(response.status.code)
        if [301, 302, 303, 307, 308].contains(status), let location = response.headers.first(name: "Location") {
            return .redirect(to: location)
        }
        // 203: a proxy changed the answer on its way.
        guard [200, 203].contains(status) else {
            let reason = FetchFailure.clean(response.status.reasonPhrase)
            throw AttachmentError.fetchFailed(
                .status, status: status, reason: reason.isEmpty ? "no file" : reason)
        }
        let codings = response.headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
        guard !codings.contains(where: Self.codings.contains) else {
            throw AttachmentError.fetchFailed(
                .encoding, reason: "it sent the file compressed, which the request excluded")
        }
        guard response.headers["Transfer-Encoding"].allSatisfy({ ["", "chunked"].contains($0.lowercased()) }) else {
            throw AttachmentError.fetchFailed(.encoding, reason: "it sent the file in an unknown encoding")
        }
        let announced = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        if let announced, announced > limits.bytes {
            throw AttachmentError.sourceTooLarge(bytes: announced, limit: limits.bytes)
        }

        let writer = SpoolWriter(try spool.create(expecting: announced))
        progress.startBody(of: announced)
        for try await piece in response.body {
            try Task.checkCancellation()
            let total = progress.received(Int64(piece.readableBytes))
            guard total <= limits.bytes else {
                throw AttachmentError.sourceTooLarge(bytes: announced ?? total, limit: limits.bytes)
            }
            progress.pause()
            try await writer.write(piece)
            progress.resume()
        }
        progress.endBody()
        try Task.checkCancellation()
        let (file, bytes) = try writer.finish()
        return .fetched(
            FetchedSource(
                file: file, bytes: bytes,
                contentType: response.headers.first(name: "Content-Type").flatMap(FetchFailure.mediaType),
                fileName: url.fileName, url: url))
    }
}

/// A source that was fetched.
public struct FetchedSource: Sendable {
    public var file: ScratchFile
    public var bytes: Int64
    /// What the origin says it is, without parameters, in lower case.
    public var contentType: String?
    /// The last component of the final URL, for people.
    public var fileName: String?
    /// The URL that answered, after redirects.
    public var url: FetchURL
}
