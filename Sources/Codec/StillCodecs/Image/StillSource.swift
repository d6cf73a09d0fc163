package import SatchelCore
import CVips
import GIF

/// What a still says of itself in its header.
package struct StillFacts: Hashable, Sendable {
    var type: MediaType
    var sniffedType: String
    /// As stored.
    var storedSize: PixelSize
    /// EXIF's: 1…8.
    package var orientation: Int
    /// Bytes of a decoded pixel.
    var pixelBytes: Int
    /// Samples of a JPEG beside those of light, for each of these: two where colours have its resolution.
    var colourShare = 2.0
    /// Whether its pixels can be transparent.
    var hasAlpha = false
    /// A JPEG with planes of 8 bits for light and two colours.
    var isPlanarJPEG = false
    /// Scanned more than once, so that a decoder holds all coefficients.
    var isProgressive = false
    /// The alpha properties of a HEIF file.
    var isPremultiplied = false
    /// Colours that are no profile's; nil where a profile counts, or nothing is said.
    var coded: CodedColour?
    /// Whether a WebP's pixels end with the file.
    var isCut = false
    /// Whether a JPEG's end is nothing but zeros.
    var isFilledUp = false
    /// What its header tells.
    package var found = Diagnosis()
    /// Bytes of the file.
    var bytes: Int
    /// Of what its header says whether it may be kept.
    var keptForm = KeptForm()

    /// Upright.
    var size: PixelSize { orientation >= 5 ? storedSize.swapped : storedSize }
}

extension StillFacts {
    /// Of a picture that is stored upright, 8 bits for each of four channels.
    package init(type: MediaType, sniffedType: String, size: PixelSize, hasAlpha: Bool, bytes: Int) {
        self.init(
            type: type, sniffedType: sniffedType, storedSize: size, orientation: 1, pixelBytes: 4, hasAlpha: hasAlpha,
            bytes: bytes)
    }
}

/// A source in memory, for the one loader of libvips that may read it.
struct Loadable: ~Copyable {
    var bytes: SourceBytes
    var format: PictureFormat
}

/// A still that a decoder beside libvips and our own reads.
package protocol RasterDecoder: Sendable {
    /// Decodes all of it.
    ///
    /// - Parameter faults: What is missing or odd is added.
    func decode(damaged: WhenDamaged, faults: inout Diagnosis) throws(AttachmentError) -> Raster
}

