import SatchelCore
import ClipCodecs
import Glibc
import StillCodecs

/// Libmagic's word over a source, then the header by the decoder that this names.
enum Identifying {
    private static let samples = [
        ("jpeg", "jpeg/coffee.jpg"), ("png", "png/coffee.png"), ("webp", "webp/cat.webp"),
        ("heic", "heic/rotated.heic"), ("gif", "gif/film.gif"), ("mp4", "mp4/film.mp4"), ("m4a", "m4a/voice.m4a"),
        ("mp3", "mp3/voice.mp3"),
    ]

    static func pieces(samples directory: String) throws(AttachmentError) -> [Piece] {
        try Codec.everything.prepare()
        return samples.map { name, file in
            let source = opened("\(directory)/\(file)", O_RDONLY)
            let order = WorkOrder(profile: .archive)
            return Piece(name: "identify.\(name)", repetitions: 10) {
                let identified = try Codec.everything.identify(source, order: order)
                _ = identified.probeResult
            }
        }
    }
}
