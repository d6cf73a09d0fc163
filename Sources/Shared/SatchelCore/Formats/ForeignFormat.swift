/// A format that is known and not taken: what it is called, how it is told, and what to do about it.
public struct ForeignFormat: Hashable, Sendable {
    /// What its files hold.
    public enum Kind: Hashable, Sendable {
        case picture
        /// Lines and shapes, without pixels.
        case drawing
        case video
        case sound
        /// No media: documents, archives, data.
        case other
    }

    /// With an article where people say one: `RealMedia`, `a MIDI file`.
    public let name: String
    public let kind: Kind
    /// libmagic's media types, the first one of which is its own.
    let types: [String]
    /// How its files begin; each is enough, and all parts of it are needed.
    let signs: [[Part]]
    /// What its files are called, where nothing within them tells.
    let naming: Naming?
    /// A sentence: `Convert it to MP4.`
    public let advice: String

    private init(
        _ kind: Kind, _ name: String, signs: [[Part]], types: [String] = [], named naming: Naming? = nil,
        advice: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.types = types
        self.signs = signs
        self.naming = naming
        self.advice = advice ?? kind.advice
    }

    /// One that is told by how its files begin.
    private init(
        _ kind: Kind, _ name: String, _ signs: Part..., types: [String] = [], named naming: Naming? = nil,
        advice: String? = nil
    ) {
        self.init(kind, name, signs: signs.map { [$0] }, types: types, named: naming, advice: advice)
    }

    /// The one as which `head` begins, up to a few tens of kilobytes of a file.
    public init?(head: [UInt8]) {
        guard let first = head.first else { return nil }
        let head = Head(head)
        let places = Self.places[Int(first)]
        guard let place = places.first(where: { Self.all[$0].signs.contains { $0.allSatisfy(head.has) } }) else {
            return nil
        }
        self = Self.all[place]
    }

    /// The one that libmagic's media type names.
    public init?(sniffed type: String) {
        guard let found = Self.all.first(where: { $0.types.contains(type) }) else { return nil }
        self = found
    }

    /// The one whose files are called `….ending` and look like this to libmagic.
    public init?(fileExtension ending: String, sniffed type: String?) {
        let (ending, type) = (ending.lowercased(), type ?? Naming.unknown)
        let found = Self.all.first { $0.naming?.look == type && $0.naming?.extensions.contains(ending) == true }
        guard let found else { return nil }
        self = found
    }

    /// Of media: that it isn't taken. What is none isn't recognised.
    public var refusal: AttachmentError { refusal(by: "this is") }

    /// The same of a file of which nothing but its name tells that.
    public var refusalByName: AttachmentError { refusal(by: "by its name this is") }

    private func refusal(by sign: String) -> AttachmentError {
        kind == .other
            ? .unrecognizedType(sniffed: types.first)
            : .unsupportedFeature(reason: "\(sign) \(name), which is not supported", advice: advice)
    }

    /// The refusal of what no decoder took and libmagic calls `type`.
    public static func refusal(sniffed type: String) -> AttachmentError {
        if let format = ForeignFormat(sniffed: type) {
            // By which of its types it was known, its name may still tell more.
            return format.kind == .other ? .unrecognizedType(sniffed: type) : format.refusal
        }
        let kinds: [(String, Kind)] = [("image/", .picture), ("video/", .video), ("audio/", .sound)]
        // What libmagic calls media of a type that isn't in the table is media nevertheless.
        guard let kind = kinds.first(where: { type.hasPrefix($0.0) })?.1, MediaType(declared: type) == nil else {
            return .unrecognizedType(sniffed: type)
        }
        return .unsupportedFeature(reason: "it looks like \(type), which is not supported", advice: kind.advice)
    }

    /// What libmagic says of a file without a byte.
    public static let emptyType = "application/x-empty"
    /// What the codec says of a file that begins with nothing but zeros. What follows the type is for people, here and below.
    public static let zerosType = "application/octet-stream (zeros)"
    /// The type for a file that begins with one other byte, over and over.
    public static let fillerType = "application/octet-stream (filler)"
    /// The type for text behind the letters that a GIF begins with.
    public static let scriptType = "text/plain (script)"
    /// The type for a PDF that opens with a password.
    public static let lockedDocumentType = "application/pdf (encrypted)"
}

extension ForeignFormat.Kind {
    package var advice: String {
        switch self {
        case .picture: "Convert it to JPEG or PNG."
        case .drawing: "Export it as PNG or JPEG."
        case .video: "Convert it to MP4."
        case .sound: "Convert it to M4A, MP3 or FLAC."
        case .other: "Send the picture, sound or video itself."
        }
    }
}

extension ForeignFormat {
    /// Every format that is known and not taken, those of a kind together.
    static let all: [ForeignFormat] = [pictures, drawings, videos, sounds, others].flatMap(\.self)

    /// By the first byte of a file, the places in the table of what it may be: every source is looked up in it.
    private static let places: [[Int]] = {
        var places = [[Int]](repeating: [], count: 256)
        for (place, format) in all.enumerated() {
            for sign in format.signs {
                for byte in sign.lazy.compactMap(\.firstBytes).first ?? Array(UInt8.min...UInt8.max)
                where places[Int(byte)].last != place {
                    places[Int(byte)].append(place)
                }
            }
        }
        return places
    }()

