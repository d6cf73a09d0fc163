extension FileFormat {
    static let amr = FileFormat(
        .amr, "AMR", fileExtension: "amr", uti: "org.3gpp.adaptive-multi-rate-audio",
        otherNames: ["audio/3gpp", "audio/amr-wb", "awb"], container: .amr)
}

extension ContainerFormat {
    public static let amr = ContainerFormat(
        "amr", sniffed: ["audio/amr", "audio/AMR", "audio/amr-wb"], length: .open, types: Types(.amr))
}
