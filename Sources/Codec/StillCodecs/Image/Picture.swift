import SatchelCore
import CVips

/// An image of libvips: pixels in memory, or the promise to compute them.
///
/// Owns one reference.
@safe
struct Picture: ~Copyable {
    private let handle: UnsafeMutablePointer<VipsImage>

    /// Takes over a reference that the caller owns.
    init(owning handle: UnsafeMutablePointer<VipsImage>) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe g_object_unref(handle)
    }

    /// Runs an operation that makes an image of its own.
    ///
    /// The error buffer is cleared first, because it is global and keeps old text.
    static func make(
        _ operation: (_ out: UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32
    ) throws(VipsFailure) -> Picture {
        vips_error_clear()
        var out: UnsafeMutablePointer<VipsImage>?
        guard unsafe operation(&out) == 0, let image = unsafe out else { throw VipsFailure.current() }
        return unsafe Picture(owning: image)
    }

    /// Runs an operation on this image that makes another one.
    borrowing func derive(
        _ operation: (
            _ in: UnsafeMutablePointer<VipsImage>, _ out: UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>
        ) -> Int32
    ) throws(VipsFailure) -> Picture {
        let handle = unsafe self.handle
        return try unsafe Picture.make { out in unsafe operation(handle, out) }
    }

    /// Lends the image to a call that the wrappers here don't cover.
    borrowing func withHandle<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutablePointer<VipsImage>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(handle)
    }
}

// MARK: What it is

extension Picture {
    var width: Int { unsafe Int(withHandle { unsafe vips_image_get_width($0) }) }
    var height: Int { unsafe Int(withHandle { unsafe vips_image_get_height($0) }) }
    var bands: Int { unsafe Int(withHandle { unsafe vips_image_get_bands($0) }) }
    var size: PixelSize { PixelSize(width: width, height: height) }
    var interpretation: VipsInterpretation { unsafe withHandle { unsafe vips_image_get_interpretation($0) } }
    var format: VipsBandFormat { unsafe withHandle { unsafe vips_image_get_format($0) } }
    var hasAlpha: Bool { unsafe withHandle { unsafe vips_image_hasalpha($0) != 0 } }

    /// Bytes of one pixel.
    var pixelBytes: Int { bands * Int(vips_format_sizeof(format)) }

    /// Rows of one page of a picture that holds several, one above the other.
    var pageHeight: Int { unsafe Int(withHandle { unsafe vips_image_get_page_height($0) }) }

    /// Pages in the file, whether loaded or not.
    var pages: Int { unsafe Int(withHandle { unsafe vips_image_get_n_pages($0) }) }

    /// EXIF's: 1…8, 1 where there is none.
    var orientation: Int { unsafe Int(withHandle { unsafe vips_image_get_orientation($0) }) }

    func has(_ field: String) -> Bool {
        unsafe withHandle { unsafe vips_image_get_typeof($0, field) != 0 }
    }

    /// A whole number among the metadata.
    func integer(_ field: String) -> Int? {
        guard has(field) else { return nil }
        var value: Int32 = 0
        return unsafe withHandle { unsafe vips_image_get_int($0, field, &value) } == 0 ? Int(value) : nil
    }

    /// A list of whole numbers among the metadata.
    func integers(_ field: String) -> [Int]? {
        guard has(field) else { return nil }
        return unsafe withHandle { handle in
            var values: UnsafeMutablePointer<Int32>?
            var count: Int32 = 0
            guard unsafe vips_image_get_array_int(handle, field, &values, &count) == 0, let values = unsafe values
            else { return nil }
            return unsafe UnsafeBufferPointer(start: values, count: Int(count)).map(Int.init)
        }
    }

    /// A text among the metadata.
    func text(_ field: String) -> String? {
        guard has(field) else { return nil }
        return unsafe withHandle { handle in
            var value: UnsafePointer<CChar>?
            guard unsafe vips_image_get_string(handle, field, &value) == 0, let value = unsafe value else { return nil }
            return unsafe String(cString: value)
        }
    }

