import SatchelCore

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
        if let format = ContainerFormat(sniffed: sniffed) {
            allowed = [format.demuxer] + format.otherDemuxers
            fallback = format.isForced ? format.demuxer : nil
            isExpected = true
            return
        }
        let isVague = sniffed == "application/octet-stream" || sniffed.isEmpty
        guard isVague || sniffed.hasPrefix("audio/") || sniffed.hasPrefix("video/") else { return nil }
        allowed = Self.all
        fallback = nil
        isExpected = false
    }

    static let all = ContainerFormat.all.map(\.demuxer)

    /// FFmpeg's certainty, of 100, below which a guess at an unknown file counts for nothing.
    static let certainty: Int32 = 25
}
