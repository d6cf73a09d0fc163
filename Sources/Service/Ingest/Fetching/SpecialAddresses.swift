/// Addresses that are no public host's: the IANA special-purpose registries of IPv4 and IPv6 (RFC 6890 and what was
/// registered since), multicast, and for IPv6 everything that is not global unicast.
///
/// Blocks that the registries mark globally reachable (anycast of protocols, AS112) are here too: no origin is there.
enum SpecialAddresses {
    static let blocks: [AddressBlock] = [
        // IPv4.
        "0.0.0.0/8",  // this network
        "10.0.0.0/8",  // private
        "100.64.0.0/10",  // shared by carriers; also some clouds' metadata
        "127.0.0.0/8",  // loopback
        "169.254.0.0/16",  // link-local; metadata of most clouds
        "172.16.0.0/12",  // private
        "192.0.0.0/24",  // protocol assignments
        "192.0.2.0/24",  // documentation
        "192.31.196.0/24",  // AS112
        "192.52.193.0/24",  // AMT
        "192.88.99.0/24",  // 6to4 relays
        "192.168.0.0/16",  // private
        "192.175.48.0/24",  // AS112
        "198.18.0.0/15",  // benchmarks
        "198.51.100.0/24",  // documentation
        "203.0.113.0/24",  // documentation
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4",  // reserved, and broadcast
        // IPv6, outside 2000::/3.
        "::/3",  // unspecified, loopback, mapped, compatible, translated, NAT64, discard-only
        "4000::/2",  // unassigned; SRv6 (5f00::/16)
        "8000::/1",  // unassigned; fc00::/7 private, fe80::/10 link-local, fec0::/10 site-local, ff00::/8 multicast
        // IPv6, inside 2000::/3.
        "2001::/23",  // protocol assignments: Teredo, benchmarks, ORCHID, AMT, DRIP
        "2001:db8::/32",  // documentation
        "2002::/16",  // 6to4
        "2620:4f:8000::/48",  // AS112
        "3ffe::/16",  // 6bone, returned
        "3fff::/20",  // documentation
    ].compactMap(AddressBlock.init)

    /// The block that an address lies in, if it is no public host's.
    static func block(of address: IPAddress) -> AddressBlock? {
        blocks.first { $0.contains(address) }
    }

    /// Whether an address and everything embedded in it is a public host's.
    static func isPublic(_ address: IPAddress) -> Bool {
        block(of: address) == nil && address.embedded.allSatisfy { block(of: $0) == nil }
    }
}
