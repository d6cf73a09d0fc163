import SatchelCore
import CFFmpeg
import StillCodecs

/// What people call codings: `DTS`, `MPEG-H 3D Audio`.
enum CodingName {
    /// The name of what `parameters` tells.
    ///
    /// - Parameter isTransport: Whether its tag is the type of a transport stream.
    static func of(_ parameters: UnsafeMutablePointer<AVCodecParameters>, isTransport: Bool) -> String {
        let tag = unsafe parameters.pointee.codec_tag
        if isTransport, let name = Coding.all.first(where: { $0.transportTypes.contains(tag) })?.name { return name }
        let identifier = unsafe parameters.pointee.codec_id
        guard identifier == AV_CODEC_ID_NONE else { return of(identifier) }
        let characters = (0..<4).map { UInt8(truncatingIfNeeded: tag >> ($0 * 8)) }
        let text = String(decoding: characters, as: UTF8.self)
        if let name = Coding.all.first(where: { $0.tags.contains(text) })?.name { return name }
        guard characters.allSatisfy({ (0x20...0x7e).contains($0) }) else { return "of an unknown coding" }
        return "of an unknown coding, “\(text)”"
    }

    /// Whether `parameters` are of sound, whatever FFmpeg takes them for.
    static func isForeignAudio(_ parameters: UnsafeMutablePointer<AVCodecParameters>, isTransport: Bool) -> Bool {
        let tag = unsafe parameters.pointee.codec_tag
        return isTransport && Coding.refusedAudio.contains { $0.transportTypes.contains(tag) }
    }

    static func of(_ identifier: AVCodecID) -> String {
        let short = unsafe String(cString: avcodec_get_name(identifier))
        if let name = Coding.named(short)?.name { return name }
        if short.hasPrefix("pcm_") { return "PCM" }
        if short.hasPrefix("adpcm_") { return "ADPCM" }
        guard let descriptor = unsafe avcodec_descriptor_get(identifier), let long = unsafe descriptor.pointee.long_name
        else { return short }
        // `Musepack SV7`, and `Cinepak` of `Cinepak / CVID`.
        let words = unsafe String(cString: long)
        let end = words.firstRange(of: " (")?.lowerBound ?? words.firstRange(of: " / ")?.lowerBound ?? words.endIndex
        return String(words[..<end])
    }
}
