/// An exception to the fetch guard, as `fetch.allow` and `callback.allow` list them: a host, an address or a block of
/// addresses, and a port where only one is meant.
///
///     media.internal          a host by name, whatever it resolves to, on every port
///     media.internal:8080     the same on one port
///     10.20.0.0/16            every host that resolves into the block, on every port
///     10.20.0.7:8080, [fd00::/8]:8080, fd00::7
public struct FetchAllowance: Hashable, Sendable {
    /// Who is allowed.
    public enum Subject: Hashable, Sendable {
        /// In lower case.
        case host(String)
        case block(AddressBlock)
    }

    public let subject: Subject
    /// Nil for every port.
    public let port: UInt16?

    /// Reads one entry of the setting.
    ///
    /// - Throws: What is wrong with it and what would do.
    public init(_ text: String) throws(FetchAllowanceProblem) {
        let subjectText: Substring
        let portText: Substring?
        let colons = text.count { $0 == ":" }
        if text.hasPrefix("["), let close = text.firstIndex(of: "]") {
            subjectText = text[..<close].dropFirst()
            let rest = text[text.index(after: close)...]
            guard rest.isEmpty || rest.hasPrefix(":") else {
                throw FetchAllowanceProblem(
                    value: text, remedy: "only a colon and a port may follow the bracket")
            }
            portText = rest.isEmpty ? nil : rest.dropFirst()
        } else if colons == 1, let colon = text.firstIndex(of: ":") {
            subjectText = text[..<colon]
            portText = text[text.index(after: colon)...]
        } else {
            subjectText = text[...]
            portText = nil
        }
        if let portText {
            guard let port = FetchURL.portNumber(portText) else {
                throw FetchAllowanceProblem(value: text, remedy: "the port must be a number from 1 to 65535")
            }
            self.port = port
        } else {
            port = nil
        }
        subject = try Self.subject(subjectText, in: text)
    }

    private static func subject(_ text: Substring, in entry: String) throws(FetchAllowanceProblem) -> Subject {
        if let block = AddressBlock(text) { return .block(block) }
        if text.contains("/") || text.contains(":") {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let address = parts.first.flatMap({ IPAddress($0) }),
                let prefix = parts.last.flatMap({ Int($0) }), (0...address.width).contains(prefix)
            else {
                throw FetchAllowanceProblem(
                    value: entry,
                    remedy: "a block must be like 10.20.0.0/16 or fd00::/8, with a port like [fd00::/8]:8080"
                )
            }
            // A block whose address has more bits than its prefix: the one around it was probably meant.
            let first = address.bits & ~(prefix == 0 ? .max : (1 << UInt128(address.width - prefix)) - 1)
            let suggestion: IPAddress = address.width == 32 ? .v4(UInt32(first)) : .v6(first)
            throw FetchAllowanceProblem(
                value: entry, remedy: "the address has bits beyond the prefix; use \(suggestion)/\(prefix)")
        }
        let last = text.split(separator: ".").last ?? ""
        guard let name = FetchURL.canonicalName(text), !last.utf8.allSatisfy(\.isDigit), !last.hasPrefix("0x") else {
            throw FetchAllowanceProblem(
                value: entry, remedy: "must be a host name, an address or a block, without scheme, path or wildcard")
        }
        return .host(name)
    }

    /// Reads all entries of a setting.
    ///
    /// - Throws: Every problem, not only the first.
    public static func list(_ texts: [String]) throws(FetchAllowanceProblems) -> [FetchAllowance] {
        var allowances: [FetchAllowance] = []
        var problems: [FetchAllowanceProblem] = []
        for text in texts {
            do {
                allowances.append(try FetchAllowance(text))
            } catch {
                problems.append(error)
            }
        }
        guard problems.isEmpty else { throw FetchAllowanceProblems(problems: problems) }
        return allowances
    }

    func allows(host: String, port: UInt16) -> Bool {
        subject == .host(host) && (self.port ?? port) == port
    }

    func allows(address: IPAddress, port: UInt16) -> Bool {
        guard case .block(let block) = subject else { return false }
        return block.contains(address) && (self.port ?? port) == port
    }
}

/// What is wrong with one entry of `fetch.allow`.
public struct FetchAllowanceProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public var value: String
    /// What would do.
    public var remedy: String

    public var description: String { "fetch.allow '\(value)': \(remedy)" }
}

/// Everything that is wrong with `fetch.allow`.
public struct FetchAllowanceProblems: Error, Hashable, Sendable, CustomStringConvertible {
    public var problems: [FetchAllowanceProblem]

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
