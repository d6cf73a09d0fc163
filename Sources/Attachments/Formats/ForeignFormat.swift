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
    /// A sentence: `Convert it to MP4.`
    public let advice: String

    /// What files have at a place.
    struct Part: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        let place: Int
        let bytes: [UInt8]

        init(stringLiteral text: String) { self.init(at: 0, text) }

        init(arrayLiteral bytes: UInt8...) { self.init(at: 0, bytes) }

        private init(at place: Int, _ bytes: [UInt8]) { (self.place, self.bytes) = (place, bytes) }

        private init(at place: Int, _ text: String) { self.init(at: place, Array(text.utf8)) }

        static func at(_ place: Int, _ bytes: [UInt8]) -> Part { Part(at: place, bytes) }

        static func at(_ place: Int, _ text: String) -> Part { Part(at: place, text) }
    }

    private init(
        _ kind: Kind, _ name: String, signs: [[Part]], types: [String] = [], advice: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.types = types
        self.signs = signs
        self.advice = advice ?? kind.advice
    }

    /// One that is told by how its files begin.
    private init(_ kind: Kind, _ name: String, _ signs: Part..., types: [String] = [], advice: String? = nil) {
        self.init(kind, name, signs: signs.map { [$0] }, types: types, advice: advice)
    }

    /// The one as which `head` begins, up to a few hundred bytes of a file.
    public init?(head: [UInt8]) {
        let found = Self.all.first { format in
            format.signs.contains { $0.allSatisfy { head.dropFirst($0.place).starts(with: $0.bytes) } }
        }
        guard let found else { return nil }
        self = found
    }

    /// The one that libmagic's media type names.
    public init?(sniffed type: String) {
        guard let found = Self.all.first(where: { $0.types.contains(type) }) else { return nil }
        self = found
    }

    /// Of media: that it isn't taken. What is none isn't recognised.
    public var refusal: AttachmentError {
        kind == .other
            ? .unrecognizedType(sniffed: types.first)
            : .unsupportedFeature(reason: "this is \(name), which is not taken", advice: advice)
    }

    /// The refusal of what no decoder took and libmagic calls `type`.
    public static func refusal(sniffed type: String) -> AttachmentError {
        if let format = ForeignFormat(sniffed: type) { return format.refusal }
        let kinds: [(String, Kind)] = [("image/", .picture), ("video/", .video), ("audio/", .sound)]
        // What libmagic calls media of a type that isn't in the table is media nevertheless.
        guard let kind = kinds.first(where: { type.hasPrefix($0.0) })?.1, MediaType(declared: type) == nil else {
            return .unrecognizedType(sniffed: type)
        }
        return .unsupportedFeature(reason: "it looks like \(type), which is not taken", advice: kind.advice)
    }

    /// What libmagic says of a file without a byte.
    public static let emptyType = "application/x-empty"
    /// What the codec says of a file that begins with nothing but zeros. What follows the type is for people.
    public static let zerosType = "application/octet-stream (zeros)"
    /// The same of a PDF that opens with a password.
    public static let lockedDocumentType = "application/pdf (encrypted)"
}

extension ForeignFormat.Kind {
    var advice: String {
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

    private static let pictures = [
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
        ForeignFormat(.picture, "a macOS icon", "icns", types: ["image/x-icns"]),
        ForeignFormat(.picture, "a Targa picture", types: ["image/x-tga"]),
        ForeignFormat(.picture, "a PCX picture", types: ["image/x-pcx", "image/vnd.zbrush.pcx"]),
        ForeignFormat(
            .picture, "a Netpbm picture", "P7\n",
            types: [
                "image/x-portable-bitmap", "image/x-portable-greymap", "image/x-portable-graymap",
                "image/x-portable-pixmap", "image/x-portable-anymap", "image/x-portable-arbitrarymap",
                "image/x-portable-float-map",
            ]),
        ForeignFormat(.picture, "an X pixmap", "/* XPM */", types: ["image/x-xpmi", "image/x-xpixmap"]),
        ForeignFormat(.picture, "a GIMP picture", "gimp xcf ", types: ["image/x-xcf"]),
        ForeignFormat(.picture, "a Paint Shop Pro picture", "Paint Shop Pro Image File"),
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
            .picture, "a picture written as text (Base64)", "/9j/", "iVBORw0KGgo", "R0lGODlh", "R0lGODdh",
            "data:image/",
            advice: "Decode it first."),
        ForeignFormat(
            .picture, "a file written as text (uuencode)", "begin 644 ", "begin 664 ", "begin 666 ", "begin 600 ",
            types: ["text/x-uuencode"], advice: "Decode it first."),
    ]

