package import Attachments
import CFFmpeg
import Glibc
import StillCodecs

/// Decodes a picture that libvips doesn't: BMP, and every frame of an APNG.
package struct FrameReader: ~Copyable {
    package enum Format: Sendable {
        case bmp
        case apng
    }

    /// One picture: RGBA, 8 bits each, not premultiplied, row after row without gaps.
    package struct Picture: Sendable {
        package var pixels: [UInt8]
        /// Seconds that it is shown; 0 for a still.
        package var delay: Double
    }

    package let size: PixelSize
    /// Frames that the header promises: of an animation, what its `acTL` says; else 1.
    package let announcedFrames: Int
    /// How often an animation plays; 0 for ever.
    package let plays: Int

    private let demuxer: Demuxer
    private let decoder: Decoder
    private let packet: Packet
    private let frame: Frame
    private var converter = PixelConverter()
    private var isDrained = false

    /// Opens `descriptor`, read with `pread` only.
    ///
    /// - Returns: Nil where it has not the `format`; a PNG without animation is no ``Format/apng``.
    /// - Throws: ``AttachmentError/tooManyPixels(pixels:limit:)`` before any pixel is decoded,
    ///   ``AttachmentError/corrupt(reason:)``. How many frames there may be is the caller's to check.
    package static func open(
        _ descriptor: Int32, format: Format, limits: Limits
    ) throws(AttachmentError) -> FrameReader? {
        let bytes = try fileBytes(descriptor)
        let header =
            switch format {
            case .bmp: StillHeader.bmp(descriptor)
            case .apng: StillHeader.apng(descriptor, bytes: bytes)
            }
        guard let header else { return nil }
        try limits.checkSides(of: header.size)
        guard header.size.area <= limits.framePixels else {
            throw .tooManyPixels(pixels: header.size.area, limit: limits.framePixels)
        }
        FFmpegLibraries.clearLog()
        let name = format == .bmp ? "bmp_pipe" : "apng"
        return try refusing("reading its header") { () throws(FFmpegFailure) -> FrameReader? in
            let opened = try Demuxer.open(descriptor, bytes: bytes, formats: [name], forced: name)
            guard let demuxer = opened else { return nil }
            return try FrameReader(demuxer: demuxer, header: header, maximumPixels: limits.framePixels)
        }
    }

    private init(demuxer: consuming Demuxer, header: StillHeader, maximumPixels: Int64) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(0) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let packet = try Packet()
        let frame = try Frame()
        self.decoder = decoder
        self.packet = packet
        self.frame = frame
        size = header.size
        announcedFrames = header.frames
        plays = header.plays
        self.demuxer = demuxer
    }

    /// The next picture; nil after the last.
    ///
    /// - Throws: ``AttachmentError/corrupt(reason:)`` where a frame's size is not the header's.
    package mutating func next() throws(AttachmentError) -> Picture? {
        do throws(FFmpegFailure) {
            while true {
                if try decoder.receive(frame) {
                    guard frame.width == size.width, frame.height == size.height else {
                        throw FFmpegFailure(satchel_averror_invaliddata)
                    }
                    let pixels = try converter.rgba(of: frame, width: size.width, height: size.height)
                    return Picture(pixels: pixels, delay: delay)
                }
                if isDrained { return nil }
                if try demuxer.read(packet) {
                    try decoder.send(packet)
                } else {
                    decoder.drain()
                    isDrained = true
                }
            }
        } catch {
            throw error.refusal(of: "decoding a frame")
        }
    }

    /// What came of a frame of an animation.
    package enum Step: Sendable {
        case picture(Picture)
        /// It can't be decoded, or wasn't to be.
        case damaged
        case end
    }

    /// The next frame of an animation, which is a packet; the ones after a damaged one may be fine.
    package mutating func step(skipping isSkipped: Bool) throws(AttachmentError) -> Step {
        do throws(FFmpegFailure) {
            guard try demuxer.read(packet) else { return .end }
            guard !isSkipped, try decoder.send(packet), try decoder.receive(frame), frame.width == size.width,
                frame.height == size.height
            else { return .damaged }
            let pixels = try converter.rgba(of: frame, width: size.width, height: size.height)
            return .picture(Picture(pixels: pixels, delay: delay))
        } catch {
            throw error.refusal(of: "decoding a frame")
        }
    }

    private var delay: Double {
        guard let stream = unsafe demuxer.stream(0), frame.duration > 0, announcedFrames > 1 else { return 0 }
        return unsafe Double(frame.duration) * av_q2d(stream.pointee.time_base)
    }
}
