import StillCodecs

/// An H.264 sequence parameter set, clause 7.3.2.1 and annex E: as far as pictures of another encoder have to match it. All
/// samples have 8 bits, 4:2:0, and there are no scaling matrices.
struct SequenceParameters: Hashable, Sendable {
    /// 66 is Baseline, 77 Main, 100 High.
    var profile: UInt32 = 0
    var constraints: UInt32 = 0
    var level: UInt32 = 0
    var id: UInt32 = 0
    /// Less four.
    var frameNumberBits: UInt32 = 0
    /// Of 0, 1, 2: how the order of pictures is coded.
    var orderType: UInt32 = 0
    /// Of type 0; less four.
    var orderBits: UInt32 = 0
    var references: UInt32 = 0
    var allowsGaps = false
    /// In macroblocks, less one.
    var width: UInt32 = 0
    var height: UInt32 = 0
    /// No picture is coded in fields.
    var hasOnlyFrames = false
    var infersDirect8x8 = false
    /// Left, right, top, bottom, in units of two samples.
    var crop: [UInt32]?
    var usability: Usability?

    /// What is said for whoever shows the pictures.
    struct Usability: Hashable, Sendable {
        /// Shape of a pixel: `aspect_ratio_idc`, width and height; the latter are 0 unless the first is 255.
        var aspect: [UInt32]?
        var overscan: Bool?
        var signal: Signal?
        /// Where chroma lies, of the top field and the bottom field.
        var chromaLocation: [UInt32]?
        var timing: Timing?
        var restriction: Restriction?
    }

    struct Signal: Hashable, Sendable {
        var format: UInt32 = 5
        var isFullRange = false
        /// Primaries, transfer, matrix.
        var colours: [UInt32]?
    }

    struct Timing: Hashable, Sendable {
        var unitsInTick: UInt32 = 0
        var scale: UInt32 = 0
        var isFixed = false
    }

    struct Restriction: Hashable, Sendable {
        var vectorsCrossBorders = true
        var bytesDenominator: UInt32 = 0
        var bitsDenominator: UInt32 = 0
        var horizontalVectorBits: UInt32 = 0
        var verticalVectorBits: UInt32 = 0
        /// Pictures that may precede one in decoding order and follow it in output order.
        var reordered: UInt32 = 0
        /// Pictures that a decoder keeps.
        var buffered: UInt32 = 0
    }

    private static let highProfiles: Set<UInt32> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    /// - Parameter unit: With its header. Nil where it breaks off, has more than it should, or other samples.
    init?(unit: [UInt8]) {
        guard unit.count > 4, unit[0] & 0x1f == 7 else { return nil }
        var reader = BitReader(unit: unit)
        guard code(&reader), id < 32, frameNumberBits <= 12, orderBits <= 12, references <= 16, reader.isAtEnd else {
            return nil
        }
    }

    /// As a unit of a stream; of what it reads, HRD parameters are not written.
    var unit: [UInt8] {
        var written = self
        var writer = ParameterWriter()
        _ = written.code(&writer)
        return writer.unit(header: 0x67)
    }