    /// Lends the bytes of a blob among the metadata; an empty buffer where there is none.
    func withBlob<Result>(_ field: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe withHandle { handle in
            var data: UnsafeRawPointer?
            var length = 0
            guard has(field), unsafe vips_image_get_blob(handle, field, &data, &length) == 0 else {
                return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
            }
            return unsafe body(UnsafeRawBufferPointer(start: data, count: length))
        }
    }
}

// MARK: What can be made of it

extension Picture {
    /// The pixels computed, once, in memory.
    func computed() throws(VipsFailure) -> Picture {
        vips_error_clear()
        let pixels = unsafe withHandle { unsafe vips_image_copy_memory($0) }
        guard let pixels = unsafe pixels else { throw VipsFailure.current() }
        let picture = unsafe Picture(owning: pixels)
        if WorkTime.secondsLeft != nil { picture.stopInTime() }
        return picture
    }

    /// The same pixels once more: pictures don't change.
    func shared() -> Picture {
        unsafe withHandle { handle in
            unsafe g_object_ref(handle)
            return unsafe Picture(owning: handle)
        }
    }

    /// Whether its samples may lie beyond white, or be no number.
    var isFloat: Bool { [VIPS_FORMAT_FLOAT, VIPS_FORMAT_DOUBLE].contains { $0 == format } }

    /// `true` if the pixels are gray, with or without alpha.
    var isGrey: Bool { [VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16].contains(interpretation) }

    /// Whether its samples are of a printer's inks.
    var isInk: Bool { interpretation == VIPS_INTERPRETATION_CMYK }

    /// RGB with 8 bits in sRGB, as it comes out of most decoders.
    var isPlain: Bool { format == VIPS_FORMAT_UCHAR && interpretation == VIPS_INTERPRETATION_sRGB && bands == 3 }

    /// Lends the pixels, computed, in rows without gaps.
    func withPixels<Result: ~Copyable>(
        _ body: (UnsafePointer<UInt8>) throws(VipsFailure) -> Result
    ) throws(VipsFailure) -> Result {
        vips_error_clear()
        return try unsafe withHandle { (handle) throws(VipsFailure) in
            // Whatever has to be computed first becomes memory by that.
            guard unsafe vips_image_wio_input(handle) == 0, let data = unsafe satchel_pixels(handle) else {
                throw VipsFailure.current()
            }
            return try unsafe body(data)
        }
    }

    /// A copy of pixels without gaps as a picture of this one's format, colour space and colour profile; in memory.
    func like(_ pixels: UnsafePointer<UInt8>, size: PixelSize) throws(VipsFailure) -> Picture {
        let bytes = Int(size.area) * pixelBytes
        let picture = try unsafe derive { original, out in
            unsafe satchel_image_like(original, pixels, bytes, Int32(size.width), Int32(size.height), out)
        }
        if WorkTime.secondsLeft != nil { picture.stopInTime() }
        return picture
    }

    /// Has whatever is computed from this picture fail once ``WorkTime`` is up.
    func stopInTime() {
        unsafe withHandle { unsafe satchel_stop_when($0, WorkTime.stops) }
    }

    /// With 16 bits where it has integers of 32, which libvips would cut off at the most that fewer bits hold.
    func withoutLongIntegers() throws(VipsFailure) -> Picture {
        guard format == VIPS_FORMAT_UINT, bands <= 4 else { return shared() }
        return try unsafe derive { unsafe satchel_scale_to_shorts($0, $1) }
    }

    /// The same pixels without any metadatum.
    func stripped() throws(VipsFailure) -> Picture {
        // A copy first: operations share images through their cache.
        let copy = try unsafe derive { unsafe satchel_copy($0, $1) }
        unsafe copy.withHandle { unsafe satchel_remove_fields($0) }
        return copy
    }

    func extracted(_ area: PixelRect) throws(VipsFailure) -> Picture {
        if area.size == size { return shared() }
        return try unsafe derive {
            unsafe satchel_extract(
                $0, $1, Int32(area.left), Int32(area.top), Int32(area.size.width), Int32(area.size.height))
        }
    }