/// A still that one decoder has opened.
package struct StillSource: ~Copyable {
    /// Colours, alpha, and what programs for print and science keep besides; a TIFF may announce 65,535.
    private static let mostChannels = 16

    package var facts: StillFacts
    private let origin: Origin

    enum Origin: ~Copyable {
        case vips(Opened)
        case gif(GIFSource)
        case raster(any RasterDecoder)
    }

    struct Opened: ~Copyable {
        var source: Loadable
        /// What was opened, at its full size; no pixel was asked for.
        var header: Picture
    }

    /// Opens the first picture of what libvips decodes, and checks limits; decodes no pixel.
    ///
    /// - Parameters:
    ///   - header: What `bytes` was found to hold.
    ///   - unboxed: The colors where no box of a HEIF file says them.
    init(
        _ bytes: consuming SourceBytes, format: PictureFormat, header: borrowing Picture, sniffed: Sniffed,
        limits: Limits, losses: [Finding] = [], unboxed: CodedColour? = nil
    ) throws(AttachmentError) {
        let type = MediaType(decoded: format, compression: header.text("heif-compression"), sniffed: sniffed.type)
        // Of a picture with several pages the header is the first page's.
        let size = PixelSize(width: header.width, height: header.height)
        try limits.check(size, most: limits.stillPixels)
        guard header.bands <= Self.mostChannels else {
            throw .tooMuch(what: "channels", count: Int64(header.bands), limit: Int64(Self.mostChannels))
        }
        let profileBytes = Int64(unsafe header.withBlob("icc-profile-data") { $0.count })
        guard profileBytes <= limits.iccBytes else {
            throw .tooMuch(what: "bytes of colour profile", count: profileBytes, limit: limits.iccBytes)
        }
        var facts = StillFacts(
            type: type, sniffedType: sniffed.type, storedSize: size, orientation: header.orientation,
            pixelBytes: header.pixelBytes,
            colourShare: header.text("jpeg-chroma-subsample") == "4:2:0" ? 0.5 : Double(header.bands - 1),
            hasAlpha: header.hasAlpha, isPlanarJPEG: format == .jpeg && header.isPlain,
            isProgressive: [header.integer("jpeg-multiscan"), header.integer("interlaced")].contains(1),
            found: Diagnosis(losses: losses), bytes: bytes.count)
        let heif = format == .heif ? unsafe bytes.withBytes { unsafe HEIFProperties($0) } : nil
        try HEIFProperties.check(matrix: heif?.matrix)
        facts.isPremultiplied = heif?.isPremultiplied == true
        var coded = format == .png ? unsafe bytes.withBytes { unsafe PNGChunks.colour(in: $0) } : nil
        // No profile can say what is HDR, but by words that only some know.
        if let stated = heif?.colour ?? unboxed, profileBytes == 0 || stated.isHDR { coded = stated }
        // Which nothing has to be made of.
        if profileBytes == 0, coded?.isStandard == true { coded = nil }
        facts.coded = coded ?? (unsafe header.withBlob("icc-profile-data") { unsafe CodedColour(profile: $0) })
        facts.keptForm = KeptForm(header, facts.coded)
        if header.has(Picture.unfitProfile) { facts.found.evidence.append(Finding(.profileLeftOut)) }
        let hasGainMap = unsafe bytes.withBytes { unsafe GainMap.isIn($0, format) }
        let isHDR = facts.coded?.isHDR == true
        if isHDR || hasGainMap { facts.found.omissions.append(isHDR ? .hdr : .gainMap) }
        if format == .jpeg, !hasGainMap {
            if let pictures = unsafe bytes.withBytes({ unsafe MultiPicture.count(in: $0) }) {
                if pictures > 1 {
                    facts.found.omissions.append(Finding(.oneTaken, .pictures, missing: pictures - 1, of: pictures))
                }
            } else if unsafe bytes.withBytes({ unsafe MultiPicture.isStream($0) }) {
                facts.found.omissions.append(Finding(.oneTaken, .pictures))
            }
        }
        if unsafe bytes.withBytes({ unsafe MultiPicture.hasVideo($0, format) }) {
            facts.found.omissions.append(Finding(.leftOut, .motion, named: "a still"))
        }
        if header.isInk, profileBytes == 0 { facts.found.changes.append(Finding(.profileAssumed)) }
        if header.isFloat { facts.found.changes.append(Finding(.clipped)) }
        if header.pages > 1 {
            facts.found.pages = header.pages
            // Which one of HEIF's is the primary, libvips doesn't say.
            let part: Finding.Part = format == .heif ? .pictures : .pages
            facts.found.omissions.append(Finding(.oneTaken, part, missing: header.pages - 1, of: header.pages))
        }
        self.facts = facts
        origin = .vips(Opened(source: Loadable(bytes: bytes, format: format), header: header.shared()))
    }

    /// Takes what `decoder` has opened; limits were checked.
    package init(_ facts: StillFacts, decoder: any RasterDecoder) {
        self.facts = facts
        origin = .raster(decoder)
    }

    /// Takes the only frame of a GIF, whose limits were checked; decodes no pixel.
    ///
    /// It is drawn as browsers draw it: what the frame does not cover is transparent, where libvips shows the background.
    init(gif source: GIFSource, sniffed: Sniffed) {
        facts = StillFacts(
            type: .gif, sniffedType: sniffed.type,
            storedSize: PixelSize(width: source.file.width, height: source.file.height), orientation: 1, pixelBytes: 4,
            hasAlpha: true, bytes: source.bytes.count)
        facts.found.omissions = source.omissions
        origin = .gif(source)
    }

    /// How this source may be kept where its header has nothing against it. A JPEG is coded anew.
    ///
    /// - Throws: ``WorkTime/failure`` where the time is up.
    borrowing func keeping() throws(AttachmentError) -> Keeping {
        switch origin {
        case .vips(let opened) where facts.type == .jpeg: try KeptJPEG.keeping(opened.source.bytes, facts)
        case .vips(let opened) where facts.keptForm.colours == .displayP3:
            try DisplayP3Pixels(opened.source.bytes, facts).map { .png(sourceBytes: Int64(facts.bytes), displayP3: $0) }
                ?? .not(.warning)
        default: .png(sourceBytes: Int64(facts.bytes), displayP3: nil)
        }
    }

    /// Decodes `region` of the upright picture once, scaled to `size`.
    ///
    /// - Parameters:
    ///   - chroma: At what resolution colours are needed, where the decoder has a choice.
    ///   - damaged: What becomes of a picture of which much is missing.
    ///   - faults: What is missing or odd is added.
    /// - Returns: Upright, sRGB, 8 bits, 3 or 4 bands, without metadata; in memory.
    borrowing func decode(
        _ region: PixelRect, scaledTo size: PixelSize, speed: Speed, chroma: ChromaResolution = .full,
        damaged: WhenDamaged, faults: inout Diagnosis
    ) throws(AttachmentError) -> Picture {
        switch origin {
        case .vips(let opened):
            let decode = StillDecoding(
                facts: facts, format: opened.source.format, region: region, size: size, speed: speed, chroma: chroma,
                damaged: damaged)
            return try decode.runOrRefuse(opened.source.bytes, opened.header, faults: &faults)
        case .gif(let source):
            var canvas = Canvas(width: facts.size.width, height: facts.size.height)
            let defects = FrameDefects(ofStill: ())
            try GIFFrames(source, counting: defects).show(on: &canvas)
            if var defect = defects.rowDefect {
                if source.isCut { defect.code = .endsBefore }
                if let loss = try defect.loss(when: damaged) { faults.losses.append(loss) }
            }
            faults.evidence += source.evidence
            return try canvas.raster.picture().scaled(region, to: size, speed: speed)
        case .raster(let decoder):
            let raster = try decoder.decode(damaged: damaged, faults: &faults)
            return try raster.picture().scaled(region, to: size, speed: speed)
        }
    }
}

