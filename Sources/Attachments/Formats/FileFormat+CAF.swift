extension FileFormat {
    static let caf = FileFormat(
        .caf, "CAF", fileExtension: "caf", uti: "com.apple.coreaudio-format", otherNames: ["audio/caf"])
}