    private static let pictures: [ForeignFormat] = [
        ForeignFormat(
            .picture, "a JPEG 2000 picture", .at(4, "jP  \r\n"), [0xff, 0x4f, 0xff, 0x51],
            types: ["image/jp2", "image/jpx", "image/jpm", "image/x-jp2-codestream"]),
        // Behind PNG's signature and the length of its first chunk.
        ForeignFormat(
            .picture, "a PNG as Xcode packs it into iOS apps (CgBI)", .at(12, "CgBI"),
            advice: "Export it as an ordinary PNG."),
        ForeignFormat(.picture, "a JPEG XR picture", [0x49, 0x49, 0xbc], types: ["image/jxr"]),
        ForeignFormat(.picture, "a Photoshop document", "8BPS", types: ["image/vnd.adobe.photoshop"]),
        ForeignFormat(.picture, "an OpenEXR picture", [0x76, 0x2f, 0x31, 0x01], types: ["image/x-exr"]),
        ForeignFormat(.picture, "a Radiance HDR picture", "#?RADIANCE", "#?RGBE", types: ["image/vnd.radiance"]),
        ForeignFormat(.picture, "a QOI picture", signs: [["qoif", .at(4, [0])]], types: ["image/x-qoi"]),
        ForeignFormat(.picture, "a Windows icon", types: ["image/vnd.microsoft.icon", "image/x-icon"]),
        ForeignFormat(.picture, "a Windows cursor", types: ["image/x-win-bitmap"]),
        ForeignFormat(
            .picture, "an animated Windows cursor", signs: [["RIFF", .at(8, "ACON")]],
            advice: "Convert it to GIF."),
        ForeignFormat(.picture, "a macOS icon", "icns", types: ["image/x-icns"]),
        ForeignFormat(.picture, "a Targa picture", types: ["image/x-tga"]),
        ForeignFormat(.picture, "a PCX picture", types: ["image/x-pcx", "image/vnd.zbrush.pcx"]),
        ForeignFormat(
            .picture, "a Netpbm picture", "P7\n", "PF\n", "Pf\n", "PH\n", "Ph\n",
            types: [
                "image/x-portable-bitmap", "image/x-portable-greymap", "image/x-portable-graymap",
                "image/x-portable-pixmap", "image/x-portable-anymap", "image/x-portable-arbitrarymap",
                "image/x-portable-float-map",
            ]),
        ForeignFormat(
            .picture, "an X pixmap", "/* XPM */", "! XPM2", types: ["image/x-xpmi", "image/x-xpixmap"]),
        ForeignFormat(
            .picture, "an X bitmap", signs: [[.text("#define "), .textWithin("_width "), .textWithin("_bits[]")]],
            types: ["image/x-xbitmap"]),
        ForeignFormat(
            .picture, "an X window's picture (XWD)", types: ["image/x-xwindowdump"]),
        ForeignFormat(
            .picture, "a picture in a terminal's codes (Sixel)", [0x1b, 0x50, 0x71], [0x1b, 0x50, 0x30, 0x3b]),
        ForeignFormat(.picture, "a WBMP picture", named: Naming("wbmp", "wbm")),
        ForeignFormat(.picture, "a Palm's picture", named: Naming("palm")),
        ForeignFormat(.picture, "a Khoros picture (VIFF)", [0xab, 0x01, 0x01, 0x03]),
        ForeignFormat(.picture, "a scanned drawing (CALS)", .text("srcdocid:"), .text("version: mil-std-1840")),
        ForeignFormat(.picture, "a bare fax", types: ["image/g3fax"], named: Naming("g3", "g4", "fax")),
        ForeignFormat(.picture, "a JNG picture", [0x8b, 0x4a, 0x4e, 0x47, 0x0d, 0x0a], types: ["video/x-jng"]),
        ForeignFormat(
            .picture, "an Amiga's picture (IFF)",
            signs: Part.chunk("FORM", of: "ILBM", "PBM ", "ACBM", "ANIM", "DEEP", "RGB8", "RGBN"),
            types: ["image/x-ilbm"]),
        ForeignFormat(.picture, "an ImageMagick picture (MIFF)", "id=ImageMagick", types: ["image/x-miff"]),
        ForeignFormat(.picture, "a space probe's picture (VICAR)", "LBLSIZE="),
        ForeignFormat(.picture, "a Photo CD picture", .at(2048, "PCD_IPI"), types: ["image/x-photo-cd"]),
        ForeignFormat(.picture, "a GIMP picture", "gimp xcf ", types: ["image/x-xcf"]),
        ForeignFormat(.picture, "a Paint Shop Pro picture", "Paint Shop Pro Image File"),
        ForeignFormat(.picture, "a Paint.NET picture", "PDN3", types: ["image/x-paintnet"]),
        ForeignFormat(.picture, "a Clip Studio picture", "CSFCHUNK"),
        ForeignFormat(.picture, "an Affinity document", [0x00, 0xff, 0x4b, 0x41]),
        ForeignFormat(.picture, "a Procreate picture", named: Naming("procreate", of: Naming.zip)),
        ForeignFormat(
            .picture, "a RAW photograph",
            named: Naming("raw", "nef", "nrw", "arw", "srf", "dng", "3fr", "erf", "kdc", "mos", "mef", "iiq", "srw"),
            advice: "Export it as JPEG."),
        ForeignFormat(
            .picture, "an OpenRaster picture", .at(30, "mimetypeimage/openraster"), types: ["image/openraster"]),
        ForeignFormat(
            .picture, "a Krita picture", .at(30, "mimetypeapplication/x-krita"), types: ["application/x-krita"]),
        ForeignFormat(
            .picture, "a DDS texture", signs: [["DDS ", .at(4, [124, 0, 0, 0])]],
            types: ["image/vnd-ms.dds", "image/x-dds"]),
        ForeignFormat(.picture, "a KTX texture", [0xab, 0x4b, 0x54, 0x58, 0x20], types: ["image/ktx", "image/ktx2"]),
        ForeignFormat(.picture, "an ASTC texture", [0x13, 0xab, 0xa1, 0x5c]),
        ForeignFormat(.picture, "a Valve texture", "VTF\0", types: ["image/x-vtf"]),
        ForeignFormat(.picture, "a PowerVR texture", "PVR\u{3}"),
        ForeignFormat(.picture, "a BLP texture", "BLP1", "BLP2"),
        ForeignFormat(.picture, "a better portable graphic (BPG)", [0x42, 0x50, 0x47, 0xfb], types: ["image/bpg"]),
        ForeignFormat(.picture, "a FLIF picture", "FLIF", types: ["image/flif"]),
        ForeignFormat(.picture, "a farbfeld picture", "farbfeld"),
        ForeignFormat(
            .picture, "a JBIG2 scan", [0x97, 0x4a, 0x42, 0x32, 0x0d, 0x0a, 0x1a, 0x0a], types: ["image/x-jbig2"]),
        ForeignFormat(.picture, "a DjVu scan", "AT&TFORM", types: ["image/vnd.djvu"]),
        ForeignFormat(
            .picture, "a DICOM picture", .at(128, "DICM"), types: ["application/dicom"], advice: "Export it as PNG."),
        ForeignFormat(
            .picture, "a NIfTI scan", .at(344, "n+1\0"), .at(344, "ni1\0"), types: ["image/x.nifti"],
            advice: "Export a slice of it as PNG."),
        ForeignFormat(
            .picture, "a FITS picture", "SIMPLE  =", types: ["image/fits", "application/fits"],
            advice: "Export it as PNG."),
        ForeignFormat(.picture, "a MrSID map", "msid"),
        ForeignFormat(.picture, "a Silicon Graphics picture", [0x01, 0xda, 0, 1], [0x01, 0xda, 1, 1]),
        ForeignFormat(.picture, "a Sun raster picture", [0x59, 0xa6, 0x6a, 0x95]),
        ForeignFormat(.picture, "a Macintosh picture (PICT)", .at(522, [0x00, 0x11, 0x02, 0xff])),
        ForeignFormat(.picture, "a DPX picture", "SDPX", "XPDS", types: ["image/x-dpx"]),
        ForeignFormat(.picture, "a NITF picture", "NITF0", "NSIF0"),
        // A Macintosh's file in one piece: its type is at 65, and these are 0 or its version (the format's second one).
        ForeignFormat(
            .picture, "a JPEG wrapped up by an old Macintosh (MacBinary)",
            signs: [[[0], .at(65, "JPEG"), .at(74, [0])]],
            advice: "Leave its first 128 bytes out, or send the picture itself."),
        ForeignFormat(
            .picture, "a picture with something in front that isn't part of it",
            signs: [
                [.within(16, [0x0a, 0xff, 0xd8, 0xff])], [.within(16, [0x0a, 0x89, 0x50, 0x4e, 0x47])],
                [[0x20, 0xff, 0xd8, 0xff]], [[0xef, 0xbb, 0xbf, 0xff, 0xd8, 0xff]],
                [[0xef, 0xbb, 0xbf, 0x89, 0x50, 0x4e, 0x47]],
            ] + printed,
            advice: "Send it without that: an empty line, a byte order mark (BOM), or what a program printed."),
        // The Base64 of how JPEG, PNG, GIF, RIFF (WebP, WAV, AVI), ID3, FLAC, Ogg, Matroska, TIFF and MP4 (HEIF, too) begin.
        ForeignFormat(
            .picture, "a picture, sound or video written as text (Base64)",
            signs: [
                ["/9j/"], ["iVBORw0KGgo"], ["R0lGOD"], ["UklGR"], ["SUQz"], ["ZkxhQ"], ["T2dnUw"], ["GkXfo"], ["SUkqA"],
                ["TU0AK"], ["AAAA", .at(6, "Z0eX")], [.text("data:image/")], [.text("data:video/")],
                [.text("data:audio/")], ["_9j_"],
                [.text("\"data:image/")], [.text("\"data:video/")], [.text("\"data:audio/")],
            ],
            advice: "Decode it first."),
        ForeignFormat(
            .picture, "a picture written as text (its bytes as numbers)",
            .text("ffd8ff"), .text("ff d8 ff"), .text("89504e47"), .text("89 50 4e 47"), .text("0xff, 0xd8"),
            .text("0xffd8"), .text("\\xff\\xd8"), .text("b'\\xff\\xd8"), .text("b'\\x89png"), .text("\\x89png"),
            .text("00000000: ffd8"), .text("00000000: 8950"), .text("00000000  ff d8"), .text("00000000  89 50"),
            .text("{\"type\":\"buffer\""), .text("{\"type\": \"buffer\""), .text("[255,216,255"),
            .text("[255, 216, 255"),
            .text("[137,80,78"), .text("[137, 80, 78"), .text("255 216 255 "), .text("137 80 78 71 "),
            .text("255,216,255,"), .text("137,80,78,71,"),
            advice: "Write its bytes to a file as they are."),
        ForeignFormat(
            .picture, "a file written as text (uuencode)", "begin 644 ", "begin 664 ", "begin 666 ", "begin 600 ",
            types: ["text/x-uuencode"], advice: "Decode it first."),
    ]

