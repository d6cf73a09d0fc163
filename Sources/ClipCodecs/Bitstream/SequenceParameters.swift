import StillCodecs

/// An H.264 sequence parameter set, clause 7.3.2.1 and annex E: as far as pictures of another encoder have to match it.
struct SequenceParameters: Hashable, Sendable {
    /// 66 is Baseline, 77 Main, 100 High.
    var profile: UInt8
    var constraints: UInt8
    var level: UInt8
    var id: UInt32
    /// All samples have 8 bits, 4:2:0, and no scaling matrices; always so below the High profile.
    var isPlain = true
    var frameNumberBits: UInt32
    /// Of 0, 1, 2: how the order of pictures is coded.
    var orderType: UInt32
    /// Of type 0.
    var orderBits: UInt32 = 0
    var references: UInt32
    var allowsGaps: Bool
    /// In macroblocks, less one.
    var width: UInt32
    var height: UInt32
    /// No picture is coded in fields.
    var hasOnlyFrames: Bool
    var infersDirect8x8: Bool
    /// Left, right, top, bottom, in units of two samples.
    var crop: [UInt32]?
    var usability: Usability?

    /// What is said for whoever shows the pictures.
    struct Usability: Hashable, Sendable {
        /// Shape of a pixel: `aspect_ratio_idc`, width and height; the latter count where the first is 255.
        var aspect: [UInt32]?
        var overscan: Bool?
        var signal: Signal?
        /// Where chroma lies, of the top field and the bottom field.
        var chromaLocation: [UInt32]?
        var timing: Timing?
        var restriction: Restriction?
    }

    struct Signal: Hashable, Sendable {
        var format: UInt32
        var isFullRange: Bool
        /// Primaries, transfer, matrix.
        var colours: [UInt32]?
    }

    struct Timing: Hashable, Sendable {
        var unitsInTick: UInt32
        var scale: UInt32
        var isFixed: Bool
    }

    struct Restriction: Hashable, Sendable {
        var vectorsCrossBorders: Bool
        var bytesDenominator: UInt32
        var bitsDenominator: UInt32
        var horizontalVectorBits: UInt32
        var verticalVectorBits: UInt32
        /// Pictures that may precede one in decoding order and follow it in output order.
        var reordered: UInt32
        /// Pictures that a decoder keeps.
        var buffered: UInt32
    }

    private static let highProfiles: Set<UInt8> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    /// - Parameter unit: With its header. Nil where it breaks off or has more than it should.
    init?(unit: [UInt8]) {
        guard unit.count > 4, unit[0] & 0x1f == 7 else { return nil }
        var reader = ParameterReader(unit: unit)
        profile = UInt8(truncatingIfNeeded: reader.bits(8))
        constraints = UInt8(truncatingIfNeeded: reader.bits(8))
        level = UInt8(truncatingIfNeeded: reader.bits(8))
        id = reader.unsigned()
        if Self.highProfiles.contains(profile) {
            let chroma = reader.unsigned()
            guard chroma != 3 else { return nil }
            isPlain = chroma == 1 && reader.unsigned() == 0 && reader.unsigned() == 0 && !reader.bit() && !reader.bit()
            // The rest can't be read without these, and isn't needed.
            guard isPlain else { return nil }
        }
        frameNumberBits = reader.unsigned() + 4
        orderType = reader.unsigned()
        switch orderType {
        case 0: orderBits = reader.unsigned() + 4
        case 2: break
        default: return nil
        }
        references = reader.unsigned()
        allowsGaps = reader.bit()
        width = reader.unsigned()
        height = reader.unsigned()
        hasOnlyFrames = reader.bit()
        if !hasOnlyFrames { _ = reader.bit() }
        infersDirect8x8 = reader.bit()
        if reader.bit() { crop = (0..<4).map { _ in reader.unsigned() } }
        if reader.bit() {
            guard let read = Usability(&reader) else { return nil }
            usability = read
        }
        guard id < 32, frameNumberBits <= 16, orderBits <= 16, references <= 16, reader.isAtEnd else { return nil }
    }

    /// As a unit of a stream; of what it reads, HRD parameters are not written.
    var unit: [UInt8] {
        var writer = ParameterWriter()
        writer.bits(UInt32(profile), 8)
        writer.bits(UInt32(constraints), 8)
        writer.bits(UInt32(level), 8)
        writer.unsigned(id)
        if Self.highProfiles.contains(profile) {
            writer.unsigned(1)
            writer.unsigned(0)
            writer.unsigned(0)
            writer.bit(false)
            writer.bit(false)
        }
        writer.unsigned(frameNumberBits - 4)
        writer.unsigned(orderType)
        if orderType == 0 { writer.unsigned(orderBits - 4) }
        writer.unsigned(references)
        writer.bit(allowsGaps)
        writer.unsigned(width)
        writer.unsigned(height)
        writer.bit(hasOnlyFrames)
        if !hasOnlyFrames { writer.bit(false) }
        writer.bit(infersDirect8x8)
        writer.bit(crop != nil)
        for side in crop ?? [] { writer.unsigned(side) }
        writer.bit(usability != nil)
        usability?.write(&writer)
        return writer.unit(header: 0x67)
    }

