import StillCodecs

/// The parameter sets of an H.264 stream: sequences' (type 7) and pictures' (type 8), as units with their headers.
struct ParameterSets: Hashable, Sendable {
    private(set) var sequences: [[UInt8]] = []
    private(set) var pictures: [[UInt8]] = []

    /// What a decoder's configuration holds, in MP4's form (`avcC`) or with start codes; nil where it is neither, or
    /// lacks one of the two.
    init?(configuration: UnsafeBufferPointer<UInt8>) {
        guard let framing = unsafe NALUnits.Framing(configuration: configuration) else { return nil }
        switch framing {
        case .startCodes:
            var units: [[UInt8]] = []
            let isSound = unsafe NALUnits.forEachContent(in: configuration, framing: framing) { range in
                units.append(unsafe Array(configuration[range]))
            }
            units.forEach { add($0) }
            guard isSound else { return nil }
        case .lengths:
            var position = 5
            for kind in 0..<2 {
                guard position < configuration.count else { return nil }
                let count = unsafe Int(configuration[position]) & (kind == 0 ? 0x1f : 0xff)
                position += 1
                for _ in 0..<count {
                    guard position + 2 <= configuration.count else { return nil }
                    let length = unsafe Int(configuration[position]) << 8 | Int(configuration[position + 1])
                    position += 2
                    guard length > 0, position + length <= configuration.count else { return nil }
                    add(unsafe Array(configuration[position..<position + length]))
                    position += length
                }
            }
        }
        guard !sequences.isEmpty, !pictures.isEmpty, sequences.count < 32, pictures.count < 255 else { return nil }
    }

    private mutating func add(_ unit: [UInt8]) {
        guard let header = unit.first, unit.count > 1, unit.count < 65_536, !contains(unit) else { return }
        if header & 0x1f == 7, unit.count > 4 { sequences.append(unit) }
        if header & 0x1f == 8 { pictures.append(unit) }
    }

    func contains(_ unit: some Collection<UInt8>) -> Bool {
        (sequences + pictures).contains { $0.elementsEqual(unit) }
    }

    /// Both, for pictures of either.
    func joined(with other: ParameterSets) -> ParameterSets {
        var joined = self
        for unit in other.sequences + other.pictures { joined.add(unit) }
        return joined
    }

    /// The same with another set for its sequences.
    func replacing(sequence unit: [UInt8]) -> ParameterSets {
        var replaced = self
        replaced.sequences = [unit]
        return replaced
    }

    /// Why players may not show what these describe, as a clause; nil where all of them do.
    ///
    /// Phones decode the profiles Constrained Baseline, Main and High (ITU-T H.264, A.2), up to level 5.2. What else calls
    /// itself one that Baseline's or Main's decoders take, by its flags, they take as well. Of Baseline's own tools they have
    /// none: groups of slices and redundant pictures.
    var obstacle: String? {
        for unit in sequences where unit.count > 3 {
            let (profile, constraints, level) = (unit[1], unit[2], unit[3])
            guard [66, 77, 100].contains(profile) || profile == 88 && constraints & 0xc0 != 0 else {
                return "its profile \(profile) is more than players take"
            }
            guard level <= 52 else { return "its level \(rounded(Double(level) / 10)) is more than players take" }
        }
        for unit in pictures {
            var reader = BitReader(unit: unit)
            _ = (reader.unsigned(), reader.unsigned(), reader.bits(2))
            if reader.unsigned() > 0 { return "its slices are grouped" }
            _ = (reader.unsigned(), reader.unsigned(), reader.bits(3))
            // Three numbers with signs, and two flags.
            _ = (reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.bits(2))
            if reader.bit() { return "it has redundant pictures" }
        }
        return nil
    }

    /// An identifier that neither a sequence's set nor a picture's has.
    var freeIdentifier: UInt32? {
        let used = (sequences.map { ($0, 3) } + pictures.map { ($0, 0) }).map { unit, skipped in
            var reader = BitReader(unit: unit)
            _ = reader.bits(8 * skipped)
            return reader.unsigned()
        }
        return (0..<32).first { !used.contains($0) }
    }

    /// In MP4's form, with lengths of four bytes, for 8 bits, 4:2:0; nothing else is in it.
    var configuration: [UInt8] {
        guard let first = sequences.first else { return [] }
        var bytes: [UInt8] = [1, first[1], first[2], first[3], 0xff, 0xe0 | UInt8(sequences.count)]
        func add(_ unit: [UInt8]) { bytes += [UInt8(unit.count >> 8), UInt8(unit.count & 0xff)] + unit }
        sequences.forEach(add)
        bytes.append(UInt8(pictures.count))
        pictures.forEach(add)
        if ![66, 77, 88].contains(first[1]) { bytes += [0xfd, 0xf8, 0xf8, 0] }
        return bytes
    }
}
