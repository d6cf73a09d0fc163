import SatchelCore
import CFFmpeg
import CVips
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What `SatchelCore/Formats` describes has a coder, and no coder is without a description.
@Suite struct CodecTableTests {
    init() throws {
        try Codec.everything.prepare()
    }

    @Test func `each format of pictures has its opener, and the smaller codec those that need nothing more`() {
        #expect(Set(Codec.everything.images.keys) == Set(PictureFormat.all))
        #expect(Set(Codec.stills.images.keys) == Set(PictureFormat.all.filter { $0.needs == .common }))
        #expect(Codec.stills.animations.isEmpty && Codec.stills.clips == nil && Codec.everything.clips != nil)
    }

    @Test func `each type that animations are written as has its writer`() {
        let described = Set(FileFormat.all.filter { $0.animation != nil }.map(\.type))
        #expect(Set(Codec.everything.animations.keys) == described)
    }

    @Test func `libvips has each loader and saver that described`() {
        let outputs = FileFormat.all.compactMap(\.still)
        let operations =
            PictureFormat.all.compactMap(\.loader) + outputs.compactMap(\.saver)
            + FileFormat.all.compactMap { $0.animation?.saver }
        for operation in operations {
            let isThere = unsafe vips_type_find("VipsOperation", operation.name) != 0
            #expect(isThere, "\(operation.name)")
        }
    }

    @Test func `FFmpeg has each demuxer and muxer that is described`() {
        for format in ContainerFormat.all {
            for name in [format.demuxer] + format.otherDemuxers {
                let isThere = unsafe av_find_input_format(name) != nil
                #expect(isThere, "\(name)")
            }
        }
        for name in FileFormat.all.compactMap(\.muxer) {
            let isThere = unsafe av_guess_format(name, nil, nil) != nil
            #expect(isThere, "\(name)")
        }
    }

    @Test func `FFmpeg has a decoder of each coding that is taken, by the coding's own name`() {
        for coding in Coding.all where !coding.decoders.isEmpty {
            let decoded = coding.decoders.compactMap { name in
                unsafe avcodec_find_decoder_by_name(name).map { decoder in
                    unsafe String(cString: avcodec_get_name(decoder.pointee.id))
                }
            }
            #expect(Set(decoded) == [coding.identifier], "\(coding.decoders)")
        }
    }
}
