extension FileFormat {
    /// MPEG transport stream.
    static let mpegTS = FileFormat(
        .mpegTS, "MPEG-TS", fileExtension: "ts", uti: "public.mpeg-2-transport-stream", otherNames: ["m2ts", "mts"])
}
