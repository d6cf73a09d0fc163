public import SatchelCore

/// A URL that every program reads the same way: scheme `http` or `https`, a plain ASCII host or address, a port, and an
/// encoded path and query. No user name, no fragment.
///
/// Spellings on which parsers disagree are refused, not repaired: backslashes, white space and control characters,
/// percent signs or letters beyond ASCII in the host, numbers that only some resolvers take for addresses.
public struct FetchURL: Hashable, Sendable {
    /// Who is to be asked.
    public enum Host: Hashable, Sendable {
        /// In lower case, without a dot at the end.
        case name(String)
        case address(IPAddress)
    }

    /// Longer URLs are refused (in bytes).
    public static let maximumLength = 8192

    public let isSecure: Bool
    public let host: Host
    public let port: UInt16
    /// Path and query as they go into the request, always with the leading slash.
    public let target: String

    /// Reads an absolute URL.
    ///
    /// - Throws: `invalid_source`, saying what is wrong.
    public init(_ text: String) throws(AttachmentError) {
        let rest: Substring
        (isSecure, rest) = try Self.scheme(of: text)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        (host, port) = try Self.authority(rest[..<end], isSecure: isSecure)
        target = Self.encode(target: rest[end...])
    }

    private init(isSecure: Bool, host: Host, port: UInt16, target: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.target = target
    }

    /// What a `Location` refers to, seen from this URL (RFC 3986, section 5.2).
    ///
    /// Blanks within it are encoded, as browsers do (WHATWG URL, section 4.4).
    ///
    /// - Throws: `invalid_source`, saying what is wrong.
    public func resolving(_ location: String) throws(AttachmentError) -> FetchURL {
        let reference = location.replacing(" ", with: "%20")
        try Self.refuseAmbiguities(reference)
        if let colon = reference.firstIndex(where: { ":/?#".contains($0) }), reference[colon] == ":" {
            return try FetchURL(reference)
        }
        if reference.hasPrefix("//") { return try FetchURL((isSecure ? "https:" : "http:") + reference) }
        let path = target.prefix { $0 != "?" }
        let merged: String
        switch reference.first {
        case nil, "#": merged = target
        case "?": merged = path + Self.encode(part: reference.prefix { $0 != "#" })
        case "/": merged = Self.encode(target: reference[...])
        default:
            let directory = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
            merged = directory + Self.encode(part: reference.prefix { $0 != "#" })
        }
        return FetchURL(isSecure: isSecure, host: host, port: port, target: Self.withoutDots(merged))
    }

    /// The scheme, host and port as one text, which two URLs of one origin share.
    public var origin: String {
        "\(isSecure ? "https" : "http")://\(bracketedHost):\(port)"
    }

    /// The canonical text. The port is left out where it is the scheme's own.
    public var text: String {
        let scheme = isSecure ? "https" : "http"
        return port == (isSecure ? 443 : 80)
            ? "\(scheme)://\(bracketedHost)\(target)" : "\(scheme)://\(bracketedHost):\(port)\(target)"
    }

    /// The host's name or address, without brackets.
    public var hostText: String {
        switch host {
        case .name(let name): name
        case .address(let address): address.description
        }
    }

    private var bracketedHost: String {
        if case .address(.v6(_)) = host { "[\(hostText)]" } else { hostText }
    }

    /// The last component of the path for people, decoded and without what no file name holds; nil where it is empty.
    public var fileName: String? { URLLabel.fileName(ofPath: target) }

    // MARK: Reading

