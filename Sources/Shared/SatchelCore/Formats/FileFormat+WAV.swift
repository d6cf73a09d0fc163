extension FileFormat {
    static let wav = FileFormat(
        .wav, "WAV", fileExtension: "wav", uti: "com.microsoft.waveform-audio",
        otherNames: ["audio/x-wav", "audio/wave", "audio/vnd.wave"], container: .wav, muxer: "wav")
}

extension ContainerFormat {
    public static let wav = ContainerFormat(
        "wav", sniffed: ["audio/x-wav", "audio/wav", "audio/vnd.wave"], hasSignature: true, countsSamples: true,
        length: .riff, types: Types(.wav))
}