    /// These parameters for pictures that go between `other`'s: with its profile, its level, and all that it says for
    /// whoever shows or keeps pictures, so that a decoder which goes from one to the other changes nothing.
    ///
    /// - Returns: Nil where the pictures are of another size, or need more than it provides.
    func matching(_ other: SequenceParameters, reordered: UInt32, buffered: UInt32) -> SequenceParameters? {
        guard width == other.width, height == other.height, crop == other.crop, hasOnlyFrames, other.hasOnlyFrames,
            let own = usability?.restriction, own.reordered <= reordered, own.buffered <= buffered,
            references <= buffered
        else { return nil }
        var matched = self
        matched.profile = other.profile
        matched.constraints = other.constraints
        matched.level = other.level
        matched.usability = other.usability ?? Usability()
        let known = matched.usability?.restriction
        matched.usability?.restriction = Restriction(
            vectorsCrossBorders: true, bytesDenominator: 0, bitsDenominator: 0,
            horizontalVectorBits: max(own.horizontalVectorBits, known?.horizontalVectorBits ?? 16),
            verticalVectorBits: max(own.verticalVectorBits, known?.verticalVectorBits ?? 16), reordered: reordered,
            buffered: buffered)
        return matched
    }

    /// Pictures that a decoder keeps where the set doesn't say so: clause A.3.1, by level and size.
    var mostBuffered: UInt32 {
        let macroblocks: [UInt8: UInt32] = [
            10: 396, 11: 900, 12: 2376, 13: 2376, 20: 2376, 21: 4752, 22: 8100, 30: 8100, 31: 18_000, 32: 20_480,
            40: 32_768, 41: 32_768, 42: 34_816, 50: 110_400, 51: 184_320, 52: 184_320, 60: 696_320, 61: 696_320,
            62: 696_320,
        ]
        let (area, overflow) = (width &+ 1).multipliedReportingOverflow(by: height &+ 1)
        guard let most = macroblocks[level], area > 0, !overflow else { return 16 }
        return min(16, most / area)
    }
}

extension SequenceParameters.Usability {
    fileprivate init?(_ reader: inout ParameterReader) {
        if reader.bit() {
            let shape = reader.bits(8)
            aspect = shape == 255 ? [255, reader.bits(16), reader.bits(16)] : [shape]
        }
        if reader.bit() { overscan = reader.bit() }
        if reader.bit() {
            var read = SequenceParameters.Signal(format: reader.bits(3), isFullRange: reader.bit())
            if reader.bit() { read.colours = (0..<3).map { _ in reader.bits(8) } }
            signal = read
        }
        if reader.bit() { chromaLocation = (0..<2).map { _ in reader.unsigned() } }
        if reader.bit() {
            timing = SequenceParameters.Timing(
                unitsInTick: reader.bits(32), scale: reader.bits(32), isFixed: reader.bit())
        }
        var hasBuffer = false
        for _ in 0..<2 where reader.bit() {
            hasBuffer = true
            guard Self.skipBuffer(&reader) else { return nil }
        }
        if hasBuffer { _ = reader.bit() }
        _ = reader.bit()
        if reader.bit() {
            restriction = SequenceParameters.Restriction(
                vectorsCrossBorders: reader.bit(), bytesDenominator: reader.unsigned(),
                bitsDenominator: reader.unsigned(), horizontalVectorBits: reader.unsigned(),
                verticalVectorBits: reader.unsigned(), reordered: reader.unsigned(), buffered: reader.unsigned())
            guard let restriction, restriction.buffered <= 16, restriction.reordered <= restriction.buffered else {
                return nil
            }
        }
    }

    private static func skipBuffer(_ reader: inout ParameterReader) -> Bool {
        let count = reader.unsigned()
        guard count < 32 else { return false }
        _ = reader.bits(8)
        for _ in 0...count {
            _ = reader.unsigned()
            _ = reader.unsigned()
            _ = reader.bit()
        }
        _ = reader.bits(20)
        return !reader.isOver
    }

    fileprivate func write(_ writer: inout ParameterWriter) {
        writer.bit(aspect != nil)
        if let aspect {
            writer.bits(aspect[0], 8)
            for side in aspect.dropFirst() { writer.bits(side, 16) }
        }
        writer.bit(overscan != nil)
        if let overscan { writer.bit(overscan) }
        writer.bit(signal != nil)
        if let signal {
            writer.bits(signal.format, 3)
            writer.bit(signal.isFullRange)
            writer.bit(signal.colours != nil)
            for value in signal.colours ?? [] { writer.bits(value, 8) }
        }
        writer.bit(chromaLocation != nil)
        for place in chromaLocation ?? [] { writer.unsigned(place) }
        writer.bit(timing != nil)
        if let timing {
            writer.bits(timing.unitsInTick, 32)
            writer.bits(timing.scale, 32)
            writer.bit(timing.isFixed)
        }
        // No HRD parameters of either kind, no structure of pictures: what they announce is not in the stream.
        writer.bits(0, 3)
        writer.bit(restriction != nil)
        if let restriction {
            writer.bit(restriction.vectorsCrossBorders)
            for value in [
                restriction.bytesDenominator, restriction.bitsDenominator, restriction.horizontalVectorBits,
                restriction.verticalVectorBits, restriction.reordered, restriction.buffered,
            ] { writer.unsigned(value) }
        }
    }
}
