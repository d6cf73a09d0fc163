extension FileFormat {
    static let aiff = FileFormat(
        .aiff, "AIFF", fileExtension: "aiff", uti: "public.aiff-audio", otherNames: ["audio/x-aiff", "aif", "aifc"])
}
