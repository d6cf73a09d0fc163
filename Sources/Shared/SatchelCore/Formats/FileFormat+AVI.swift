extension FileFormat {
    static let avi = FileFormat(
        .avi, "AVI", fileExtension: "avi", uti: "public.avi", otherNames: ["video/avi", "video/msvideo"],
        container: .avi)
}

extension ContainerFormat {
    public static let avi = ContainerFormat(
        "avi", sniffed: ["video/x-msvideo", "video/avi"], hasSignature: true, length: .riff, types: Types(.avi))
}
