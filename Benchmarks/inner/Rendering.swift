import SatchelCore
import ClipCodecs
import Glibc
import StillCodecs

/// A photograph, from the look at it to a smaller one: mostly the decoding of its Huffman codes.
enum Rendering {
    /// - Parameter directory: Where the rendition is written.
    static func piece(samples: String, directory: String) -> Piece {
        let source = opened("\(samples)/jpeg/galaxies.jpg", O_RDONLY)
        var profile = Profile(name: "bench")
        var image = ImagePolicy.defaults
        (image.types, image.longestSide, image.cap, image.quality) = ([.jpeg], 320, 1_000_000, 80)
        profile.image = image
        profile.speed = .fast
        let order = WorkOrder(profile: profile)
        return Piece(name: "render.jpeg", repetitions: 3) {
            let result = opened("\(directory)/rendition", O_RDWR | O_CREAT | O_TRUNC)
            let identified = try Codec.everything.identify(source, order: order)
            var size: PixelSize?
            _ = try Codec.everything.render(
                identified, command: RenderCommand(memory: 1 << 30, outputs: [.main]), outputs: [.main: result]
            ) { report in
                size = report.size
                close(result)
            }
            guard let size, max(size.width, size.height) == 320 else { complain("a photograph has the wrong size") }
        }
    }
}
