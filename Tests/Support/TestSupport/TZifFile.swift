/// Writes a time zone's file, of version 2 (RFC 9636), for zones that don't exist.
public struct TZifFile {
    /// Seconds east of UTC, before the first change.
    public var initial: Int
    /// When clocks change, in seconds since 1970, and what they are set to.
    public var changes: [(at: Int, offset: Int)]
    /// A time zone as POSIX writes it; empty for none.
    public var footer: String

    public init(_ initial: Int, _ changes: [(at: Int, offset: Int)] = [], footer: String = "") {
        self.initial = initial
        self.changes = changes
        self.footer = footer
    }

    public var bytes: [UInt8] {
        var offsets = [initial]
        for change in changes where !offsets.contains(change.offset) { offsets.append(change.offset) }
        let empty =
            Self.header(version: 2, transitions: 0, types: 1, characters: 4) + Self.type(0) + Array("XYZ\0".utf8)
        var bytes = empty + Self.header(version: 2, transitions: changes.count, types: offsets.count, characters: 4)
        for change in changes { bytes += Self.number(change.at, size: 8) }
        for change in changes { bytes.append(UInt8(offsets.firstIndex(of: change.offset) ?? 0)) }
        for offset in offsets { bytes += Self.type(offset) }
        return bytes + Array("XYZ\0\n\(footer)\n".utf8)
    }

    public static func header(
        version: Int, utIndicators: Int = 0, standardIndicators: Int = 0, leapSeconds: Int = 0, transitions: Int,
        types: Int, characters: Int
    ) -> [UInt8] {
        let byte = version == 1 ? 0 : UInt8(ascii: "0") + UInt8(version)
        let counts = [utIndicators, standardIndicators, leapSeconds, transitions, types, characters]
        return Array("TZif".utf8) + [byte] + [UInt8](repeating: 0, count: 15) + counts.flatMap { number($0, size: 4) }
    }

    public static func type(_ offset: Int, isDaylight: UInt8 = 0, designation: UInt8 = 0) -> [UInt8] {
        number(offset, size: 4) + [isDaylight, designation]
    }

    /// Two's complement, the most significant byte first.
    public static func number(_ value: Int, size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
