import SatchelCore
import CFFmpeg
import StillCodecs

/// The decoders that sources may use; whatever else FFmpeg has is out of reach.
enum Decoders {
    static let video = Set(Coding.video.flatMap(\.decoders))
    static let audio = Set(Coding.audio.flatMap(\.decoders))
    /// Cover art too.
    static let stills = Set((Coding.pictures + [Coding.motionJPEG]).flatMap(\.decoders))

    static let names = Coding.all.flatMap(\.decoders)

    /// As FFmpeg's `codec_whitelist` takes it.
    static let allowList = names.joined(separator: ",")

    /// The allowed decoder for `codec`; nil where there is none.
    static func decoder(for codec: AVCodecID) -> UnsafePointer<AVCodec>? {
        guard let coding = unsafe Coding.named(String(cString: avcodec_get_name(codec))) else { return nil }
        for name in coding.decoders {
            if let found = unsafe avcodec_find_decoder_by_name(name) { return unsafe found }
        }
        return nil
    }

    /// The name of the allowed decoder for `codec`.
    static func name(for codec: AVCodecID) -> String? {
        unsafe decoder(for: codec).flatMap { unsafe $0.pointee.name }.map { unsafe String(cString: $0) }
    }
}