    /// Upright.
    ///
    /// - Parameter orientation: EXIF's.
    func upright(_ orientation: Int) throws(VipsFailure) -> Picture {
        try unsafe derive { unsafe satchel_upright($0, $1, Int32(orientation)) }
    }

    /// sRGB with 8 bits and 3 or 4 bands, through the embedded profile where there is a usable one.
    func standardColour() throws(VipsFailure) -> Picture {
        if format == VIPS_FORMAT_FLOAT, needsProfile {
            // Samples of that profile, where libvips takes floats for light.
            return try unsafe derive { unsafe satchel_scale_to_shorts($0, $1) }.standardColour()
        }
        if !needsProfile, interpretation == VIPS_INTERPRETATION_sRGB, format == VIPS_FORMAT_UCHAR {
            return try isPlain ? shared() : trimmedBands()
        }
        guard hasAlpha else { return try standardColours() }
        return try withAlpha(of: opaque().standardColours())
    }

    /// Pixels without alpha in sRGB, with 8 bits and 3 bands.
    private func standardColours() throws(VipsFailure) -> Picture {
        if let managed = try transformed() { return try managed.withoutAlpha() }
        let converted = try unsafe derive { unsafe satchel_to_srgb($0, $1) }
        return try unsafe converted.derive { unsafe satchel_cast($0, $1, VIPS_FORMAT_UCHAR) }.withoutAlpha()
    }

    /// Its colours, without the last band.
    private func opaque() throws(VipsFailure) -> Picture {
        let colours = Int32(bands - 1)
        return try unsafe derive { unsafe satchel_extract_bands($0, $1, 0, colours) }
    }

    /// `colours` of 8 bits with this picture's alpha.
    ///
    /// A conversion is for colours alone: libvips takes alpha of 16 bits along through a profile as it is, and cuts off what
    /// is over 255, so that all that is not quite transparent would be opaque.
    private func withAlpha(of colours: borrowing Picture) throws(VipsFailure) -> Picture {
        let most = mostAlpha
        return try unsafe colours.derive { colours, out in
            unsafe withHandle { unsafe satchel_join_alpha(colours, $0, out, most) }
        }
    }

    /// Alpha of what is opaque. As libvips has it where it is a float: it goes as far as the colours of its interpretation
    /// do.
    var mostAlpha: Double {
        switch (format, interpretation) {
        case (VIPS_FORMAT_USHORT, _), (_, VIPS_INTERPRETATION_RGB16), (_, VIPS_INTERPRETATION_GREY16): 65535
        case (_, VIPS_INTERPRETATION_scRGB), (VIPS_FORMAT_FLOAT, VIPS_INTERPRETATION_B_W): 1
        default: 255
        }
    }

    /// Through the embedded profile; nil where there is none, or where it is sRGB already, or doesn't fit the pixels.
    private func transformed() throws(VipsFailure) -> Picture? {
        guard needsProfile else { return nil }
        let intent = unsafe withBlob("icc-profile-data") { unsafe ColourProfile.intent($0) }
        return try? unsafe derive { unsafe satchel_icc_to_srgb($0, $1, intent) }
    }

    /// Instead of a profile that is for other pixels, which ``SourceBytes/load(_:_:)`` leaves out.
    static let unfitProfile = "satchel-unfit-profile"

    /// Whether there is a profile, and its colours are not those of sRGB anyway.
    var needsProfile: Bool {
        // Lab needs no profile, and one that comes with it leads nowhere.
        guard has("icc-profile-data"), interpretation != VIPS_INTERPRETATION_LAB,
            interpretation != VIPS_INTERPRETATION_LABS
        else { return false }
        let isBytes = format == VIPS_FORMAT_UCHAR && interpretation == VIPS_INTERPRETATION_sRGB
        return unsafe !isBytes || !withBlob("icc-profile-data", { unsafe ColourProfile.isStandard($0) })
    }

