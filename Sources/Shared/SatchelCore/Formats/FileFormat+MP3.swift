extension FileFormat {
    static let mp3 = FileFormat(
        .mp3, "MP3", fileExtension: "mp3", uti: "public.mp3", otherNames: ["audio/mp3"], container: .mp3, muxer: "mp3")
}

extension ContainerFormat {
    public static let mp3 = ContainerFormat(
        "mp3", otherDemuxers: ["aac"], sniffed: ["audio/mpeg", "audio/mp3"],
        // Behind long cover art FFmpeg guesses otherwise.
        isForced: true, length: .firstFrame, types: Types(.mp3))
}
