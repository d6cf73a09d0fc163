extension FileFormat {
    static let mp4 = FileFormat(.mp4, "MP4", fileExtension: "mp4", uti: "public.mpeg-4")

    static let quicktime = FileFormat(
        .quicktime, "MOV", fileExtension: "mov", uti: "com.apple.quicktime-movie", otherNames: ["qt"])

    static let m4v = FileFormat(.m4v, "M4V", fileExtension: "m4v", uti: "com.apple.m4v-video")

    static let threeGP = FileFormat(
        .threeGP, "3GP", fileExtension: "3gp", uti: "public.3gpp", otherNames: ["3gpp", "3g2", "video/3gpp2"])

    static let m4a = FileFormat(
        .m4a, "M4A", fileExtension: "m4a", uti: "com.apple.m4a-audio",
        otherNames: ["video/x-m4a", "audio/x-m4a", "audio/m4a", "m4b"])
}
