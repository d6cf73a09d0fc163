extension FileFormat {
    /// AAC in ADTS.
    static let aac = FileFormat(
        .aac, "AAC", fileExtension: "aac", uti: "public.aac-audio",
        otherNames: ["audio/x-aac", "audio/aacp", "audio/x-hx-aac-adts"], container: .aac)
}

extension ContainerFormat {
    public static let aac = ContainerFormat(
        "aac", sniffed: ["audio/aac", "audio/x-hx-aac-adts", "audio/x-aac"], isForced: true, length: .open,
        types: Types(.aac))
}
