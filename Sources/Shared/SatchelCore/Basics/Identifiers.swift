public import FoundationEssentials

/// The owner of jobs, attachments and access; in every table and every query. The command line's is `local`.
public struct TenantID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The tenant of everything that the command line does.
    public static let local = TenantID(rawValue: "local")
}

/// Names a job within its tenant: the client's choice, or a generated UUIDv7.
public struct JobID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new one, unlike every other: a UUIDv7 in lower case.
    public static func generate() -> JobID {
        JobID(rawValue: UUID.version7().lowercase)
    }
}

/// Names an attachment in the whole store: a UUIDv7, so that ids sort by the time they were made.
public struct AttachmentID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new one, unlike every other: a UUIDv7 in lower case.
    public static func generate() -> AttachmentID {
        AttachmentID(rawValue: UUID.version7().lowercase)
    }

    /// When it was made, to the millisecond; nil for what is no UUIDv7.
    public var instant: Instant? {
        guard let uuid = UUID(uuidString: rawValue), uuid.uuid.6 >> 4 == 7 else { return nil }
        let bytes = [uuid.uuid.0, uuid.uuid.1, uuid.uuid.2, uuid.uuid.3, uuid.uuid.4, uuid.uuid.5]
        return Instant(milliseconds: bytes.reduce(0) { $0 << 8 | Int64($1) })
    }
}

/// Names one run of a command; jobs that carry it are claimed by that run alone.
public struct RunID: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A new one, unlike every other: a UUIDv7 in lower case.
    public static func generate() -> RunID {
        RunID(rawValue: UUID.version7().lowercase)
    }
}

extension String {
    /// What ids may be that clients choose.
    public static let clientIDs = "1 to 128 letters, digits, dots, underscores, tildes or hyphens"

    /// Whether a client may choose it as an id: it is of characters that need no encoding in a URL, and no path segment with
    /// a meaning of its own.
    public var isClientID: Bool {
        (1...128).contains(utf8.count) && self != "." && self != ".."
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "._~-".utf8.contains(byte)
                }
            }
    }
}

extension UUID {
    /// A version 7 UUID (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 random bits.
    public static func version7(at instant: Instant = .wallClock()) -> UUID {
        let high = UInt64.random(in: .min ... .max)
        let low = UInt64.random(in: .min ... .max)
        let time = UInt64(truncatingIfNeeded: instant.milliseconds)
        func byte(_ value: UInt64, _ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift) }
        return UUID(
            uuid: (
                byte(time, 40), byte(time, 32), byte(time, 24), byte(time, 16), byte(time, 8), byte(time, 0),
                0x70 | (byte(high, 8) & 0x0F), byte(high, 0),
                0x80 | (byte(low, 56) & 0x3F), byte(low, 48), byte(low, 40), byte(low, 32),
                byte(low, 24), byte(low, 16), byte(low, 8), byte(low, 0)
            ))
    }

    var lowercase: String { uuidString.lowercased() }
}
