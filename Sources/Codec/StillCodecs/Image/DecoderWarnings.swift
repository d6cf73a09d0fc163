import CVips

/// What decoders of libvips warn of while they decode, beside their errors.
@safe
struct DecoderWarnings: ~Copyable {
    private let gathered: UnsafeMutablePointer<satchel_warnings>

    /// Begins to listen; nil where there is no memory.
    init?() {
        vips_error_clear()
        guard let gathered = unsafe satchel_listen() else { return nil }
        unsafe self.gathered = gathered
    }

    deinit {
        unsafe satchel_stop_listening(gathered)
    }

    var isEmpty: Bool { unsafe gathered.pointee.count == 0 }

    /// Whether libvips took another color profile for a damaged one, or libpng ignored one that is for other pixels.
    var isOfProfile: Bool {
        let text = unsafe String(cString: satchel_warnings_text(gathered))
        return text.contains("corrupt profile") || text.contains("color space not permitted on")
    }

    /// Rows of a fax of which a decoder said that they end too early or hold codes that are none.
    ///
    /// libvips 8.14 has libtiff's warnings as such and its errors, where it goes on nevertheless, as text.
    var damagedFaxRows: Int {
        let texts = unsafe String(cString: satchel_warnings_text(gathered)) + String(cString: vips_error_buffer())
        var places: Set<Substring> = []
        for line in texts.split(separator: "\n") {
            for sign in ["Premature EOL at line ", "Bad code word at line "] {
                // `479 of strip 0 (got 621, expected 640)`
                guard let place = line.firstRange(of: sign) else { continue }
                places.insert(line[place.upperBound...].prefix { $0 != "(" })
            }
        }
        return places.count
    }

    /// `picture` with its rows as far as its decoder gives them, what follows grey or transparent.
    ///
    /// - Parameters:
    ///   - found: Says after the pixels were computed which row is the first that is missing. Must outlive them.
    ///   - warns: Whether the decoder warns of a row instead of failing.
    func rows(
        of picture: borrowing Picture, found: UnsafeMutablePointer<satchel_rows_found>, warns: Bool
    ) throws(VipsFailure) -> Picture {
        unsafe found.pointee = satchel_rows_found(
            first_missing: Int32(picture.height), warnings: warns ? UnsafePointer(gathered) : nil)
        return try unsafe picture.derive { unsafe satchel_find_rows($0, $1, found) }
    }
}