    private static let drawings = [
        ForeignFormat(.drawing, "an SVG drawing", types: ["image/svg+xml", "image/svg"]),
        ForeignFormat(
            .drawing, "a PostScript drawing", "%!PS", [0xc5, 0xd0, 0xd3, 0xc6],
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
            .drawing, "a Lottie animation", #"{"tgs":"#, #"{"v":"4."#, #"{"v":"5."#, types: ["video/lottie+json"],
            advice: "Export it as GIF or MP4."),
        ForeignFormat(
            .drawing, "a Flash film", signs: [["FWS", .at(7, [0])], ["CWS", .at(7, [0])], ["ZWS", .at(7, [0])]],
            types: ["application/x-shockwave-flash", "application/vnd.adobe.flash.movie"],
            advice: "Export it as MP4."),
    ]

    private static let segmentAdvice = "Send the whole stream as one file, beginning with its first part."

    private static let videos = [
        // The key of a header partition (SMPTE 377).
        ForeignFormat(
            .video, "MXF", [0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02],
            types: ["application/mxf"]),
        // What a player loads piece by piece (ISO/IEC 14496-12, clause 8.16): how it is coded stands elsewhere.
        ForeignFormat(.video, "a segment of a stream", .at(4, "styp"), .at(4, "moof"), advice: segmentAdvice),
        ForeignFormat(.video, "RealMedia", ".RMF", types: ["application/vnd.rn-realmedia"]),
        // The first block's header, of 60 and of 50 fields a second (IEC 61834).
        ForeignFormat(.video, "raw DV", [0x1f, 0x07, 0x00, 0x3f], [0x1f, 0x07, 0x00, 0xbf], types: ["video/x-dv"]),
        ForeignFormat(
            .video, "a WTV recording",
            [0xb7, 0xd8, 0x00, 0x20, 0x37, 0x49, 0xda, 0x11, 0xa6, 0x4e, 0x00, 0x07, 0xe9, 0x5e, 0xad, 0x8d]),
        ForeignFormat(.video, "a Flash video (FLV)", "FLV\u{1}", types: ["video/x-flv"]),
        ForeignFormat(.video, "a Bink video", "BIKb", "BIKf", "BIKg", "BIKh", "BIKi", "BIKk"),
        ForeignFormat(.video, "raw pictures (Y4M)", "YUV4MPEG2 ", types: ["video/x-yuv4mpeg", "video/x-raw-yuv"]),
        ForeignFormat(.video, "IVF", "DKIF"),
        ForeignFormat(.video, "NUT", "nut/multimedia container"),
        ForeignFormat(.video, "GXF", [0, 0, 0, 0, 0x01, 0xbc]),
        // A start code, and parameters or the mark of an access unit (ISO/IEC 14496-10, 7.4.1; 23008-2, 7.4.2).
        ForeignFormat(
            .video, "raw H.264", [0, 0, 0, 1, 0x67], [0, 0, 0, 1, 0x27], [0, 0, 0, 1, 0x47], [0, 0, 0, 1, 0x09]),
        ForeignFormat(.video, "raw HEVC", [0, 0, 0, 1, 0x40, 1], [0, 0, 0, 1, 0x46, 1]),
        ForeignFormat(.video, "an Autodesk animation (FLIC)", types: ["video/x-flc", "video/x-fli"]),
    ]

