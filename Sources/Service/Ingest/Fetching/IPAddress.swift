import Glibc

/// An IPv4 or IPv6 address, without a zone.
public enum IPAddress: Hashable, Sendable {
    /// The 32 bits, the first octet highest.
    case v4(UInt32)
    /// The 128 bits, the first group highest.
    case v6(UInt128)

    /// Reads the one spelling of IPv4 that every program agrees on (four decimal numbers without leading zeros), or
    /// any of RFC 4291 for IPv6; nil for everything else, such as `0177.0.0.1`, `127.1` or a zone.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let text = String(text)
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            self.init(six)
        } else {
            return nil
        }
    }

    init(_ address: in6_addr) {
        self = .v6(
            unsafe withUnsafeBytes(of: address) { bytes in
                unsafe bytes.reduce(0) { $0 << 8 | UInt128($1) }
            })
    }

    /// The number of bits, 32 or 128.
    var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The bits as a number, IPv4 in the lowest 32.
    var bits: UInt128 {
        switch self {
        case .v4(let bits): UInt128(bits)
        case .v6(let bits): bits
        }
    }

    /// The IPv4 addresses to which traffic for this IPv6 address may be carried: mapped and compatible, NAT64, 6to4,
    /// Teredo (client and server) and ISATAP.
    var embedded: [IPAddress] {
        guard case .v6(let bits) = self else { return [] }
        func part(_ shift: Int) -> IPAddress { .v4(UInt32(truncatingIfNeeded: bits >> UInt128(shift))) }
        var found: [IPAddress] = []
        // Compatible, but for the unspecified and the loopback address, which embed nothing.
        if bits >> 32 == 0, bits > 1 { found.append(part(0)) }
        // Mapped, and translated (RFC 2765).
        if bits >> 32 == 0xFFFF || bits >> 32 == 0xFFFF_0000 { found.append(part(0)) }
        // NAT64, the well-known and the local prefix.
        if bits >> 32 == 0x64_FF9B << 64 || bits >> 80 == 0x64_FF9B_0001 { found.append(part(0)) }
        if bits >> 112 == 0x2002 { found.append(part(80)) }
        if bits >> 96 == 0x2001_0000 { found += [part(64), .v4(~UInt32(truncatingIfNeeded: bits))] }
        // ISATAP is a form of the lower half, under any prefix; the universal bit may be set.
        if (bits >> 32) & 0xFDFF_FFFF == 0x0000_5EFE { found.append(part(0)) }
        return found
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical spelling (RFC 5952 for IPv6).
    public var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let bits):
            var address = in_addr(s_addr: bits.bigEndian)
            unsafe inet_ntop(AF_INET, &address, &buffer, socklen_t(buffer.count))
        case .v6(let bits):
            var address = in6_addr()
            unsafe withUnsafeMutableBytes(of: &address) { bytes in
                for index in 0..<16 {
                    unsafe bytes[index] = UInt8(truncatingIfNeeded: bits >> UInt128(8 * (15 - index)))
                }
            }
            unsafe inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count))
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// All addresses that share their first bits.
public struct AddressBlock: Hashable, Sendable {
    /// The lowest address of the block.
    public let first: IPAddress
    /// The number of bits shared.
    public let prefix: Int

    /// Nil where the prefix is longer than the address, or `first` has bits set beyond it.
    public init?(_ first: IPAddress, prefix: Int) {
        guard (0...first.width).contains(prefix) else { return nil }
        self.first = first
        self.prefix = prefix
        guard first.bits & hostMask == 0 else { return nil }
    }

    /// Reads `10.0.0.0/8`, `fd00::/8`, or one address.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        guard parts.count == 2 else {
            self.init(address, prefix: address.width)
            return
        }
        guard let digits = parts.last, (1...3).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let prefix = Int(digits)
        else { return nil }
        self.init(address, prefix: prefix)
    }

    /// Whether an address of the same family lies in the block.
    public func contains(_ address: IPAddress) -> Bool {
        address.width == first.width && address.bits & ~hostMask == first.bits
    }

    /// The bits in which the addresses of the block differ.
    var hostMask: UInt128 {
        let free = first.width - prefix
        return free == 128 ? .max : (1 << UInt128(free)) - 1
    }
}

extension AddressBlock: CustomStringConvertible {
    public var description: String { "\(first)/\(prefix)" }
}
