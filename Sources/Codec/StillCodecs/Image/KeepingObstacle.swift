import SatchelCore
import CJPEG
import CVips

/// What a header says of whether a still may be kept: coded anew without loss, coefficient by coefficient or pixel by pixel.
struct KeptForm: Hashable, Sendable {
    enum Colours: Hashable, Sendable {
        /// sRGB, or untagged, which is taken for it.
        case standard
        case displayP3
        case other
    }

    var colours = Colours.other
    /// Grey or RGB of 8 bits, with alpha or without.
    var isPlain = false
}

extension KeptForm {
    init(_ header: borrowing Picture, _ coded: CodedColour?) {
        isPlain =
            header.format == VIPS_FORMAT_UCHAR
            && [VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_B_W].contains(header.interpretation)
        if let coded {
            colours = coded.isStandard ? .standard : coded == .displayP3 ? .displayP3 : .other
            return
        }
        colours = unsafe header.withBlob("icc-profile-data") { profile in
            if unsafe profile.isEmpty || ColourProfile.isStandard(profile) { return .standard }
            return unsafe ColourProfile.isDisplayP3(profile) ? .displayP3 : .other
        }
    }
}

/// Why a still is encoded instead of being kept. The first one counts.
enum KeepingObstacle: Hashable, Sendable {
    /// Part of it is left out, or it becomes smaller: its shape says so.
    case shape
    case type(MediaType)
    /// Its type is one that nothing codes anew without loss.
    case coding(MediaType)
    case form(MediaType)
    case colours
    /// Something of it is missing, or its decoder wondered at something.
    case warning
    /// It would be turned, and doesn't end with whole blocks.
    case turn
    case overAim(bytes: Int64, aim: Int64)
    case overCap(bytes: Int64, cap: Int64)
    /// What is encoded takes fewer bytes.
    case rival(MediaType)

    /// For the step, as a clause; nil where the rendition's shape says it.
    var words: String? {
        let reason: String
        switch self {
        case .shape: return nil
        case .type(let type): reason = "it came as \(type.format.name)"
        case .coding(let type): reason = "no \(type.format.name) is coded anew without loss"
        case .form(.png): reason = "it has more than 8 bits"
        case .form: reason = "it isn't grey or YCbCr of 8 bits"
        case .colours: reason = "its colours become sRGB"
        case .warning: reason = "it didn't decode without a warning"
        case .turn: reason = "its turn isn't exact on whole blocks"
        case .overAim(let bytes, let aim): reason = "\(bytes) bytes are over the aim of \(aim)"
        case .overCap(let bytes, let cap): reason = "\(bytes) bytes are over the cap of \(cap)"
        case .rival(let type): reason = "\(type.format.name) takes fewer bytes"
        }
        return "not kept: \(reason)"
    }
}

extension StillPolicy {
    /// What stands against keeping a source as this rendition, as far as that is known before it is coded anew; nil where
    /// nothing does.
    ///
    /// - Parameters:
    ///   - region: The part of the upright source that is wanted.
    ///   - isWhole: Whether it decodes whole, without a warning.
    func obstacle(to facts: StillFacts, region: PixelRect, isWhole: Bool) -> KeepingObstacle? {
        guard region == PixelRect(facts.size), framing.resultSize(of: facts.size) == facts.size else { return .shape }
        guard types.contains(facts.type) else { return .type(facts.type) }
        guard facts.type == .jpeg || facts.type == .png else { return .coding(facts.type) }
        guard facts.keptForm.isPlain else { return .form(facts.type) }
        switch facts.keptForm.colours {
        case .standard: break
        // A PNG is decoded once more for it, which is in vain where its own bytes are too many.
        case .displayP3: if facts.type == .png, let obstacle = obstacle(bytes: Int64(facts.bytes)) { return obstacle }
        case .other: return .colours
        }
        return isWhole ? nil : .warning
    }

    /// Whether a source is delivered as this rendition without being decoded.
    func takes(_ keeping: Keeping) -> Bool {
        guard case .jpeg(let kept) = keeping else { return false }
        return obstacle(bytes: Int64(kept.bytes.count)) == nil
    }

    /// What stands against so many bytes.
    func obstacle(bytes: Int64) -> KeepingObstacle? {
        if bytes > cap { return .overCap(bytes: bytes, cap: cap) }
        if let aim, bytes > aim { return .overAim(bytes: bytes, aim: aim) }
        return nil
    }
}

