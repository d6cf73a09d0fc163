extension FileFormat {
    /// ASF with pictures.
    static let wmv = FileFormat(
        .wmv, "WMV", fileExtension: "wmv", uti: "com.microsoft.windows-media-wmv",
        otherNames: ["asf", "video/x-ms-asf"], container: .asf)

    /// ASF without pictures.
    static let wma = FileFormat(
        .wma, "WMA", fileExtension: "wma", uti: "com.microsoft.windows-media-wma", container: .asf)
}

extension ContainerFormat {
    public static let asf = ContainerFormat(
        "asf", sniffed: ["video/x-ms-asf", "video/x-ms-wmv", "audio/x-ms-wma"], hasSignature: true,
        length: .fileObject, protection: .headerObjects, types: Types(.wmv, audio: .wma))
}
