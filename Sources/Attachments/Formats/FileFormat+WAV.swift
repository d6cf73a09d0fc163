extension FileFormat {
    static let wav = FileFormat(
        .wav, "WAV", fileExtension: "wav", uti: "com.microsoft.waveform-audio",
        otherNames: ["audio/x-wav", "audio/wave", "audio/vnd.wave"])
}
