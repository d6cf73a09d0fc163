extension FileFormat {
    /// MPEG program stream.
    static let mpeg = FileFormat(
        .mpeg, "MPEG-PS", fileExtension: "mpg", uti: "public.mpeg", otherNames: ["mpeg", "vob", "m2v"])
}
