package import AsyncHTTPClient
import SatchelCore
import FoundationEssentials
import NIOCore
import NIOHTTP1
package import NIOSSL

/// Sends one request to exactly one of the addresses that the guard has checked.
///
/// A name is resolved once; every address is checked, and the connection goes to one of those that were, while `Host`
/// and the TLS server name stay the URL's. No redirect is followed, the environment's proxies are ignored, and cookies
/// are not kept.
package struct GuardedClient: Sendable {
    /// Addresses of one host that are tried when connections fail.
    static let maximumAddresses = 3

    private let gate: FetchGuard
    private let userAgent: String
    private let resolve: Fetcher.Resolve
    private let trustRoots: NIOSSLTrustRoots
    /// Nil: each request has a connection of its own.
    private let kept: KeptClients?

    /// - Parameters:
    ///   - keepsConnections: For many small requests to the same hosts: connections are used again as long as the name leads
    ///     to the address that they go to, and names are looked up for all that ask at about the same time.
    ///   - memory: How long such an answer is good.
    package init(
        guardedBy gate: FetchGuard, userAgent: String, resolve: Fetcher.Resolve?,
        trustRoots: NIOSSLTrustRoots = .default, keepsConnections: Bool = false,
        namesLast memory: Duration = .seconds(1)
    ) {
        self.gate = gate
        self.userAgent = userAgent
        let resolve = resolve ?? { try await NameResolver.addresses(of: $0) }
        if keepsConnections {
            let lookups = NameLookups(resolve, memory: memory)
            self.resolve = { try await lookups.addresses(of: $0) }
            kept = KeptClients()
        } else {
            self.resolve = resolve
            kept = nil
        }
        self.trustRoots = trustRoots
    }

    /// Closes what is kept. No request may be underway; another one may come.
    package func end() async {
        await kept?.end()
    }

    /// Sends a request and reads what comes back.
    ///
    /// - Parameters:
    ///   - connect: For one connection, TLS aside.
    ///   - time: For the request and its answer.
    ///   - prepare: Completes the request, for which URL and user agent are set.
    ///   - read: Is given the head of the answer, and its body to stream.
    package func send<Answer: Sendable>(
        to url: FetchURL, connect: Duration, time: Duration, prepare: (inout HTTPClientRequest) -> Void,
        read: (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        try gate.check(url)
        let addresses: [IPAddress]
        switch url.host {
        case .address(let address): addresses = [address]
        case .name(let name):
            addresses = try await resolve(name)
            try gate.check(addresses, for: url)
        }
        // The client parses the URL with another parser. Were its host not the one that was checked, the override would
        // not apply and the client would resolve the name by itself.
        guard let parsed = URL(string: url.text), parsed.host?.trimmingBrackets == url.hostText,
            UInt16(exactly: parsed.port ?? (url.isSecure ? 443 : 80)) == url.port
        else { throw AttachmentError.invalidSource(reason: "the URL is ambiguous") }

        var request = HTTPClientRequest(url: url.text)
        prepare(&request)
        request.headers.replaceOrAdd(name: "User-Agent", value: userAgent)
        let prepared = request
        var failure: any Error = AttachmentError.fetchFailed(.dns, reason: "the host name has no address")
        for address in addresses.prefix(Self.maximumAddresses) {
            do {
                return try await withClient(for: url, at: address, connect: connect) { client in
                    try await read(try await client.execute(prepared, timeout: time.asTimeAmount))
                }
            } catch let error where FetchFailure.isConnectionFailure(error) {
                failure = error
                try Task.checkCancellation()
            }
        }
        throw failure
    }

    private func withClient<Answer: Sendable>(
        for url: FetchURL, at address: IPAddress, connect: Duration, _ body: (HTTPClient) async throws -> Answer
    ) async throws -> Answer {
        guard let kept else {
            return try await HTTPClient.withHTTPClient(
                configuration: configuration(pinning: url, to: address, connect: connect), body)
        }
        return try await kept.with(KeptClients.Key(origin: url.origin, address: address)) {
            var configuration = configuration(pinning: url, to: address, connect: connect)
            configuration.connectionPool.idleTimeout = KeptClients.idle
            // How many there are at once is the caller's to limit.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
            return configuration
        } _: {
            try await body($0)
        }
    }

    private func configuration(
        pinning url: FetchURL, to address: IPAddress, connect: Duration
    ) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = trustRoots
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: connect.asTimeAmount),
            proxy: nil, decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        if case .name(let name) = url.host { configuration.dnsOverride = [name: address.description] }
        return configuration
    }
}

extension String {
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}

extension Duration {
    /// At most a year, so that no sum with it overflows.
    fileprivate var asTimeAmount: TimeAmount {
        .milliseconds(min(wholeMilliseconds, 366 * 24 * 3600 * 1000))
    }
}
