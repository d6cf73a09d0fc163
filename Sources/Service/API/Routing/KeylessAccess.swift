import HTTPTypes
import Hummingbird
import Ingest

/// Who is let in where no key is required: the programs of this machine, but no web page that one of its browsers shows.
///
/// A page's own requests are told by `Sec-Fetch-Site`, and a page whose name was made to lead to this machine, for which
/// the browser takes the service to be the page's own site, by `Host`.
struct KeylessAccess: Sendable {
    /// The host of the public URL, in lower case.
    private let publicHost: String?

    init(publicURL: String) {
        let scheme = ["https://", "http://"].first(where: publicURL.hasPrefix) ?? ""
        publicHost = Self.host(of: publicURL.dropFirst(scheme.count).prefix { $0 != "/" })
    }

    func admits(_ request: Request) -> Bool {
        admits(host: request.head.authority, fetchSite: request.headers["Sec-Fetch-Site"])
    }

    /// - Parameters:
    ///   - host: What `Host` says; nil where it is missing.
    ///   - fetchSite: The same of `Sec-Fetch-Site`, which only browsers send.
    func admits(host: String?, fetchSite: String?) -> Bool {
        let sites = (fetchSite ?? "").split(separator: ",").map { $0.trimmingSpace().lowercased() }
        guard !sites.contains("cross-site"), !sites.contains("same-site") else { return false }
        guard let host = host.flatMap({ Self.host(of: $0) }) else { return false }
        return host == publicHost || Self.isLoopback(host)
    }

    /// Whether `Host` says that this machine was asked by itself; not where it is missing.
    static func isLoopback(_ authority: String?) -> Bool {
        authority.flatMap { host(of: $0) }.map { isLoopback($0) } ?? false
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" { return true }
        let address = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
        switch IPAddress(address) {
        case .v4(let bits)?: return !host.hasPrefix("[") && bits >> 24 == 127
        case .v6(let bits)?: return host.hasPrefix("[") && bits == 1
        case nil: return false
        }
    }

    /// The host of `host:port` in lower case, an IPv6 address in its brackets. A port says nothing about who asks: tunnels
    /// and proxies have others. Nil for what isn't written so.
    private static func host(of authority: some StringProtocol) -> String? {
        let isBracketed = authority.hasPrefix("[")
        let host = authority.prefix { isBracketed ? $0 != "]" : $0 != ":" } + (isBracketed ? "]" : "")
        guard authority.hasPrefix(host), host.utf8.count > (isBracketed ? 2 : 0) else { return nil }
        let port = authority.dropFirst(host.count)
        guard port.isEmpty || port.hasPrefix(":") && port.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return host.lowercased()
    }
}
