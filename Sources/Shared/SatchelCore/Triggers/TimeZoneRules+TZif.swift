extension TimeZoneRules {
    /// Reads a TZif file of version 1 to 4 (RFC 9636); later versions, as far as they are like the fourth.
    ///
    /// A file may come from anywhere: whatever it says, this ends with rules or with an error, in time and memory that its
    /// size bounds.
    public init(tzif bytes: [UInt8]) throws(TZifError) {
        var reader = BigEndianReader(bytes)
        var header = try TZifHeader(&reader)
        if header.version == 1 {
            (transitions, offsets, initial) = try header.data(&reader, timeSize: 4)
            footer = nil
            return
        }
        // The first block is for readers of version 1.
        try reader.skip(header.size(timeSize: 4))
        header = try TZifHeader(&reader)
        (transitions, offsets, initial) = try header.data(&reader, timeSize: 8)
        let line = try reader.line()
        if line.isEmpty {
            footer = nil
        } else {
            guard let zone = POSIXTimeZone(line) else { throw .badFooter }
            footer = zone
        }
    }
}

/// What a block of a TZif file has.
private struct TZifHeader {
    var version: Int
    var utIndicators: Int
    var standardIndicators: Int
    var leapSeconds: Int
    var transitions: Int
    var types: Int
    var characters: Int

    init(_ reader: inout BigEndianReader) throws(TZifError) {
        guard reader.starts(with: "TZif".utf8) else { throw .noTZif }
        try reader.skip(4)
        let byte = try UInt8(reader.integer(size: 1) & 0xFF)
        switch byte {
        case 0: version = 1
        case UInt8(ascii: "2")...UInt8(ascii: "9"): version = Int(byte - UInt8(ascii: "0"))
        default: throw .unknownVersion(byte)
        }
        try reader.skip(15)
        utIndicators = try reader.count()
        standardIndicators = try reader.count()
        leapSeconds = try reader.count()
        transitions = try reader.count()
        types = try reader.count()
        characters = try reader.count()
    }

    /// Bytes of the data behind the header.
    func size(timeSize: Int) -> Int {
        transitions * (timeSize + 1) + types * 6 + characters + leapSeconds * (timeSize + 4) + standardIndicators
            + utIndicators
    }

    func data(
        _ reader: inout BigEndianReader, timeSize: Int
    ) throws(TZifError) -> (transitions: [Int64], offsets: [Int64], initial: Int64) {
        guard (1...256).contains(types) else { throw .badCount("typecnt") }
        guard characters > 0 else { throw .badCount("charcnt") }
        guard [0, types].contains(utIndicators) else { throw .badCount("isutcnt") }
        guard [0, types].contains(standardIndicators) else { throw .badCount("isstdcnt") }
        guard leapSeconds == 0 else { throw .countsLeapSeconds }
        // Before anything is reserved for what the header announces.
        guard size(timeSize: timeSize) <= reader.left else { throw .truncated }
        var times: [Int64] = []
        times.reserveCapacity(transitions)
        for _ in 0..<transitions {
            let time = try reader.integer(size: timeSize)
            if let last = times.last, time <= last { throw .unorderedTransitions }
            times.append(time)
        }
        var indices: [Int] = []
        indices.reserveCapacity(transitions)
        for _ in 0..<transitions {
            let index = Int(try reader.integer(size: 1) & 0xFF)
            guard index < types else { throw .badType }
            indices.append(index)
        }
        var offsets: [Int64] = []
        for _ in 0..<types {
            let offset = try reader.integer(size: 4)
            guard TimeZoneRules.offsetRange.contains(offset) else { throw .badOffset(Int(offset)) }
            let isDaylight = try reader.integer(size: 1)
            guard isDaylight == 0 || isDaylight == 1 else { throw .badType }
            guard try reader.integer(size: 1) & 0xFF < characters else { throw .badDesignation }
            offsets.append(offset)
        }
        try reader.skip(characters + standardIndicators + utIndicators)
        let bounds = TimeZoneRules.moments
        return (
            times.map { min(max($0, bounds.lowerBound), bounds.upperBound) }, indices.map { offsets[$0] }, offsets[0]
        )
    }
}

/// Reads numbers off the front of bytes, the most significant byte first.
private struct BigEndianReader {
    private let bytes: [UInt8]
    private var next = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var left: Int { bytes.count - next }

    func starts(with prefix: some Sequence<UInt8>) -> Bool {
        bytes[next...].starts(with: prefix)
    }

    mutating func skip(_ count: Int) throws(TZifError) {
        guard count <= left else { throw .truncated }
        next += count
    }

    /// In two's complement.
    mutating func integer(size: Int) throws(TZifError) -> Int64 {
        guard size <= left else { throw .truncated }
        var value = Int64(Int8(bitPattern: bytes[next]))
        for byte in bytes[next + 1..<next + size] { value = value << 8 | Int64(byte) }
        next += size
        return value
    }

    /// Four bytes without a sign.
    mutating func count() throws(TZifError) -> Int {
        Int(try integer(size: 4) & 0xFFFF_FFFF)
    }

    /// What stands between two newlines.
    mutating func line() throws(TZifError) -> ArraySlice<UInt8> {
        let newline = UInt8(ascii: "\n")
        guard left > 0, bytes[next] == newline, let end = bytes[(next + 1)...].firstIndex(of: newline) else {
            throw .badFooter
        }
        defer { next = end + 1 }
        return bytes[next + 1..<end]
    }
}
