extension FileFormat {
    static let jpeg = FileFormat(
        .jpeg, "JPEG", fileExtension: "jpg", uti: "public.jpeg",
        otherNames: ["jpeg", "jpe", "image/jpg", "image/pjpeg"])
}
