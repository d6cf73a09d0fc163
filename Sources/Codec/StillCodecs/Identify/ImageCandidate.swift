package import SatchelCore
import CVips

/// What libmagic takes for an image, for the one decoder that may try it.
package struct ImageCandidate: Sendable {
    package let descriptor: Int32
    package let format: PictureFormat
    package let sniffed: Sniffed
    package let limits: Limits
    package let damaged: WhenDamaged

    /// The whole source.
    package func bytes() throws(AttachmentError) -> SourceBytes {
        try SourceBytes(descriptor, limit: limits.imageBytes)
    }

    /// The first picture of what libvips decodes.
    package func still(
        _ bytes: consuming SourceBytes, losses: [Finding] = [], unboxed: CodedColour? = nil
    ) throws(AttachmentError) -> StillSource {
        let header = try header(of: bytes)
        return try StillSource(
            bytes, format: format, header: header, sniffed: sniffed, limits: limits, losses: losses, unboxed: unboxed)
    }

    /// Of a file that was reserved and not filled up, as a download leaves it, only what is there: zeros are codes as well.
    func jpeg() throws(AttachmentError) -> StillSource {
        let bytes = try bytes()
        let end = unsafe bytes.withBytes { unsafe Self.filledBytes($0) }
        guard let end else { return try still(bytes) }
        var still = try still(SourceBytes(copying: unsafe bytes.withBytes { unsafe Array($0[..<end]) }))
        still.facts.isFilledUp = true
        return still
    }

    /// A JPEG's bytes before the zeros at its end; nil where it has its end marker or not so many.
    private static func filledBytes(_ file: UnsafeRawBufferPointer) -> Int? {
        var end = file.count
        while end > 0, unsafe file[end - 1] == 0 { end -= 1 }
        // A sector's worth.
        guard end >= 4, file.count - end >= 512 else { return nil }
        let (last, before) = unsafe (file[end - 1], file[end - 2])
        if before == 0xff, last == 0xd9 { return nil }
        return last == 0xff ? end + 1 : end
    }

    func tiff() throws(AttachmentError) -> StillSource {
        let bytes = try bytes()
        try unsafe bytes.withBytes { (bytes) throws(AttachmentError) in try unsafe TIFFSamples.check(bytes) }
        return try still(bytes)
    }

    /// - Parameter animation: Takes the frames of an APNG, of which libvips knows the first only; `damaged` are the places of
    ///   those whose data isn't what its checksum is of.
    package func png(
        animation: (AnimationFacts, _ damaged: Set<Int>) throws(AttachmentError) -> AnimationSource
    ) throws(AttachmentError) -> Identified.Content {
        switch try APNG.open(self) {
        case .animation(let facts, let damaged): return .animation(try animation(facts, damaged))
        case .still(let losses):
            let bytes = try bytes()
            try unsafe bytes.withMutableBytes { unsafe PNGChunks.dropTexts(in: $0) }
            return .still(try still(bytes, losses: losses))
        }
    }

    /// - Parameter animation: Takes a file of several frames.
    package func webp(
        animation: (consuming AnimationSource) throws(AttachmentError) -> Identified.Content
    ) throws(AttachmentError) -> Identified.Content {
        let bytes = try bytes()
        let cut = unsafe bytes.withBytes { unsafe WebPCut($0) }
        var isCut = false
        if let cut {
            try unsafe bytes.withMutableBytes { unsafe cut.apply(to: $0) }
        } else {
            try unsafe bytes.withMutableBytes { isCut = unsafe WebPChunks.endWithFile($0) }
        }
        let header = try header(of: bytes)
        if header.pages > 1 || cut != nil {
            return try animation(
                AnimationSource(
                    bytes, format: format, header: header, cut: cut, sniffed: sniffed, limits: limits))
        }
        var still = try StillSource(bytes, format: format, header: header, sniffed: sniffed, limits: limits)
        still.facts.isCut = isCut
        return .still(still)
    }

    /// A still, or an animation where its header says so and libvips gives its frames.
    package func jxl(isAnimated: Bool) throws(AttachmentError) -> Identified.Content {
        let bytes = try bytes()
        // What is no picture needs no newer library.
        let header = try header(of: bytes)
        // libvips asks for all channels at once, and libjxl gives light with alpha or colors with alpha.
        guard header.bands <= 4, !header.isGrey || header.bands <= 2 else {
            throw .unsupported(.channels, "\(header.bands)")
        }
        guard header.integer(Picture.unfitProfile) != Int(satchel_profile_of_inks) else {
            throw .unsupported(.inks)
        }
        if isAnimated, let feature = format.animation?.needs,
            !CodecLibrary(.libvips, version: Libvips.version).isAtLeast(feature.since)
        {
            throw feature.refusal
        }
        // Pages without delays are a document's.
        if isAnimated, header.pages > 1, header.integers("delay") != nil {
            return .animation(
                try AnimationSource(bytes, format: format, header: header, sniffed: sniffed, limits: limits))
        }
        return .still(try StillSource(bytes, format: format, header: header, sniffed: sniffed, limits: limits))
    }

    /// A still or an animation, by our own reader.
    package func gif() throws(AttachmentError) -> Identified.Content {
        // libvips stops at some 4,097 frames and shows what there is of a file that ends early, and says neither.
        let gif = try GIFSource(descriptor, sniffed: sniffed, limits: limits)
        guard gif.isStill else { return .animation(AnimationSource(gif: gif, sniffed: sniffed)) }
        return .still(StillSource(gif: gif, sniffed: sniffed))
    }

    private func header(of bytes: borrowing SourceBytes) throws(AttachmentError) -> Picture {
        do {
            return try bytes.load(format)
        } catch {
            // Libraries have limits of their own, and say of what is beyond them that it is broken.
            let limit = limits.stillPixels
            let pixels = unsafe bytes.withBytes { unsafe AnnouncedSize.pixels(format, $0) }
            if let pixels, pixels > limit { throw .tooManyPixels(pixels: pixels, limit: limit) }
            let refusal = error.damage(of: MediaType(declared: sniffed.type)?.format.name ?? format.name)
            // Most programs write it behind the pixels.
            if format == .tiff, unsafe bytes.withBytes({ unsafe TIFFDirectory.isBehindEnd(of: $0) }) {
                throw VipsFailure.cut(format.name)
            }
            if format == .heif, case .unreadable = refusal,
                let coding = unsafe bytes.withBytes({ unsafe HEIFProperties.foreignCoding(of: $0) })
            {
                throw .unsupported(.picture, coding)
            }
            if let pixels, case .tooExpensive(let resource, let granted) = refusal {
                throw .tooExpensive(resource: "\(resource) (for \(pixels) pixels)", granted: granted)
            }
            throw refusal
        }
    }
}
