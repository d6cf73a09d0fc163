extension FileFormat {
    static let caf = FileFormat(
        .caf, "CAF", fileExtension: "caf", uti: "com.apple.coreaudio-format", otherNames: ["audio/caf"], container: .caf
    )
}

extension ContainerFormat {
    public static let caf = ContainerFormat(
        "caf", sniffed: ["audio/x-caf", "audio/caf"], hasSignature: true, countsSamples: true, types: Types(.caf))
}
