extension FileFormat {
    static let aiff = FileFormat(
        .aiff, "AIFF", fileExtension: "aiff", uti: "public.aiff-audio", otherNames: ["audio/x-aiff", "aif", "aifc"],
        container: .aiff)
}

extension ContainerFormat {
    public static let aiff = ContainerFormat(
        "aiff", sniffed: ["audio/x-aiff", "audio/aiff"], hasSignature: true, countsSamples: true, length: .iff,
        types: Types(.aiff))
}
