/// A file format that Satchel takes in or gives out. The raw value is the media type that is served.
public enum MediaType: String, Hashable, Sendable, Codable, CaseIterable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"
    case heif = "image/heif"
    case avif = "image/avif"
    case tiff = "image/tiff"
    case bmp = "image/bmp"
    case jxl = "image/jxl"

    case mp4 = "video/mp4"
    case quicktime = "video/quicktime"
    case m4v = "video/x-m4v"
    case threeGP = "video/3gpp"
    /// MPEG program stream.
    case mpeg = "video/mpeg"
    case mpegTS = "video/mp2t"
    case avi = "video/x-msvideo"
    case webm = "video/webm"
    case matroska = "video/x-matroska"
    /// ASF with pictures.
    case wmv = "video/x-ms-wmv"
    /// Ogg with pictures.
    case ogv = "video/ogg"

    case mp3 = "audio/mpeg"
    case m4a = "audio/mp4"
    case aac = "audio/aac"
    case wav = "audio/wav"
    case aiff = "audio/aiff"
    case caf = "audio/x-caf"
    case flac = "audio/flac"
    case ogg = "audio/ogg"
    case amr = "audio/amr"
    /// ASF without pictures.
    case wma = "audio/x-ms-wma"

    /// What there is to know of it.
    public var format: FileFormat {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .gif: .gif
        case .webp: .webp
        case .heic: .heic
        case .heif: .heif
        case .avif: .avif
        case .tiff: .tiff
        case .bmp: .bmp
        case .jxl: .jxl
        case .mp4: .mp4
        case .quicktime: .quicktime
        case .m4v: .m4v
        case .threeGP: .threeGP
        case .mpeg: .mpeg
        case .mpegTS: .mpegTS
        case .avi: .avi
        case .webm: .webm
        case .matroska: .matroska
        case .wmv: .wmv
        case .ogv: .ogv
        case .mp3: .mp3
        case .m4a: .m4a
        case .aac: .aac
        case .wav: .wav
        case .aiff: .aiff
        case .caf: .caf
        case .flac: .flac
        case .ogg: .ogg
        case .amr: .amr
        case .wma: .wma
        }
    }

    /// The extension of a content URL, without a dot.
    public var fileExtension: String { format.fileExtension }

    /// The uniform type identifier that Apple's systems use.
    public var uti: String { format.uti }

    /// The type that a file name's extension or a media type declares; nil where it names none that is accepted.
    public init?(declared text: String) {
        let name = text.lowercased()
        let essence = name.split(separator: ";").first.map(String.init)?.trimmed ?? name
        guard let format = FileFormat.byName[essence] else { return nil }
        self = format.type
    }
}

extension String {
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
