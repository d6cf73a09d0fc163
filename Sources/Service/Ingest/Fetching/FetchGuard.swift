public import SatchelCore
import Synchronization

/// Decides which origins may be contacted: public addresses on the ports 80 and 443, and what is allowed besides.
///
/// It has no input or output: the fetcher asks before it resolves, and again with every address that the name
/// resolved to. One bad address refuses the host, for a name that leads to both kinds is an attack or a mistake.
public struct FetchGuard: Sendable {
    /// Ports that need no exception.
    public static let ports: Set<UInt16> = [80, 443]

    /// Shared by all copies.
    private final class Current: Sendable {
        let allowances: Mutex<[FetchAllowance]>

        init(_ allowances: [FetchAllowance]) { self.allowances = Mutex(allowances) }
    }

    private let current: Current
    private var allowances: [FetchAllowance] { current.allowances.withLock(\.self) }
    private let refused: (@Sendable (String) -> Void)?

    /// - Parameter refused: Told the address that a host resolved to and that is refused, for the log. Senders are never told.
    public init(allowing allowances: [FetchAllowance] = [], refused: (@Sendable (String) -> Void)? = nil) {
        current = Current(allowances)
        self.refused = refused
    }

    /// Replaces what is allowed, for all copies of this guard and for everything that begins from now on.
    public func allow(_ allowances: [FetchAllowance]) {
        current.allowances.withLock { $0 = allowances }
    }

    /// Refuses what no answer of the name service could make good, before it is asked.
    ///
    /// - Throws: `blocked_address`.
    public func check(_ url: FetchURL) throws(AttachmentError) {
        if case .address(let address) = url.host {
            try check([address], for: url)
            return
        }
        let couldPass =
            Self.ports.contains(url.port)
            || allowances.contains { allowance in
                switch allowance.subject {
                case .host: allowance.allows(host: url.hostText, port: url.port)
                case .block: (allowance.port ?? url.port) == url.port
                }
            }
        guard couldPass else {
            throw .blockedAddress(host: url.hostText, address: "port \(url.port)")
        }
        // By RFC 6761 these names lead to the loopback and nowhere else, whoever is asked.
        let isLocal = url.hostText == "localhost" || url.hostText.hasSuffix(".localhost")
        guard
            !isLocal || permits(.v4(0x7F00_0001), host: url.hostText, port: url.port)
                || permits(.v6(1), host: url.hostText, port: url.port)
        else { throw .blockedAddress(host: url.hostText, address: "loopback") }
    }

    /// Refuses a host unless every address that it resolved to may be contacted.
    ///
    /// - Throws: `blocked_address`, naming the first that may not; `fetch_failed` where there is none at all.
    public func check(_ addresses: [IPAddress], for url: FetchURL) throws(AttachmentError) {
        guard !addresses.isEmpty else {
            throw .fetchFailed(.dns, reason: "the host name has no address")
        }
        for address in addresses where !permits(address, host: url.hostText, port: url.port) {
            refused?(address.description)
            let isOnlyPort = SpecialAddresses.isPublic(address)
            throw .blockedAddress(
                host: url.hostText, address: isOnlyPort ? "port \(url.port)" : address.description)
        }
    }

    private func permits(_ address: IPAddress, host: String, port: UInt16) -> Bool {
        if allowances.contains(where: { $0.allows(host: host, port: port) }) { return true }
        func isAllowed(_ address: IPAddress) -> Bool {
            allowances.contains { $0.allows(address: address, port: port) }
        }
        let outer = isAllowed(address) || (Self.ports.contains(port) && SpecialAddresses.block(of: address) == nil)
        // An exception for an IPv6 block excuses the block, not every IPv4 network behind a translator.
        return outer && address.embedded.allSatisfy { isAllowed($0) || SpecialAddresses.block(of: $0) == nil }
    }
}
