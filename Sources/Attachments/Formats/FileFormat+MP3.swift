extension FileFormat {
    static let mp3 = FileFormat(.mp3, "MP3", fileExtension: "mp3", uti: "public.mp3", otherNames: ["audio/mp3"])
}
