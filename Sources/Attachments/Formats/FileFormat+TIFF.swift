extension FileFormat {
    static let tiff = FileFormat(.tiff, "TIFF", fileExtension: "tiff", uti: "public.tiff", otherNames: ["tif"])
}
