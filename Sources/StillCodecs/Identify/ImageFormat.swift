import Attachments

/// Which decoder may try an image: one, never a guess of the library's.
enum ImageFormat: String, Hashable, Sendable, CaseIterable {
    case jpeg
    case png
    case gif
    case webp
    /// HEIC, AVIF and their relatives.
    case heif
    case tiff
    case jxl
    case bmp

    /// By libmagic's media type.
    init?(sniffed type: String) {
        switch type {
        case "image/jpeg": self = .jpeg
        case "image/png", "image/apng", "image/vnd.mozilla.apng": self = .png
        case "image/gif": self = .gif
        case "image/webp": self = .webp
        case "image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence", "image/avif",
            "image/avif-sequence":
            self = .heif
        case "image/tiff": self = .tiff
        case "image/jxl": self = .jxl
        case "image/bmp", "image/x-ms-bmp", "image/x-bmp": self = .bmp
        default: return nil
        }
    }

    /// By the first bytes, for what libmagic calls by another name or none: brands of HEIF beyond the common ones,
    /// and bare JXL codestreams.
    init?(head: [UInt8]) {
        if head.starts(with: [0xFF, 0x0A]) {
            self = .jxl
            return
        }
        guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let size = Int(head[0]) << 24 | Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
        // The major brand, then after four bytes the compatible ones.
        let starts = [8] + Array(stride(from: 16, to: min(size, head.count, 256) - 3, by: 4))
        let brands = starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
        let images: Set = ["mif1", "msf1", "heic", "heix", "heim", "heis", "hevc", "hevx", "avif", "avis"]
        let clips: Set = ["isom", "iso2", "mp41", "mp42", "qt  ", "M4V ", "M4A ", "avc1"]
        guard !clips.contains(brands[0]), brands.contains(where: images.contains) else { return nil }
        self = .heif
    }

    /// Whether its stills belong to ``DecoderSet/common``: libvips reads them without a module.
    var isCommon: Bool {
        switch self {
        case .jpeg, .png, .webp, .tiff: true
        case .gif, .heif, .jxl, .bmp: false
        }
    }

    /// For people.
    var name: String {
        switch self {
        case .jpeg: "JPEG"
        case .png: "PNG"
        case .gif: "GIF"
        case .webp: "WebP"
        case .heif: "HEIF"
        case .tiff: "TIFF"
        case .jxl: "JXL"
        case .bmp: "BMP"
        }
    }
}

extension MediaType {
    /// For people, where it is an image's: `HEIC`.
    var imageName: String {
        self == .webp ? "WebP" : fileExtension.uppercased().replacing("JPG", with: "JPEG")
    }
}