    /// Goes through the set; false where the rest can't be read.
    private mutating func code(_ coder: inout some ParameterCoder) -> Bool {
        coder.bits(&profile, 8)
        coder.bits(&constraints, 8)
        coder.bits(&level, 8)
        coder.unsigned(&id)
        if Self.highProfiles.contains(profile) {
            // 4:2:0, 8 bits of both, which are not passed by the transform, and no scaling matrices.
            var (chroma, depths, others) = (UInt32(1), [UInt32](repeating: 0, count: 2), UInt32(0))
            coder.unsigned(&chroma)
            guard chroma == 1 else { return false }
            for index in depths.indices { coder.unsigned(&depths[index]) }
            coder.bits(&others, 2)
            guard depths == [0, 0], others == 0 else { return false }
        }
        coder.unsigned(&frameNumberBits)
        coder.unsigned(&orderType)
        guard orderType == 0 || orderType == 2 else { return false }
        if orderType == 0 { coder.unsigned(&orderBits) }
        coder.unsigned(&references)
        coder.bit(&allowsGaps)
        coder.unsigned(&width)
        coder.unsigned(&height)
        coder.bit(&hasOnlyFrames)
        var isAdaptive = false
        if !hasOnlyFrames { coder.bit(&isAdaptive) }
        coder.bit(&infersDirect8x8)
        coder.optional(&crop, [0, 0, 0, 0]) { crop, coder in
            for side in crop.indices { coder.unsigned(&crop[side]) }
        }
        var isUnderstood = true
        coder.optional(&usability, Usability()) { usability, coder in isUnderstood = usability.code(&coder) }
        return isUnderstood
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
            horizontalVectorBits: max(own.horizontalVectorBits, known?.horizontalVectorBits ?? 16),
            verticalVectorBits: max(own.verticalVectorBits, known?.verticalVectorBits ?? 16), reordered: reordered,
            buffered: buffered)
        return matched
    }

    /// Pictures that a decoder keeps where the set doesn't say so: clause A.3.1, by level and size.
    var mostBuffered: UInt32 {
        let macroblocks: [UInt32: UInt32] = [
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
    /// Goes through it; false where the rest can't be read.
    fileprivate mutating func code(_ coder: inout some ParameterCoder) -> Bool {
        coder.optional(&aspect, [0, 0, 0]) { aspect, coder in
            coder.bits(&aspect[0], 8)
            for side in 1...2 where aspect[0] == 255 { coder.bits(&aspect[side], 16) }
        }
        coder.optional(&overscan, false) { $1.bit(&$0) }
        coder.optional(&signal, SequenceParameters.Signal()) { signal, coder in
            coder.bits(&signal.format, 3)
            coder.bit(&signal.isFullRange)
            coder.optional(&signal.colours, [2, 2, 2]) { colours, coder in
                for index in colours.indices { coder.bits(&colours[index], 8) }
            }
        }
        coder.optional(&chromaLocation, [0, 0]) { places, coder in
            for field in places.indices { coder.unsigned(&places[field]) }
        }
        coder.optional(&timing, SequenceParameters.Timing()) { timing, coder in
            coder.bits(&timing.unitsInTick, 32)
            coder.bits(&timing.scale, 32)
            coder.bit(&timing.isFixed)
        }
        // HRD parameters of two kinds, and a structure of pictures: what they announce is not in the stream that is written.
        var (hasBuffer, hasStructure) = (false, false)
        for _ in 0..<2 {
            var isThere = false
            coder.bit(&isThere)
            hasBuffer = hasBuffer || isThere
            guard !isThere || Self.passBuffer(&coder) else { return false }
        }
        if hasBuffer { coder.bit(&hasBuffer) }
        coder.bit(&hasStructure)
        coder.optional(&restriction, SequenceParameters.Restriction()) { restriction, coder in
            coder.bit(&restriction.vectorsCrossBorders)
            coder.unsigned(&restriction.bytesDenominator)
            coder.unsigned(&restriction.bitsDenominator)
            coder.unsigned(&restriction.horizontalVectorBits)
            coder.unsigned(&restriction.verticalVectorBits)
            coder.unsigned(&restriction.reordered)
            coder.unsigned(&restriction.buffered)
        }
        return restriction.map { $0.buffered <= 16 && $0.reordered <= $0.buffered } ?? true
    }

    /// Goes through HRD parameters, which are not kept.
    private static func passBuffer(_ coder: inout some ParameterCoder) -> Bool {
        var (count, number, flag) = (UInt32(0), UInt32(0), false)
        coder.unsigned(&count)
        guard count < 32 else { return false }
        coder.bits(&number, 8)
        for _ in 0...count {
            coder.unsigned(&number)
            coder.unsigned(&number)
            coder.bit(&flag)
        }
        coder.bits(&number, 20)
        return true
    }
}