    private static let sounds = [
        ForeignFormat(
            .sound, "an encrypted audiobook (AAX)", .at(4, "ftypaax"), advice: "Send it without copy protection."),
        ForeignFormat(.sound, "RealAudio", [0x2e, 0x72, 0x61, 0xfd], types: ["audio/x-pn-realaudio"]),
        ForeignFormat(
            .sound, "a MIDI file", "MThd", types: ["audio/midi"],
            advice: "It holds notes and no sound: play it, and send the recording as M4A, MP3 or FLAC."),
        ForeignFormat(
            .sound, "a tracker's module", .at(1080, "M.K."), "IMPM", "Extended Module: ", types: ["audio/x-mod"],
            advice: "It holds notes and samples: play it, and send the recording as M4A, MP3 or FLAC."),
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

    private static let others = [
        // As which macOS keeps what other file systems have no place for (RFC 1740); libmagic doesn't know it everywhere.
        ForeignFormat(
            .other, "what macOS notes beside a file", [0, 0x05, 0x16, 0x07, 0, 2, 0, 0],
            types: ["multipart/appledouble"],
            advice: "Send the one without '._' before its name."),
        ForeignFormat(
            .other, "a file of nothing but zeros, as a copy or a download leaves it that was never filled",
            types: [zerosType], advice: "Send it again."),
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
            ], advice: "Send the pictures that are in it, or export its pages as JPEG or PNG."),
        ForeignFormat(
            .other, "an archive",
            types: [
                "application/zip", "application/gzip", "application/x-7z-compressed", "application/x-rar",
                "application/vnd.rar", "application/x-tar", "application/x-bzip2", "application/x-xz",
                "application/zstd",
            ], advice: "Unpack it, and send what is in it."),
        ForeignFormat(
            .other, "an e-mail or a saved web page", types: ["message/rfc822"],
            advice: "Send what is attached to it, or shown in it."),
        ForeignFormat(
            .other, "an e-mail's contents as Outlook packs them (winmail.dat)", types: ["application/vnd.ms-tnef"],
            advice: "Send what is packed in it, or have it sent without Rich Text."),
        ForeignFormat(
            .other, "a web page, as servers also answer in place of a file", types: ["text/html"],
            advice: "Send the picture, sound or video itself, and not the page that shows it."),
        ForeignFormat(
            .other, "a playlist", "#EXTM3U", "[playlist]", "ffconcat version ",
            types: [
                "application/vnd.apple.mpegurl", "audio/x-mpegurl", "application/x-mpegurl", "audio/x-scpls",
            ], advice: "It only names files: send the sound or video itself."),
        ForeignFormat(
            .other, "a link to a page or a file", "[InternetShortcut]",
            types: ["application/x-mswinurl", "application/x-ms-shortcut", "application/x-bittorrent"],
            advice: "Send what it leads to."),
        ForeignFormat(
            .other, "a file of subtitles", "WEBVTT", types: ["text/vtt", "application/x-subrip"],
            advice: "Send the video that they belong to."),
        ForeignFormat(
            .other, "a 3D model", signs: [["glTF", .at(5, [0, 0, 0])]],
            types: ["model/gltf-binary", "model/stl", "model/obj"],
            advice: "Send a picture of it."),
        ForeignFormat(
            .other, "a pointer of Git LFS in place of the file", "version https://git-lfs", types: ["text/x-git-lfs"],
            advice: "Fetch the file itself (git lfs pull), and send that."),
        ForeignFormat(
            .other, "an encrypted file", "-----BEGIN PGP MESSAGE", "age-encryption.org/", [0x85, 0x01, 0x0c, 0x03],
            [0x85, 0x02, 0x0c, 0x03], [0x8c, 0x0d, 0x04], "Salted__",
            types: ["application/pgp-encrypted", "application/pgp"],
            advice: "Decrypt it, and send what comes out."),
        ForeignFormat(
            .other, "what Windows keeps thumbnails and old documents in",
            [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], types: ["application/x-ole-storage"]),
        ForeignFormat(
            .other, "what macOS notes of a folder", [0, 0, 0, 1, 0x42, 0x75, 0x64, 0x31],
            types: ["application/x-apple-ds-store"]),
        ForeignFormat(
            .other, "settings or a web archive of Apple's", "bplist0", types: ["application/x-bplist"]),
        ForeignFormat(
            .other, "a database", "SQLite format 3", types: ["application/vnd.sqlite3", "application/x-sqlite3"]),
        ForeignFormat(
            .other, "a program",
            types: [
                "application/x-dosexec", "application/x-executable", "application/x-pie-executable",
                "application/x-sharedlib", "application/x-mach-binary",
            ]),
        ForeignFormat(
            .other, "a font", "OTTO", "wOFF", "wOF2",
            types: [
                "font/sfnt", "font/otf", "font/ttf", "application/font-sfnt", "application/vnd.ms-opentype",
            ]),
        ForeignFormat(
            .other, "a container of scientific data", [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a],
            [0x43, 0x44, 0x46, 1],
            types: ["application/x-hdf5", "application/x-netcdf"], advice: "Export its pictures as PNG."),
    ]
}
