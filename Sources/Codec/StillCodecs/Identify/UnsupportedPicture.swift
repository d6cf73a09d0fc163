import SatchelCore

/// Variants of formats that are known and not taken, where its first bytes don't tell: what they are, and what to do.
///
/// libmagic and decoders would call them damaged or nothing at all, or take the small preview for the picture.
enum UnsupportedPicture {
    /// Refuses a source that begins as one.
    ///
    /// - Parameter head: Up to ``Sniffer/headBytes`` of it.
    static func check(head: [UInt8]) throws(AttachmentError) {
        if let camera = rawCamera(head) { throw .unsupported(.rawPhoto, camera) }
        if head.starts(with: [0xff, 0xd8]) { try checkJPEG(head) }
        if head.starts(with: [0x42, 0x4d]) { try checkBMP(head) }
    }

    private struct Kind {
        var name: String
        var place = 0
        var sign: [UInt8]

        func begins(_ head: [UInt8]) -> Bool {
            head.count >= place + sign.count && head[place...].starts(with: sign)
        }
    }

    /// `a Canon`, of a camera's own format; nil of all else.
    private static func rawCamera(_ head: [UInt8]) -> String? {
        if let camera = rawSigns.first(where: { $0.begins(head) }) { return camera.name }
        let directories = unsafe head.withUnsafeBytes { unsafe TIFFDirectory.all(in: $0) }
        // The colours of a sensor's filter, or one value for each of them (DNG 1.4, PhotometricInterpretation); where the
        // first directory is but a preview, Nikon's and Sony's own ways of packing them.
        let isRaw =
            directories.first?.number(TIFFDirectory.Tag.dngVersion) != nil
            || directories.contains { directory in
                [32803, 34892].contains(directory.number(TIFFDirectory.Tag.photometric))
                    || [34713, 32767, 32770, 65535].contains(directory.number(TIFFDirectory.Tag.compression))
            }
        guard isRaw else { return nil }
        let make = directories.first?.make.lowercased() ?? ""
        return makes.first { make.contains($0.key) }?.value ?? "a"
    }

    private static let makes = [
        "canon": "a Canon", "nikon": "a Nikon", "sony": "a Sony", "fuji": "a Fujifilm", "olympus": "an Olympus",
        "panasonic": "a Panasonic", "leica": "a Leica", "pentax": "a Pentax", "samsung": "a Samsung",
        "apple": "an Apple",
        "hasselblad": "a Hasselblad", "google": "a Google", "dji": "a DJI", "sigma": "a Sigma", "ricoh": "a Ricoh",
    ]

    private static let rawSigns = [
        Kind(name: "a Canon", place: 8, sign: Array("CR".utf8) + [2]),
        Kind(name: "a Canon", place: 4, sign: Array("ftypcrx ".utf8)),
        Kind(name: "a Canon", place: 6, sign: Array("HEAPCCDR".utf8)),
        Kind(name: "a Fujifilm", sign: Array("FUJIFILMCCD-RAW".utf8)),
        Kind(name: "an Olympus", sign: Array("IIRO".utf8)), Kind(name: "an Olympus", sign: Array("IIRS".utf8)),
        Kind(name: "an Olympus", sign: Array("MMOR".utf8)),
        Kind(name: "a Panasonic", sign: Array("IIU".utf8) + [0]),
        Kind(name: "a Minolta", sign: [0] + Array("MRM".utf8)),
        Kind(name: "a Sigma", sign: Array("FOVb".utf8)),
    ]

    /// Refuses the ways of coding a JPEG that libjpeg doesn't know, by the marker of its frame (ITU-T T.81, table B.1).
    private static func checkJPEG(_ head: [UInt8]) throws(AttachmentError) {
        var place = 2
        while place + 5 <= head.count, head[place] == 0xff {
            let marker = head[place + 1]
            let kind: String? =
                switch marker {
                case 0xc3: "lossless JPEG"
                case 0xc5, 0xc6, 0xc7, 0xcd, 0xce, 0xcf: "hierarchical JPEG"
                case 0xcb: "lossless JPEG with arithmetic codes"
                case 0xf7: "JPEG-LS"
                case 0xc0, 0xc1, 0xc2, 0xc9, 0xca:
                    // Libraries for 12 bits are others.
                    head[place + 4] == 12 ? "JPEG with 12 bits a sample" : nil
                default: nil
                }
            if let kind { throw .unsupported(.variant, kind) }
            // The frame or the scan.
            let isFrame = marker & 0xf0 == 0xc0 && ![0xc4, 0xc8, 0xcc].contains(marker)
            if isFrame, place + 7 <= head.count, head[place + 5] == 0, head[place + 6] == 0 {
                throw .unsupported(.openRows)
            }
            if marker == 0xda || isFrame { return }
            if marker == 0xff {
                place += 1
                continue
            }
            place += 2 + Int(head[place + 2]) << 8 + Int(head[place + 3])
        }
    }

    /// Refuses the BMPs that nobody writes for pictures: others' formats in them, and OS/2's own compressions.
    private static func checkBMP(_ head: [UInt8]) throws(AttachmentError) {
        guard head.count >= 34 else { return }
        let (header, bits) = (head[14..<18].littleEndian, head[28..<30].littleEndian)
        let compression = head[30..<34].littleEndian
        // OS/2's second header has 16 to 64 bytes, of which those of 40, 52 and 56 are Windows'.
        let isOS2 = (16...64).contains(header) && ![40, 52, 56].contains(header)
        let kind: String? =
            switch (isOS2, compression) {
            case (true, 3): "a BMP of OS/2 with Huffman codes"
            case (true, 4): "a BMP of OS/2 with run lengths of 24 bits"
            case (false, 4): "a BMP that holds a JPEG"
            case (false, 5): "a BMP that holds a PNG"
            case (false, 11...13): "a BMP for printers, in CMYK"
            default: bits == 64 || bits == 2 ? "a BMP with \(bits) bits a pixel" : nil
            }
        guard header >= 16, let kind else { return }
        throw .unsupported(.variant, kind)
    }

    /// Of what a library said where it doesn't know a variant of a format; nil where it means damage, as it always does of formats
    /// that are read in all of their variants.
    static func refusal(of format: String, saying text: String) -> AttachmentError? {
        guard !["JPEG", "PNG", "GIF", "WebP", "BMP"].contains(format) else { return nil }
        let text = text.lowercased()
        let signs = [
            "not supported", "unsupported", "not configured", "not implemented", "unimplemented", "can not handle",
            "cannot handle", "can't handle",
        ]
        guard signs.contains(where: text.contains) else { return nil }
        return .unsupported(.formatVariant, format)
    }
}
