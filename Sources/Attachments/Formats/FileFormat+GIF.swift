extension FileFormat {
    static let gif = FileFormat(.gif, "GIF", fileExtension: "gif", uti: "com.compuserve.gif")
}
