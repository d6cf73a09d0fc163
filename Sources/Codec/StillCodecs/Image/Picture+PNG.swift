import SatchelCore
import CVips
import GIF

/// How a PNG without loss is made.
struct PNGForm: Hashable, Sendable {
    /// zlib's level.
    var compression: Int32
    /// Whether all ways are tried, and not only the one that is likely to be the best.
    var isThorough: Bool
}

extension Picture {
    /// A computed picture of 8 bits with 3 or 4 bands as PNG with all its colours, in the fewest bytes: grey where it has no
    /// colour, with a palette of just its colours where these are 256 at most.
    ///
    /// Colours that full transparency hides are 0 in the result, and must be so here. A colour profile is written, unless all
    /// is grey.
    func smallestPNG(_ count: ColourCount, _ form: PNGForm) throws(VipsFailure) -> EncodedBytes {
        if let bits = try greyBits() {
            // Greys of Display P3 are those of sRGB: white and curve are the same.
            let grey = try unsafe derive { unsafe satchel_grey($0, $1) }.stripped()
            var smallest = try grey.png(form, isFiltered: false, bits: bits)
            if bits == 8 { smallest = try smallest.smaller(grey.png(form, isFiltered: true)) }
            // Few greys, and not in even steps.
            if bits == 8, let colours = count.colours, colours <= 16, let indexed = try indexedPNG(colours, form) {
                smallest = smallest.smaller(indexed)
            }
            return smallest
        }
        if let colours = count.colours, let indexed = try indexedPNG(colours, form) {
            guard form.isThorough else { return indexed }
            return try indexed.smaller(png(form, isFiltered: true)).smaller(png(form, isFiltered: false))
        }
        let filtered = try png(form, isFiltered: true)
        return form.isThorough ? try filtered.smaller(png(form, isFiltered: false)) : filtered
    }

    /// - Parameters:
    ///   - isFiltered: Each row by the filter that libpng takes for the best.
    ///   - bits: Of a sample; fewer than 8 for grey without alpha alone.
    private func png(_ form: PNGForm, isFiltered: Bool, bits: Int32 = 8) throws(VipsFailure) -> EncodedBytes {
        try unsafe withHandle { (handle) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_png(handle, buffer, length, form.compression, isFiltered ? 1 : 0, bits)
            }
        }
    }

    /// With a palette of its own colours; nil where libimagequant changes one of them.
    private func indexedPNG(_ colours: Int, _ form: PNGForm) throws(VipsFailure) -> EncodedBytes? {
        let bits: Int32 = colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8
        let indexed = try unsafe withHandle { (handle) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_indexed_png(handle, buffer, length, form.compression, bits)
            }
        }
        guard bands == 4 else { return indexed }
        // It paints what is quite transparent in a colour of its own.
        unsafe indexed.withMutableBytes { unsafe PNGChunks.clearHidden(in: $0) }
        guard try indexed.shows(self) else { return nil }
        return indexed
    }

    /// The fewest bits of a sample, as PNG has them, that hold the greys of this picture; nil where it has colours.
    ///
    /// With alpha always 8.
    private func greyBits() throws(VipsFailure) -> Int32? {
        try unsafe withSamples { samples in
            let bands = bands
            // White is the most that any number of bits holds.
            var (isOne, isTwo, isFour) = (bands == 3, bands == 3, bands == 3)
            var at = 0
            while at + bands <= samples.count {
                let grey = unsafe samples[at]
                guard unsafe samples[at + 1] == grey, unsafe samples[at + 2] == grey else { return nil }
                isOne = isOne && grey % 255 == 0
                isTwo = isTwo && grey % 85 == 0
                isFour = isFour && grey % 17 == 0
                at += bands
            }
            return isOne ? 1 : isTwo ? 2 : isFour ? 4 : 8
        }
    }
}

extension EncodedBytes {
    /// This, or what takes fewer bytes.
    consuming func smaller(_ other: consuming EncodedBytes) -> EncodedBytes { other.count < count ? other : self }

    /// Whether it is a PNG of just these pixels.
    fileprivate func shows(_ picture: borrowing Picture) throws(VipsFailure) -> Bool {
        let bytes = unsafe withMutableBytes { unsafe SourceBytes(copying: $0) }
        let decoded = try bytes.load(.png).computed()
        guard decoded.size == picture.size, decoded.bands == picture.bands else { return false }
        return try decoded.raster().bytes == picture.raster().bytes
    }
}
