extension FileFormat {
    static let bmp = FileFormat(
        .bmp, "BMP", fileExtension: "bmp", uti: "com.microsoft.bmp", otherNames: ["image/x-ms-bmp", "image/x-bmp"])
}
