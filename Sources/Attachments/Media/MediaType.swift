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

    /// The extension of a content URL, without a dot.
    public var fileExtension: String { facts.fileExtension }

    /// The uniform type identifier that Apple's systems use.
    public var uti: String { facts.uti }

    /// The type that a file name's extension or a media type declares; nil where it names none that is accepted.
    public init?(declared text: String) {
        let name = text.lowercased()
        let essence = name.split(separator: ";").first.map(String.init)?.trimmed ?? name
        if let type = MediaType(rawValue: essence) ?? Self.aliases[essence] {
            self = type
            return
        }
        guard let type = MediaType.allCases.first(where: { $0.uti == essence || $0.fileExtension == essence }) else {
            return nil
        }
        self = type
    }

    private var facts: (fileExtension: String, uti: String) {
        switch self {
        case .jpeg: ("jpg", "public.jpeg")
        case .png: ("png", "public.png")
        case .gif: ("gif", "com.compuserve.gif")
        case .webp: ("webp", "org.webmproject.webp")
        case .heic: ("heic", "public.heic")
        case .heif: ("heif", "public.heif")
        case .avif: ("avif", "public.avif")
        case .tiff: ("tiff", "public.tiff")
        case .bmp: ("bmp", "com.microsoft.bmp")
        case .jxl: ("jxl", "public.jpeg-xl")
        case .mp4: ("mp4", "public.mpeg-4")
        case .quicktime: ("mov", "com.apple.quicktime-movie")
        case .m4v: ("m4v", "com.apple.m4v-video")
        case .threeGP: ("3gp", "public.3gpp")
        case .mpeg: ("mpg", "public.mpeg")
        case .mpegTS: ("ts", "public.mpeg-2-transport-stream")
        case .avi: ("avi", "public.avi")
        case .webm: ("webm", "org.webmproject.webm")
        case .matroska: ("mkv", "org.matroska.mkv")
        case .wmv: ("wmv", "com.microsoft.windows-media-wmv")
        case .mp3: ("mp3", "public.mp3")
        case .m4a: ("m4a", "com.apple.m4a-audio")
        case .aac: ("aac", "public.aac-audio")
        case .wav: ("wav", "com.microsoft.waveform-audio")
        case .aiff: ("aiff", "public.aiff-audio")
        case .caf: ("caf", "com.apple.coreaudio-format")
        case .flac: ("flac", "org.xiph.flac")
        case .ogg: ("ogg", "org.xiph.ogg-audio")
        case .amr: ("amr", "org.3gpp.adaptive-multi-rate-audio")
        case .wma: ("wma", "com.microsoft.windows-media-wma")
        }
    }

    /// Other names under which clients, origins and libmagic know the types.
    private static let aliases: [String: MediaType] = [
        "jpeg": .jpeg, "jpe": .jpeg, "image/jpg": .jpeg, "image/pjpeg": .jpeg,
        "apng": .png, "image/apng": .png,
        "tif": .tiff, "image/x-ms-bmp": .bmp, "image/x-bmp": .bmp,
        "image/heic-sequence": .heic, "image/heif-sequence": .heif,
        "qt": .quicktime, "3gpp": .threeGP, "3g2": .threeGP, "video/3gpp2": .threeGP,
        "mpeg": .mpeg, "vob": .mpeg, "m2v": .mpeg, "m2ts": .mpegTS, "mts": .mpegTS,
        "video/avi": .avi, "video/msvideo": .avi, "video/matroska": .matroska,
        "asf": .wmv, "video/x-ms-asf": .wmv,
        "video/x-m4a": .m4a, "audio/x-m4a": .m4a, "audio/m4a": .m4a, "m4b": .m4a,
        "audio/mp3": .mp3, "audio/x-aac": .aac, "audio/aacp": .aac, "audio/x-hx-aac-adts": .aac,
        "audio/x-wav": .wav, "audio/wave": .wav, "audio/vnd.wave": .wav,
        "audio/x-aiff": .aiff, "aif": .aiff, "aifc": .aiff, "audio/caf": .caf,
        "audio/x-flac": .flac, "oga": .ogg, "opus": .ogg, "audio/opus": .ogg, "audio/vorbis": .ogg,
        "application/ogg": .ogg, "spx": .ogg, "audio/speex": .ogg,
        "audio/webm": .webm, "mka": .matroska, "audio/x-matroska": .matroska,
        "audio/3gpp": .amr, "audio/amr-wb": .amr, "awb": .amr,
    ]
}

extension String {
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
