extension FileFormat {
    static let jxl = FileFormat(.jxl, "JXL", fileExtension: "jxl", uti: "public.jpeg-xl", picture: .jxl)
}

extension PictureFormat {
    public static let jxl = PictureFormat(
        "JXL", .jxl, sniffed: ["image/jxl"],
        // Codestreams without boxes, of which libmagic knows some.
        signature: .bytes([0xff, 0x0a]), loader: VipsOperation("jxlload_source", of: "VipsForeignLoadJxl"),
        // Floats while it decodes.
        cost: DecodingCost(bytesPerPixel: 16, bytesPerByte: 1, nanoseconds: 70),
        animation: AnimationReading(nanoseconds: 80, keepsReferences: true, needs: .animatedJXL))
}