extension Picture {
    /// `region` of pixels in memory, scaled to `size`; in memory again.
    func scaled(
        _ region: PixelRect, to size: PixelSize, speed: Speed = .standard
    ) throws(AttachmentError) -> Picture {
        try scaling { () throws(VipsFailure) in
            // Alpha that hides nothing costs a third.
            let seen = try isOpaque() && hasAlpha ? withoutAlpha() : shared()
            return try VipsDownscaler(speed: speed).scaled(seen, region, to: size)
        }
    }
}

/// Runs `body` on what was decoded or written before, where only the machine can fail.
func scaling<Result: ~Copyable>(_ body: () throws(VipsFailure) -> Result) throws(AttachmentError) -> Result {
    do {
        return try body()
    } catch {
        if WorkTime.isUp { throw WorkTime.failure }
        throw .codecCrashed(reason: "libvips failed: \(error.text)")
    }
}

extension Speed {
    /// How many times larger than the result a decoder's own scaling may leave the picture at least.
    ///
    /// A JPEG's inverse transform averages whole pixels while it scales, and what that leaves folds back: of detail at every
    /// scale 2.0 dB at the same bytes where the rest is 1.05, 0.7 where it is 1.3, 0.3 where it is 1.5, and 0.1 where it is
    /// 1.8; of most photographs less than a tenth of that.
    var divisionMargin: Double {
        switch self {
        case .best: .infinity
        case .standard: 1.9
        case .fast: 1.3
        }
    }

    /// The same for WebP, which averages; nil where that is not good enough, because its decoder saves little.
    var scaleMargin: Double? {
        switch self {
        case .best, .standard: nil
        case .fast: 2
        }
    }
}

extension MediaType {
    /// The type of what a decoder opened.
    ///
    /// - Parameter compression: HEIF's: `hevc`, `av1` or another.
    init(decoded format: PictureFormat, compression: String?, sniffed: String) {
        let type = compression.flatMap { format.typesByCoding[$0] } ?? format.type
        // Brands that leave the coding open come before HEVC's own.
        self = sniffed == format.type.rawValue && type == .heic ? format.type : type
    }
}
