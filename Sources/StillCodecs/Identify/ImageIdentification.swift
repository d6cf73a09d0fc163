import Attachments

/// Opens what libmagic takes for an image with the one decoder for it.
enum ImageIdentification {
    static func open(
        _ descriptor: Int32, format: PictureFormat, sniffed: Sniffed, limits: Limits, damaged: WhenDamaged
    ) throws(AttachmentError) -> Identified.Content {
        var losses: [Loss] = []
        var notes: [String] = []
        // The common decoder set has no module of libvips for HEIF and JXL, and no FFmpeg, which reads BMP and makes videos of
        // animations.
        if format.needs == .full { try FFmpegLibraries.demand() }
        switch format {
        case .bmp:
            return .still(try StillSource(bitmap: descriptor, sniffed: sniffed, limits: limits))
        case .png:
            // libvips knows the first frame of an APNG only.
            switch try AnimationSource.open(apng: descriptor, sniffed: sniffed, limits: limits, damaged: damaged) {
            case .animation(let animation): return .animation(animation)
            case .still(let lost, _): losses = lost
            }
        case .heif:
            // libheif knows items only.
            switch try AnimationSource.open(sequence: descriptor, sniffed: sniffed, limits: limits) {
            case .animation(let animation): return .animation(animation)
            case .still(let lost, let left): (losses, notes) = (lost, left)
            }
        case .gif:
            // libvips stops at some 4,097 frames and shows what there is of a file that ends early, and says neither.
            let gif = try GIFSource(descriptor, sniffed: sniffed, limits: limits)
            guard gif.isStill else { return .animation(AnimationSource(gif: gif, sniffed: sniffed)) }
            return .still(StillSource(gif: gif, sniffed: sniffed))
        default:
            break
        }
        let bytes = try SourceBytes(descriptor, limit: limits.imageBytes)
        if format == .png { try unsafe bytes.withMutableBytes { unsafe PNGChunks.dropTexts(in: $0) } }
        if format == .tiff {
            try unsafe bytes.withBytes { (bytes) throws(AttachmentError) in try unsafe TIFFSamples.check(bytes) }
        }
        var turns = 1
        if format == .heif {
            turns = try unsafe bytes.withMutableBytes { (bytes) throws(AttachmentError) in
                try unsafe HEIFTurns.take(from: bytes)
            }
        }
        let cut = format == .webp ? unsafe bytes.withBytes { unsafe WebPCut($0) } : nil
        if let cut { try unsafe bytes.withMutableBytes { unsafe cut.apply(to: $0) } }
        var isCut = false
        if format == .webp, cut == nil {
            try unsafe bytes.withMutableBytes { isCut = unsafe WebPChunks.endWithFile($0) }
        }
        let isAnimated = unsafe format == .jxl && bytes.withBytes { unsafe JXLHeader($0)?.isAnimated } == true
        if isAnimated, let feature = format.animation?.needs,
            !CodecLibrary(.libvips, version: Libvips.version).isAtLeast(feature.since)
        {
            throw feature.refusal
        }
        let header = try header(of: bytes, format, sniffed, limits)
        if format == .webp, header.pages > 1 || cut != nil {
            try FFmpegLibraries.demand()
            return .animation(
                try AnimationSource(
                    bytes, format: format, header: header, cut: cut, sniffed: sniffed, limits: limits))
        }
        // Pages without delays are a document's.
        if isAnimated, header.pages > 1, header.integers("delay") != nil {
            return .animation(
                try AnimationSource(bytes, format: format, header: header, sniffed: sniffed, limits: limits))
        }
        var still = try StillSource(
            bytes, format: format, header: header, sniffed: sniffed, limits: limits, losses: losses)
        still.facts.isCut = isCut
        if turns != 1 { still.facts.orientation = turns }
        still.facts.notes += notes
        return .still(still)
    }

    private static func header(
        of bytes: borrowing SourceBytes, _ format: PictureFormat, _ sniffed: Sniffed, _ limits: Limits
    ) throws(AttachmentError) -> Picture {
        do {
            return try bytes.load(format)
        } catch {
            // Libraries have limits of their own, and say of what is beyond them that it is broken.
            let limit = limits.stillPixels
            if let pixels = unsafe bytes.withBytes({ unsafe AnnouncedSize.pixels(format, $0) }), pixels > limit {
                throw .tooManyPixels(pixels: pixels, limit: limit)
            }
            throw error.damage(of: format.name)
        }
    }
}