    /// What scripts print of themselves, and then a JPEG or PNG.
    private static let printed: [[Part]] = [
        "<br />", "<b>warning", "<b>notice", "warning: ", "notice: ", "php warning", "php notice",
    ]
    .flatMap { text in
        [[0xff, 0xd8, 0xff], [0x89, 0x50, 0x4e, 0x47]].map { [.text(text), .within(4096, $0)] }
    }

    private static let drawings: [ForeignFormat] = [
        ForeignFormat(
            .drawing, "an SVG drawing", .root("svg"), types: ["image/svg+xml", "image/svg"],
            named: Naming("svgz", of: Naming.gzip)),
        ForeignFormat(.drawing, "a diagrams.net drawing", .root("mxfile"), .root("mxGraphModel")),
        // libmagic calls many a text so.
        ForeignFormat(
            .drawing, "a plotter's drawing (HP-GL)",
            signs: [[.text("in;"), .textWithin("pu")], [.text("in;"), .textWithin("pd")], [[0x1b, 0x25, 0x2d]]]),
        ForeignFormat(
            .drawing, "a computer graphics metafile (CGM)", types: ["image/cgm"], named: Naming("cgm")),
        ForeignFormat(.drawing, "a Sketch document", named: Naming("sketch", of: Naming.zip)),
        ForeignFormat(.drawing, "an Adobe XD document", named: Naming("xd", of: Naming.zip)),
        ForeignFormat(
            .other, "a drawing script for ImageMagick (MVG)", .text("push graphic-context"), types: ["image/x-mvg"],
            advice: attackAdvice),
        ForeignFormat(
            .other, "a script that only begins as a GIF", types: [scriptType], advice: attackAdvice),
        ForeignFormat(
            .drawing, "a PostScript drawing", "%!PS-Adobe-", "%!PS\n", "%!PS\r", "%!PS ", [0xc5, 0xd0, 0xd3, 0xc6],
            types: ["application/postscript", "image/x-eps"]),
        ForeignFormat(
            .drawing, "a Windows metafile (EMF)", signs: [[[1, 0, 0, 0], .at(40, " EMF")]], types: ["image/emf"]),
        ForeignFormat(
            .drawing, "a Windows metafile (WMF)", [0xd7, 0xcd, 0xc6, 0x9a], types: ["image/wmf", "image/x-wmf"]),
        ForeignFormat(
            .drawing, "a CorelDRAW drawing", signs: [["RIFF", .at(8, "CDR")]], types: ["application/vnd.corel-draw"]),
        ForeignFormat(.drawing, "an AutoCAD drawing", "AC10", types: ["image/vnd.dwg", "image/vnd.dxf"]),
        ForeignFormat(
            .drawing, "an InDesign document", [0x06, 0x06, 0xed, 0xf5, 0xd8, 0x1d, 0x46, 0xe5],
            types: ["application/x-adobe-indesign"]),
        ForeignFormat(
            .drawing, "a Lottie animation",
            signs: [
                [.json, .textWithin("\"fr\":"), .textWithin("\"ip\":"), .textWithin("\"op\":")],
                [.json, .textWithin("\"fr\":"), .textWithin("\"layers\":")], [#"{"tgs":"#], [#"{"v":"4."#],
                [#"{"v":"5."#],
            ],
            types: ["video/lottie+json"], named: Naming("lottie", of: Naming.zip), advice: "Export it as GIF or MP4."),
        ForeignFormat(
            .drawing, "a sticker of Telegram's (a packed Lottie animation)", named: Naming("tgs", of: Naming.gzip),
            advice: "Convert it to GIF or MP4."),
        ForeignFormat(
            .drawing, "a Flash film", signs: [["FWS", .at(7, [0])], ["CWS", .at(7, [0])], ["ZWS", .at(7, [0])]],
            types: ["application/x-shockwave-flash", "application/vnd.adobe.flash.movie"],
            advice: "Export it as MP4."),
    ]

    private static let attackAdvice =
        "Such files are used in attacks: don't open or convert it. Send the picture itself."

    private static let segmentAdvice = "Send the whole stream as one file, beginning with its first part."

    private static let videos: [ForeignFormat] = [
        // The key of a header partition (SMPTE 377).
        ForeignFormat(
            .video, "MXF", [0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02],
            types: ["application/mxf"]),
        // What a player loads piece by piece (ISO/IEC 14496-12, clause 8.16): how it is coded stands elsewhere.
        ForeignFormat(
            .video, "a segment of a stream", .at(4, "styp"), .at(4, "moof"), .at(4, "sidx"), advice: segmentAdvice),
        ForeignFormat(
            .video, "a DVD's table of contents (IFO)", "DVDVIDEO-VMG", "DVDVIDEO-VTS",
            advice: "Send the video itself: the VOB files that lie beside it."),
        ForeignFormat(.video, "RealMedia", ".RMF", types: ["application/vnd.rn-realmedia"]),
        // The first block's header, of 60 and of 50 fields a second (IEC 61834).
        ForeignFormat(.video, "raw DV", [0x1f, 0x07, 0x00, 0x3f], [0x1f, 0x07, 0x00, 0xbf], types: ["video/x-dv"]),
        ForeignFormat(
            .video, "a WTV recording",
            [0xb7, 0xd8, 0x00, 0x20, 0x37, 0x49, 0xda, 0x11, 0xa6, 0x4e, 0x00, 0x07, 0xe9, 0x5e, 0xad, 0x8d]),
        ForeignFormat(.video, "a Flash video (FLV)", "FLV\u{1}", types: ["video/x-flv"]),
        ForeignFormat(.video, "a Bink video", "BIKb", "BIKf", "BIKg", "BIKh", "BIKi", "BIKk", "KB2"),
        ForeignFormat(.video, "a Smacker video", "SMK2", "SMK4"),
        ForeignFormat(.video, "a RoQ video", [0x84, 0x10, 0xff, 0xff, 0xff, 0xff]),
        ForeignFormat(
            .video, "a video for small players (AMV)", signs: [["RIFF", .at(8, "AMV ")]], types: ["video/x-amv"]),
        ForeignFormat(.video, "an NSV stream", "NSVf", "NSVs"),
        ForeignFormat(.video, "a RED camera's film (R3D)", .at(4, "RED1"), .at(4, "RED2")),
        ForeignFormat(.video, "a high-speed camera's film (CINE)", [0x43, 0x49, 0x2c, 0x00]),
        ForeignFormat(
            .video, "an MNG animation", [0x8a, 0x4d, 0x4e, 0x47, 0x0d, 0x0a], types: ["video/x-mng"],
            advice: "Convert it to GIF or MP4."),
        ForeignFormat(
            .video, "a stream of JPEGs, as webcams send it",
            signs: [[.text("--"), .textWithin("content-type: image/jpeg"), .without("content-disposition")]]),
        ForeignFormat(.video, "raw pictures (Y4M)", "YUV4MPEG2 ", types: ["video/x-yuv4mpeg", "video/x-raw-yuv"]),
        ForeignFormat(.video, "IVF", "DKIF"),
        ForeignFormat(.video, "NUT", "nut/multimedia container"),
        ForeignFormat(.video, "GXF", [0, 0, 0, 0, 0x01, 0xbc]),
        // A start code, and parameters or the mark of an access unit (ISO/IEC 14496-10, 7.4.1; 23008-2, 7.4.2).
        ForeignFormat(
            .video, "raw H.264", [0, 0, 0, 1, 0x67], [0, 0, 0, 1, 0x27], [0, 0, 0, 1, 0x47], [0, 0, 0, 1, 0x09],
            [0, 0, 1, 0x67], [0, 0, 1, 0x27]),
        ForeignFormat(.video, "raw HEVC", [0, 0, 0, 1, 0x40, 1], [0, 0, 0, 1, 0x46, 1], [0, 0, 1, 0x40, 1]),
        // A temporal delimiter, and the header of a sequence (AV1, 5.3.1 and 5.3.2).
        ForeignFormat(.video, "raw AV1", [0x12, 0x00, 0x0a]),
        ForeignFormat(
            .video, "raw pictures without a word of their size", named: Naming("yuv", "rgb", "bgr", "nv12", "i420"),
            advice: "Convert it to MP4 with a program that can be told their size and form."),
        ForeignFormat(.video, "an Autodesk animation (FLIC)", types: ["video/x-flc", "video/x-fli"]),
    ]

    private static let sounds: [ForeignFormat] = [
        ForeignFormat(
            .sound, "an encrypted audiobook (Audible)", .at(4, "ftypaax"), .at(4, [0x57, 0x90, 0x75, 0x36]),
            advice: "Send it without copy protection."),
        ForeignFormat(.sound, "RealAudio", [0x2e, 0x72, 0x61, 0xfd], types: ["audio/x-pn-realaudio"]),
        ForeignFormat(
            .sound, "a MIDI file", signs: [["MThd"], ["RIFF", .at(8, "RMID")]], types: ["audio/midi"],
            advice: "It holds notes and no sound: play it, and send the recording as M4A, MP3 or FLAC."),
        ForeignFormat(
            .sound, "a tracker's module",
            signs: [
                ["IMPM"], ["Extended Module: "], [.at(44, "SCRM")], ["MMD0"], ["MMD1"], ["MMD2"], ["MMD3"],
                ["MTM\u{10}"],
                [.at(1080, "M.K.")], [.at(1080, "M!K!")], [.at(1080, "FLT4")], [.at(1080, "FLT8")], [.at(1080, "4CHN")],
                [.at(1080, "6CHN")], [.at(1080, "8CHN")], [.at(1080, "CD81")], [.at(1080, "OCTA")],
            ],
            types: ["audio/x-mod", "audio/x-s3m"],
            advice: "It holds notes and samples: play it, and send the recording as M4A, MP3 or FLAC."),
        ForeignFormat(
            .sound, "a tune for an old computer or console", "PSID", "RSID", "NESM\u{1a}", "SNES-SPC700", "GBS\u{1}",
            "ZXAYEMUL", "Vgm ",
            advice: "It is a program: play it, and send the recording as M4A, MP3 or FLAC."),
        ForeignFormat(.sound, "an Amiga's sound (IFF)", signs: Part.chunk("FORM", of: "8SVX", "16SV")),
        ForeignFormat(.sound, "a voice message in SILK", "#!SILK_V3", "\u{2}#!SILK_V3"),
        ForeignFormat(.sound, "a dictation (DSS)", "\u{2}dss", "\u{3}dss", "\u{3}ds2"),
        ForeignFormat(.sound, "a phone's voice recording (QCP)", signs: [["RIFF", .at(8, "QLCM")]]),
        ForeignFormat(.sound, "an Xbox game's sound (XWMA)", signs: [["RIFF", .at(8, "XWMA")]]),
        ForeignFormat(.sound, "Sony's ATRAC", "ea3\u{3}", "EA3\u{1}"),
        ForeignFormat(.sound, "Shorten", "ajkg"),
        ForeignFormat(.sound, "OptimFROG", "OFR "),
        ForeignFormat(.sound, "TAK", "tBaK"),
        ForeignFormat(.sound, "CRI's ADX", types: ["audio/x-adx"]),
        ForeignFormat(
            .sound, "raw TrueHD or MLP", .at(4, [0xf8, 0x72, 0x6f, 0xba]), .at(4, [0xf8, 0x72, 0x6f, 0xbb])),
        ForeignFormat(
            .sound, "sound without a word of its form, as telephony keeps it",
            named: Naming("pcm", "gsm", "g722", "g729", "ulaw", "alaw", "ul", "al", "sln", "l16"),
            advice: "Convert it to M4A, MP3 or FLAC with a program that can be told its coding and rate."),
        ForeignFormat(.sound, "Monkey's Audio", signs: [["MAC ", .at(5, [0x0f])]], types: ["audio/x-ape"]),
        ForeignFormat(.sound, "WavPack", "wvpk", types: ["audio/x-wavpack"]),
        ForeignFormat(.sound, "Musepack", "MPCK", "MP+", types: ["audio/x-musepack"]),
        ForeignFormat(.sound, "True Audio (TTA)", "TTA1", "TTA2"),
        ForeignFormat(.sound, "DSD", signs: [["DSD ", .at(4, [28, 0, 0, 0])], ["FRM8"]], types: ["audio/x-dsd"]),
        ForeignFormat(.sound, "AU sound", ".snd", types: ["audio/basic"]),
        ForeignFormat(.sound, "a Creative Voice file", "Creative Voice File"),
        ForeignFormat(.sound, "Sony Wave64", [0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11], types: ["audio/x-w64"]),
        ForeignFormat(.sound, "raw Dolby Digital", types: ["audio/vnd.dolby.dd-raw", "audio/ac3"]),
        ForeignFormat(
            .sound, "raw DTS", [0x7f, 0xfe, 0x80, 0x01], [0xfe, 0x7f, 0x01, 0x80], types: ["audio/vnd.dts"]),
    ]

    private static let others: [ForeignFormat] = [
        // As which macOS keeps what other file systems have no place for (RFC 1740); libmagic doesn't know it everywhere.
        ForeignFormat(
            .other, "what macOS notes beside a file", [0, 0x05, 0x16, 0x07, 0, 2, 0, 0],
            types: ["multipart/appledouble"],
            advice: "Send the one without '._' before its name."),
        ForeignFormat(
            .other, "a file as old Macintoshes packed it in one piece (AppleSingle)",
            [0, 0x05, 0x16, 0x00, 0, 2, 0, 0],
            types: ["application/applefile"], advice: "Unpack it, and send what is in it."),
        ForeignFormat(
            .other, "a file of nothing but zeros, as a copy or a download leaves it that was never filled",
            types: [zerosType], advice: "Send it again."),
        ForeignFormat(
            .other, "a file of one byte over and over, as a copy or a download leaves it that was never filled",
            types: [fillerType], advice: "Send it again."),
        ForeignFormat(
            .other, "a PDF document", types: ["application/pdf"], advice: "Export its pages as JPEG or PNG."),
        ForeignFormat(
            .other, "an encrypted PDF document", types: [lockedDocumentType],
            advice: "Open it with its password, and export its pages as JPEG or PNG."),
        ForeignFormat(
            .other, "an office document or a book",
            types: [
                "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.spreadsheet",
                "application/vnd.oasis.opendocument.presentation", "text/rtf", "application/epub+zip",
            ], named: Naming("key", "pages", "numbers", of: Naming.zip),
            advice: "Send the pictures that are in it, or export its pages as JPEG or PNG."),
        // The lowest bit of an entry's flags (APPNOTE 4.4.4); the other one says where its sizes stand.
        ForeignFormat(
            .other, "an archive with a password",
            signs: [["PK\u{3}\u{4}", .at(6, [0x01])], ["PK\u{3}\u{4}", .at(6, [0x09])]],
            types: ["application/zip (encrypted)"], advice: "Unpack it with its password, and send what is in it."),
        ForeignFormat(
            .other, "an archive", "MSCF",
            types: [
                "application/zip", "application/gzip", "application/x-7z-compressed", "application/x-rar",
                "application/vnd.rar", "application/x-tar", "application/x-ustar", "application/x-gtar",
                "application/x-bzip2", "application/x-xz", "application/zstd", "application/x-lz4",
                "application/x-lzma",
                "application/x-lzip", "application/x-compress", "application/x-lzh-compressed", "application/x-arj",
                "application/x-stuffit", "application/x-cpio", "application/x-archive",
                "application/vnd.ms-cab-compressed",
                "application/java-archive", "application/x-lha",
            ], named: Naming("br", "lzma"), advice: "Unpack it, and send what is in it."),
        ForeignFormat(
            .other, "a disk's image", types: ["application/x-iso9660-image", "application/x-apple-diskimage"],
            named: Naming("dmg", "img", "iso", "vhd", "vmdk"), advice: "Open it, and send the files that are in it."),
        ForeignFormat(
            .other, "an e-mail or a saved web page",
            signs: [
                [.text("from "), .textWithin("\nfrom: ")],
                [.text("content-type: "), .textWithin("content-transfer-encoding:")],
                [.text("mime-version:")],
            ], types: ["message/rfc822", "application/mbox"],
            advice: "Send what is attached to it, or shown in it."),
        ForeignFormat(
            .other, "a message of Outlook's", types: ["application/vnd.ms-outlook"],
            named: Naming("msg", of: "application/x-ole-storage"),
            advice: "Send what is attached to it, or shown in it."),
        ForeignFormat(
            .other, "a form as browsers send it, with a file in it",
            signs: [[.text("--"), .textWithin("content-disposition: form-data")]], types: ["multipart/form-data"],
            advice: "Send the file alone: without the lines in front of it and behind it."),
        ForeignFormat(
            .other, "a web server's answer, with its header in front", .text("http/1."), .text("http/2"),
            .text("http/3"),
            types: ["message/http"], advice: "Send what comes behind the header's empty line, or download it again."),
        ForeignFormat(
            .other, "an e-mail's contents as Outlook packs them (winmail.dat)", types: ["application/vnd.ms-tnef"],
            advice: "Send what is packed in it, or have it sent without Rich Text."),
        ForeignFormat(
            .other, "a web page, as servers also answer in place of a file", .root("html"), types: ["text/html"],
            advice: "Send the picture, sound or video itself, and not the page that shows it."),
        ForeignFormat(
            .other, "a playlist",
            signs: [
                ["ffconcat version "], [.text("#extm3u")], [.text("[playlist]")], [.root("playlist")], [.root("asx")],
                [.root("smil")], [.textWithin("file \""), .textWithin("track 01 audio")],
            ],
            types: [
                "application/vnd.apple.mpegurl", "audio/x-mpegurl", "application/x-mpegurl", "audio/x-scpls",
            ], advice: "It only names files: send the sound or video itself."),
        ForeignFormat(
            .other, "a stream's list of its parts (DASH, Smooth Streaming)", .root("MPD"),
            .root("SmoothStreamingMedia"),
            types: ["application/dash+xml"],
            advice: "It only names files: send the video itself, in one file."),
        ForeignFormat(
            .other, "a link to a page or a file",
            signs: [
                [.text("[internetshortcut]")], [.root("plist"), .textWithin("<key>url</key>")],
                [.text("[desktop entry]"), .textWithin("type=link")], [.json, .textWithin("docs.google.com/")],
            ],
            types: ["application/x-mswinurl", "application/x-ms-shortcut", "application/x-bittorrent"],
            advice: "Send what it leads to."),
        ForeignFormat(
            .other, "a file of subtitles or song texts", .text("webvtt"), .text("[script info]"), .root("tt"),
            .text("[ti:"), .text("[ar:"),
            types: ["text/vtt", "application/x-subrip"],
            advice: "Send the sound or video that they belong to."),
        ForeignFormat(
            .other, "what Photos notes of an edit (AAE)", signs: [[.root("plist"), .textWithin("<key>adjustment")]],
            types: ["application/x-apple-aae"], advice: "Send the picture or video that is called like it."),
        ForeignFormat(
            .other, "what programs note of a picture (XMP)", .text("<?xpacket"), .root("xmpmeta"),
            types: ["application/rdf+xml"], advice: "Send the picture that is called like it."),
        ForeignFormat(
            .other, "a way or places on a map", .root("gpx"), .root("kml"), .root("TrainingCenterDatabase"),
            types: ["application/gpx+xml"], advice: "Send a picture of it."),
        ForeignFormat(
            .other, "a person's card or a date of a calendar", .text("begin:vcard"), .text("begin:vcalendar"),
            types: ["text/vcard", "text/x-vcard", "text/calendar"], advice: "Send the picture that is in it."),
        ForeignFormat(
            .other, "an instrument's sounds (SoundFont)", signs: [["RIFF", .at(8, "sfbk")]], types: ["audio/x-sfbk"],
            advice: "Play something with it, and send the recording as M4A, MP3 or FLAC."),
        ForeignFormat(
            .other, "a 3D model",
            signs: [
                ["glTF", .at(5, [0, 0, 0])], ["Kaydara FBX Binary"], ["BLENDER"], ["ply\n"], ["ply\r\n"],
                [.text("solid "), .textWithin("facet ")], ["PK\u{3}\u{4}", .within(160, ".usd")], ["PXR-USDC"],
                ["#usda "],
                [.json, .textWithin("\"asset\""), .textWithin("\"scene")], [.root("COLLADA")], [.root("X3D")],
                ["3D Geometry File Format"], ["LASF"],
            ] + Part.chunk("FORM", of: "LWOB", "LWLO", "LWO2", "LWO3"),
            types: ["model/gltf-binary", "model/stl", "model/obj"], named: Naming("obj", "mtl", of: Naming.text),
            advice: "Send a picture of it."),
        ForeignFormat(
            .other, "a pointer of Git LFS in place of the file", "version https://git-lfs", types: ["text/x-git-lfs"],
            advice: "Fetch the file itself (git lfs pull), and send that."),
        ForeignFormat(
            .other, "an encrypted file", "-----BEGIN PGP MESSAGE", "age-encryption.org/", "AES\u{2}", "U2FsdGVkX1",
            [0x85, 0x01, 0x0c, 0x03],
            [0x85, 0x02, 0x0c, 0x03], [0x8c, 0x0d, 0x04], "Salted__",
            types: ["application/pgp-encrypted", "application/pgp", "application/x-aes-encrypted"],
            advice: "Decrypt it, and send what comes out."),
        ForeignFormat(
            .other, "what Windows keeps thumbnails and old documents in",
            [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], types: ["application/x-ole-storage"]),
        ForeignFormat(
            .other, "what macOS notes of a folder", [0, 0, 0, 1, 0x42, 0x75, 0x64, 0x31],
            types: ["application/x-apple-ds-store"]),
        ForeignFormat(
            .other, "what stands for a file that iCloud hasn't downloaded", types: ["application/x-bplist (iCloud)"],
            named: Naming("icloud", of: "application/x-bplist"), advice: "Download the file itself, and send that."),
        ForeignFormat(
            .other, "a record of network traffic (pcap)", [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4],
            [0x4d, 0x3c, 0xb2, 0xa1], [0x0a, 0x0d, 0x0d, 0x0a], types: ["application/vnd.tcpdump.pcap"]),
        ForeignFormat(
            .other, "settings or a web archive of Apple's", "bplist0", types: ["application/x-bplist"]),
        ForeignFormat(
            .other, "a database", "SQLite format 3", types: ["application/vnd.sqlite3", "application/x-sqlite3"]),
        ForeignFormat(
            .other, "a program", .text("#!/"), .text("<?php"), .text("<script"),
            types: [
                "application/x-dosexec", "application/x-executable", "application/x-pie-executable",
                "application/x-sharedlib", "application/x-mach-binary", "application/vnd.microsoft.portable-executable",
                "application/vnd.android.package-archive", "application/x-java-applet", "application/wasm",
                "text/x-shellscript", "text/x-php",
            ], advice: attackAdvice),
        ForeignFormat(
            .other, "a font",
            signs: [
                ["%!PS-AdobeFont"], ["%!FontType"], ["OTTO"], ["wOFF"], ["wOF2"], ["ttcf"],
                [.at(8, [1, 0, 2, 0]), .at(34, "LP")],
                [.at(8, [2, 0, 2, 0]), .at(34, "LP")],
            ],
            types: [
                "font/sfnt", "font/otf", "font/ttf", "application/font-sfnt", "application/vnd.ms-opentype",
                "font/x-postscript-pfb",
            ]),
        ForeignFormat(
            .other, "a container of scientific data", [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a],
            [0x43, 0x44, 0x46, 1], [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59], "PAR1", "MATLAB 5.0",
            types: ["application/x-hdf5", "application/x-netcdf"], named: Naming("pickle", "pkl", "safetensors"),
            advice: "Export its pictures as PNG."),
        // Of these some are more, and have an entry of their own above.
        ForeignFormat(
            .other, "settings of Apple's (property list)", .root("plist"), types: ["application/x-plist"]),
        ForeignFormat(
            .other, "data (XML), as servers also answer in place of a file", .text("<?xml"), .root("Error"),
            .root("Envelope"), types: ["text/xml", "application/xml"]),
        ForeignFormat(
            .other, "data (JSON), as servers also answer in place of a file", .json,
            types: ["application/json", "application/x-ndjson"]),
    ]
}
