extension FileFormat {
    static let jxl = FileFormat(.jxl, "JXL", fileExtension: "jxl", uti: "public.jpeg-xl")
}
