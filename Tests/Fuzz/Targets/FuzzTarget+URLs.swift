import SatchelCore

@testable import Ingest

extension FuzzTarget {
    /// URLs of sources, and what their redirects refer to: what is read is written so that it reads the same, and the guard says
    /// of it what it says of what was read.
    static let urls = FuzzTarget("urls") { bytes in
        let lines = FuzzInput.lines(bytes)
        _ = lines.dropFirst().first.map { try? FetchAllowance($0) }
        guard let first = lines.first, let url = try? FetchURL(first) else { return }
        check(url)
        for reference in lines.dropFirst() {
            if let next = try? url.resolving(reference) { check(next) }
        }
    }

    private static func check(_ url: FetchURL) {
        precondition((try? FetchURL(url.text)) == url, "it is written otherwise than it was read")
        precondition(url.target.hasPrefix("/") && url.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
        precondition(url.hostText.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\\%".utf8.contains($0) })
        _ = (url.fileName, url.origin, url.description)
        guard (try? FetchGuard().check(url)) != nil else { return }
        precondition(FetchGuard.ports.contains(url.port), "a port passes that may not")
        if case .address(let address) = url.host { checkPublic(address) }
    }

    /// What a name service answers: whatever is among it, the guard lets nothing pass that leads inside.
    static let addresses = FuzzTarget("addresses") { bytes in
        guard let url = try? FetchURL("https://media.example/") else { preconditionFailure("no URL") }
        var input = FuzzInput(bytes)
        let addresses = (0..<Int(input.byte() & 7)).map { _ -> IPAddress in
            input.byte() & 1 == 0 ? .v4(input.number(UInt32.self)) : .v6(input.number(UInt128.self))
        }
        for address in addresses { precondition(IPAddress(address.description) == address) }
        guard (try? FetchGuard().check(addresses, for: url)) != nil else { return }
        precondition(!addresses.isEmpty, "nothing at all passes")
        for address in addresses { checkPublic(address) }
    }

    /// By the first bits alone, as nobody would argue about them.
    private static func checkPublic(_ address: IPAddress) {
        switch address {
        case .v4(let bits):
            let first = bits >> 24
            precondition(![0, 10, 127].contains(first) && first < 224, "\(address) passes")
            precondition(![0xA9FE, 0xC0A8].contains(bits >> 16) && bits >> 20 != 0xAC1, "\(address) passes")
        case .v6(let bits):
            precondition(bits >> 125 == 1, "\(address) passes")
            // 6to4 and Teredo lead anywhere.
            precondition(bits >> 112 != 0x2002 && bits >> 96 != 0x2001_0000, "\(address) passes")
        }
    }
}
