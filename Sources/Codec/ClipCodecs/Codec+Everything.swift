import SatchelCore
import CHEIF
import CJXL
public import StillCodecs

extension Codec {
    /// All that is accepted.
    public static let everything: Codec = {
        var codec = stills
        codec.linked = [.libvips(reading: PictureFormat.all, modules: ["heif", "jxl"]), .ffmpeg, .libheif, .libjxl]
        codec.images[.png] = ImageOpener { image throws(AttachmentError) in try image.anyPNG() }
        codec.images[.webp] = ImageOpener { image throws(AttachmentError) in try image.anyWebP() }
        codec.images[.gif] = ImageOpener { image throws(AttachmentError) in try image.gif() }
        codec.images[.heif] = ImageOpener { image throws(AttachmentError) in try image.heif() }
        codec.images[.jxl] = ImageOpener { image throws(AttachmentError) in try image.jxl() }
        codec.images[.bmp] = ImageOpener { image throws(AttachmentError) in .still(try image.bmp()) }
        codec.animations = animationWriters
        codec.animations[.mp4] = AnimationWriter { task, frames, file throws(AttachmentError) in
            try AnimationClip(task).write(frames, to: file)
        }
        codec.clips = { source, sniffed, order throws(AttachmentError) in
            try Clip.open(source, sniffed: sniffed, order: order)
        }
        return codec
    }()
}

extension ImageCandidate {
    fileprivate func anyPNG() throws(AttachmentError) -> Identified.Content {
        try png { facts, damaged throws(AttachmentError) in
            let frames = APNGSource(descriptor: descriptor, limits: limits, damaged: damaged)
            return AnimationSource(facts: facts, reader: frames)
        }
    }

    fileprivate func jxl() throws(AttachmentError) -> Identified.Content {
        try jxl(isAnimated: unsafe bytes().withBytes { unsafe JXLHeader($0)?.isAnimated } == true)
    }

    fileprivate func anyWebP() throws(AttachmentError) -> Identified.Content {
        try webp { animation throws(AttachmentError) in .animation(animation) }
    }
}

extension LinkedLibrary {
    fileprivate static let ffmpeg = LinkedLibrary(.ffmpeg, version: { FFmpegLibraries.version }) {
        FFmpegLibraries.prepare()
    }

    /// Its decoders are files of their own since 1.17, and would be opened with the first picture otherwise.
    fileprivate static let libheif = LinkedLibrary(.libheif, version: { unsafe String(cString: heif_get_version()) }) {
        // Without its decoders it says so of every picture.
        _ = unsafe heif_init(nil)
    }

    fileprivate static let libjxl = LinkedLibrary(
        .libjxl,
        version: {
            let number = JxlDecoderVersion()
            return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
        })
}
