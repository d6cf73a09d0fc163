extension FileFormat {
    static let tiff = FileFormat(
        .tiff, "TIFF", fileExtension: "tiff", uti: "public.tiff", otherNames: ["tif"], picture: .tiff)
}

extension PictureFormat {
    public static let tiff = PictureFormat(
        "TIFF", .tiff, sniffed: ["image/tiff"], loader: VipsOperation("tiffload_source", of: "VipsForeignLoadTiff"),
        needs: .common, cost: DecodingCost(bytesPerByteOfRow: 512, nanoseconds: 15))
}
