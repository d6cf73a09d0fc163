extension FileFormat {
    static let avi = FileFormat(
        .avi, "AVI", fileExtension: "avi", uti: "public.avi", otherNames: ["video/avi", "video/msvideo"])
}
