/// Which demuxers may take a source, by what libmagic says it is.
struct Demuxers: Hashable, Sendable {
    /// Names of FFmpeg's demuxers.
    var allowed: [String]
    /// Whether libmagic named a type that these demuxers read: then a file that they can't read is damaged.
    var isExpected: Bool
    /// Used where FFmpeg's own guess is another, such as for an MP3 behind long cover art.
    var fallback: String?

    /// Nil for what is neither sound nor video.
    init?(sniffed: String) {
        let known: (allowed: [String], fallback: String?)? =
            switch sniffed {
            case "video/mp4", "video/quicktime", "video/x-m4v", "video/3gpp", "video/3gpp2", "audio/mp4", "audio/x-m4a",
                "audio/3gpp", "application/mp4":
                (["mov"], "mov")
            case "video/webm", "video/x-matroska", "audio/webm", "audio/x-matroska": (["matroska"], "matroska")
            // A sequence of pictures without a container, as an .m2v is, has the same name for libmagic.
            case "video/mpeg": (["mpeg", "mpegts", "mpegvideo"], nil)
            case "video/mp2t", "video/MP2T": (["mpegts"], nil)
            case "video/x-msvideo", "video/avi": (["avi"], nil)
            case "audio/mpeg", "audio/mp3": (["mp3", "aac"], "mp3")
            case "audio/aac", "audio/x-hx-aac-adts", "audio/x-aac": (["aac"], "aac")
            case "audio/x-wav", "audio/wav", "audio/vnd.wave": (["wav"], nil)
            case "audio/x-aiff", "audio/aiff": (["aiff"], nil)
            case "audio/x-caf", "audio/caf": (["caf"], nil)
            case "audio/flac", "audio/x-flac": (["flac"], nil)
            case "audio/ogg", "video/ogg", "application/ogg": (["ogg"], nil)
            case "audio/amr", "audio/AMR", "audio/amr-wb": (["amr"], nil)
            case "video/x-ms-asf", "video/x-ms-wmv", "audio/x-ms-wma": (["asf"], nil)
            default: nil
            }
        if let known {
            (allowed, fallback) = known
            isExpected = true
            return
        }
        let isVague = sniffed == "application/octet-stream" || sniffed.isEmpty
        guard isVague || sniffed.hasPrefix("audio/") || sniffed.hasPrefix("video/") else { return nil }
        allowed = Self.all
        fallback = nil
        isExpected = false
    }

    static let all = [
        "mov", "matroska", "mpeg", "mpegts", "avi", "mp3", "aac", "wav", "aiff", "caf", "flac", "ogg", "amr", "asf",
    ]

    /// FFmpeg's certainty, of 100, below which a guess at an unknown file counts for nothing.
    static let certainty: Int32 = 25
}