    /// sRGB from grey or RGB that a file describes by numbers. Computes the pixels.
    func standardColour(from coded: CodedColour) throws(VipsFailure) -> Picture {
        let most = Float(isFloat ? 1 : mostAlpha)
        let picture = try unsafe derive { unsafe satchel_cast($0, $1, VIPS_FORMAT_FLOAT) }
        var values = try picture.floats()
        for index in values.indices { values[index] /= most }
        var channels = bands
        if channels < 3 {
            var colours: [Float] = []
            colours.reserveCapacity(values.count * 3)
            for (index, value) in values.enumerated() {
                colours += [Float](repeating: value, count: index % bands == 0 ? 3 : 1)
            }
            (values, channels) = (colours, channels + 2)
        }
        coded.standard(&values, bands: channels)
        let bytes = values.map { UInt8(max(0, min($0, 1)) * 255 + 0.5) }
        do {
            return try Raster(width: width, height: height, channels: channels, bytes: bytes).picture()
        } catch {
            throw VipsFailure(text: "out of memory")
        }
    }

    private func floats() throws(VipsFailure) -> [Float] {
        try unsafe written { bytes in unsafe [Float](bytes.bindMemory(to: Float.self)) }
    }

    /// Lends the pixels, computed into memory of their own.
    func written<Value>(_ body: (UnsafeRawBufferPointer) -> Value) throws(VipsFailure) -> Value {
        vips_error_clear()
        var length = 0
        let start = unsafe withHandle { unsafe vips_image_write_to_memory($0, &length) }
        guard let start = unsafe start else { throw VipsFailure.current() }
        defer { unsafe g_free(start) }
        return unsafe body(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// With colours that were multiplied by alpha divided by it again.
    func dividedByAlpha() throws(VipsFailure) -> Picture {
        guard hasAlpha else { return try unsafe derive { unsafe satchel_copy($0, $1) } }
        let format = format
        let straight = try unsafe derive { unsafe satchel_unpremultiply($0, $1) }
        return try unsafe straight.derive { unsafe satchel_cast($0, $1, format) }
    }

    /// Without the bands beyond colour and alpha that some TIFFs carry.
    func trimmedBands() throws(VipsFailure) -> Picture {
        let wanted = hasAlpha ? 4 : 3
        return try unsafe derive { unsafe satchel_extract_bands($0, $1, 0, Int32(wanted)) }
    }

    /// Whether no pixel is transparent. Computes the alpha band.
    func isOpaque() throws(VipsFailure) -> Bool {
        guard hasAlpha else { return true }
        let last = Int32(bands - 1)
        let alpha = try unsafe derive { unsafe satchel_extract_bands($0, $1, last, 1) }
        var minimum = 0.0
        vips_error_clear()
        guard unsafe alpha.withHandle({ unsafe satchel_minimum($0, &minimum) }) == 0 else {
            throw VipsFailure.current()
        }
        return minimum >= 255
    }

    /// Without the colours that full transparency hides: what was painted over may be there.
    func withoutHidden() throws(VipsFailure) -> Picture {
        try unsafe derive { unsafe satchel_clear_hidden($0, $1) }.computed()
    }

    /// The part of this size that catches the eye.
    func attention(_ size: PixelSize) throws(VipsFailure) -> PixelRect {
        let cut = try unsafe derive { unsafe satchel_attention($0, $1, Int32(size.width), Int32(size.height)) }
        return unsafe cut.withHandle { handle in
            unsafe PixelRect(
                left: -Int(vips_image_get_xoffset(handle)), top: -Int(vips_image_get_yoffset(handle)), size: size)
        }
    }

    func withoutAlpha() throws(VipsFailure) -> Picture {
        try unsafe derive { unsafe satchel_extract_bands($0, $1, 0, 3) }
    }

    /// Laid over a colour.
    func flattened(over colour: RGB) throws(VipsFailure) -> Picture {
        try unsafe derive {
            unsafe satchel_flatten($0, $1, Double(colour.red), Double(colour.green), Double(colour.blue))
        }
    }
}
