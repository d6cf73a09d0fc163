extension FileFormat {
    /// ASF with pictures.
    static let wmv = FileFormat(
        .wmv, "WMV", fileExtension: "wmv", uti: "com.microsoft.windows-media-wmv",
        otherNames: ["asf", "video/x-ms-asf"])

    /// ASF without pictures.
    static let wma = FileFormat(.wma, "WMA", fileExtension: "wma", uti: "com.microsoft.windows-media-wma")
}