extension ImagePolicies {
    /// The size to which a region is decoded for those of `stills` that a source isn't kept as, and for the placeholder.
    func workingSize(
        of region: PixelRect, in facts: StillFacts, for stills: [StillPolicy], beside kept: Keeping
    ) -> PixelSize {
        let encoded = stills.filter {
            $0.obstacle(to: facts, region: region, isWhole: true) != nil || !$0.takes(kept)
        }
        let framings = encoded.isEmpty ? [Framing(side: Placeholder.side, fit: .inside)] : encoded.map(\.framing)
        return framings.map { $0.scaledSize(of: region.size) }.max { $0.area < $1.area } ?? region.size
    }
}

extension StillFacts {
    /// Bytes that keeping a still holds at its peak: a JPEG's coefficients, and those of its turn; a PNG's pixels where they are
    /// Display P3, in two copies. 0 where it can't be kept.
    func memoryOfKeeping(for policies: ImagePolicies) -> Double {
        let region = policies.region(of: size)
        let isKept = policies.stills(policies.roles).contains {
            $0.obstacle(to: self, region: region, isWhole: true) == nil
        }
        guard isKept else { return 0 }
        if type == .png { return keptForm.colours == .displayP3 ? Double(storedSize.area) * 2 * 4 : 0 }
        guard type == .jpeg else { return 0 }
        let turns = orientation == 1 ? 1.0 : 2
        return Double(storedSize.area) * 2 * (1 + colourShare) * turns + Double(2 * bytes)
    }
}

/// How a source may be kept.
enum Keeping: Hashable, Sendable {
    case not(KeepingObstacle)
    /// A JPEG that was coded anew.
    case jpeg(KeptJPEG)
    /// Its pixels as PNG, of which the source had so many bytes: those that were decoded, or its own in Display P3.
    case png(sourceBytes: Int64, displayP3: DisplayP3Pixels?)
}

/// A JPEG whose coefficients were coded anew: upright, and without metadata but the colour profile.
struct KeptJPEG: Hashable, Sendable {
    var bytes: [UInt8]
    /// Upright.
    var size: PixelSize
    var isTurned: Bool
    var note: String { "kept: JPEG \(isTurned ? "turned and " : "")coded anew without loss" }
}

extension KeptJPEG {
    /// Codes a JPEG anew, or says why it can't.
    ///
    /// - Throws: ``WorkTime/failure`` where the time is up.
    static func keeping(_ source: borrowing SourceBytes, _ facts: StillFacts) throws(AttachmentError) -> Keeping {
        // The tables of several scans outweigh what they save of a small picture. libjpeg's ten take twice the time: they are
        // for a source that has them.
        let ways =
            facts.size.area >= 128 * 128
            ? [SATCHEL_JPEG_PROGRESSIVE, SATCHEL_JPEG_SUCCESSIVE, SATCHEL_JPEG_SEQUENTIAL]
            : [SATCHEL_JPEG_SEQUENTIAL, SATCHEL_JPEG_PROGRESSIVE]
        var kept: [UInt8] = []
        for scans in ways where kept.isEmpty || kept.count > source.count {
            switch try coded(source, facts, scans) {
            case .jpeg(let coded): if kept.isEmpty || coded.bytes.count < kept.count { kept = coded.bytes }
            case let obstacle: return obstacle
            }
        }
        return .jpeg(KeptJPEG(bytes: kept, size: facts.size, isTurned: facts.orientation != 1))
    }

    private static func coded(
        _ source: borrowing SourceBytes, _ facts: StillFacts, _ scans: satchel_jpeg_scans
    ) throws(AttachmentError) -> Keeping {
        let profile = facts.keptForm.colours == .displayP3 ? try ColourProfile.displayP3() : []
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        let result = unsafe source.withBytes { bytes in
            unsafe profile.withUnsafeBufferPointer { profile in
                guard let from = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else {
                    return SATCHEL_JPEG_FAILED
                }
                let form = unsafe satchel_jpeg_keeping(
                    orientation: Int32(facts.orientation), scans: scans,
                    profile: profile.isEmpty ? nil : profile.baseAddress, profile_count: profile.count)
                return unsafe satchel_jpeg_keep(from, bytes.count, form, WorkTime.stops, &start, &count)
            }
        }
        switch result {
        case SATCHEL_JPEG_IS_KEPT:
            defer { unsafe g_free(start) }
            let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
            return .jpeg(KeptJPEG(bytes: bytes, size: facts.size, isTurned: facts.orientation != 1))
        case SATCHEL_JPEG_IS_OTHER: return .not(.form(.jpeg))
        case SATCHEL_JPEG_TURN_IS_INEXACT: return .not(.turn)
        case SATCHEL_JPEG_IS_ODD: return .not(.warning)
        default:
            if WorkTime.isUp { throw WorkTime.failure }
            // Decoding says what is wrong with it.
            return .not(.warning)
        }
    }
}