    private static func scheme(of text: String) throws(AttachmentError) -> (isSecure: Bool, rest: Substring) {
        try refuseAmbiguities(text)
        guard let colon = text.firstIndex(of: ":") else {
            throw .invalidSource(reason: "the URL must begin with https:// or http://")
        }
        let isSecure: Bool
        switch text[..<colon].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: throw .invalidSource(reason: "the URL's scheme must be https or http")
        }
        let rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else {
            throw .invalidSource(reason: "the URL has no '//' after its scheme")
        }
        return (isSecure, rest.dropFirst(2))
    }

    private static func refuseAmbiguities(_ text: String) throws(AttachmentError) {
        guard text.utf8.count <= maximumLength else {
            throw .invalidSource(reason: "the URL is longer than \(maximumLength) bytes")
        }
        for scalar in text.unicodeScalars {
            if scalar == "\\" { throw .invalidSource(reason: "the URL contains a backslash; write it as %5C") }
            if scalar.value <= 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace {
                throw .invalidSource(reason: "the URL contains white space or a control character; percent-encode it")
            }
        }
    }

    private static func authority(
        _ text: Substring, isSecure: Bool
    ) throws(AttachmentError) -> (Host, UInt16) {
        guard !text.utf8.contains(UInt8(ascii: "@")) else {
            throw .invalidSource(
                reason: "the URL contains a user name or password; send an Authorization header instead")
        }
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .invalidSource(reason: "the host contains non-ASCII letters; write it in its ASCII form (xn--…)")
        }
        let hostText: Substring
        let portText: Substring
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else {
                throw .invalidSource(reason: "the host's bracket is not closed")
            }
            hostText = text[...close]
            portText = text[text.index(after: close)...]
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            hostText = text[..<colon]
            portText = text[colon...]
        }
        return (try host(hostText), try port(portText) ?? (isSecure ? 443 : 80))
    }

    private static func host(_ text: Substring) throws(AttachmentError) -> Host {
        if text.hasPrefix("[") {
            guard case .v6(let bits)? = IPAddress(text.dropFirst().dropLast()) else {
                throw .invalidSource(reason: "the host in brackets is not an IPv6 address")
            }
            return .address(.v6(bits))
        }
        guard let name = canonicalName(text) else {
            throw .invalidSource(reason: "the URL has no usable host")
        }
        // A last label that is a number makes some resolvers read the whole name as an address.
        let last = name.split(separator: ".").last ?? ""
        if last.utf8.allSatisfy({ $0.isDigit }) || last.hasPrefix("0x") {
            guard let address = IPAddress(name) else {
                throw .invalidSource(reason: "the host is a number, but not an IPv4 address of four decimal parts")
            }
            return .address(address)
        }
        return .name(name)
    }

    /// A host name in lower case without a dot at the end; nil where it is none.
    static func canonicalName(_ text: some StringProtocol) -> String? {
        var name = text.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        guard (1...253).contains(name.utf8.count) else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy {
                    $0.isLowercaseLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                }
        }
        return isName ? name : nil
    }

    /// Nil where there is none.
    private static func port(_ text: Substring) throws(AttachmentError) -> UInt16? {
        guard !text.isEmpty else { return nil }
        let digits = text.dropFirst()
        guard text.hasPrefix(":"), let port = portNumber(digits) else {
            throw .invalidSource(reason: "the URL's port must be a number from 1 to 65535")
        }
        return port
    }

    /// A port without leading zeros or signs.
    static func portNumber(_ digits: some StringProtocol) -> UInt16? {
        guard digits.utf8.allSatisfy(\.isDigit), !digits.hasPrefix("0") else { return nil }
        return UInt16(digits)
    }

    // MARK: Encoding

    /// A path and query from what followed the authority, without the fragment.
    private static func encode(target: Substring) -> String {
        let kept = target.prefix { $0 != "#" }
        let encoded = encode(part: kept)
        return encoded.hasPrefix("/") ? encoded : "/" + encoded
    }

    /// Percent-encodes what a path or query may not hold as it is. What is encoded stays so.
    private static func encode(part: some StringProtocol) -> String {
        var encoded: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            let isEscape = byte == UInt8(ascii: "%") && rest.count >= 2 && rest.prefix(2).allSatisfy(\.isHexDigit)
            if isEscape || byte.isUnreservedOrDelimiter {
                encoded.append(byte)
            } else {
                encoded += PercentCoding.escape(byte)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Without the segments `.` and `..` (RFC 3986, section 5.2.4).
    private static func withoutDots(_ target: String) -> String {
        let path = target.prefix { $0 != "?" }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/") + target[path.endIndex...]
    }
}

extension FetchURL: CustomStringConvertible {
    /// Without the query, which may hold secrets.
    public var description: String {
        "\(origin)\(target.prefix { $0 != "?" })"
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }

    /// What stands for itself in a path or query: unreserved, sub-delimiters, and `: @ / ?` (RFC 3986, section 3.3).
    fileprivate var isUnreservedOrDelimiter: Bool {
        isDigit || isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
            || "-._~!$&'()*+,;=:@/?".utf8.contains(self)
    }
}
