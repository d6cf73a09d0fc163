import SatchelCore
import CFFmpeg
import StillCodecs

/// Decodes a picture that libvips doesn't: BMP, and every frame of an APNG. Pixels are RGBA, 8 bits each, not premultiplied,
/// row after row without gaps.
final class FrameReader {
    enum Format: Sendable {
        case bmp
        case apng
    }

    let size: PixelSize

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
    ///   ``AttachmentError/unreadable(_:)``. How many frames there may be is the caller's to check.
    static func open(_ descriptor: Int32, format: Format, limits: Limits) throws(AttachmentError) -> FrameReader? {
        let bytes = try fileBytes(descriptor)
        let size =
            switch format {
            case .bmp: StillHeader.bmp(descriptor)
            case .apng: StillHeader.apng(descriptor, bytes: bytes)
            }
        guard let size else { return nil }
        try limits.check(size, most: limits.framePixels)
        FFmpegLibraries.clearLog()
        let name = format == .bmp ? "bmp_pipe" : "apng"
        return try refusing { () throws(FFmpegFailure) -> FrameReader? in
            let opened = try Demuxer.open(descriptor, bytes: bytes, formats: [name], forced: name)
            guard let demuxer = opened else { return nil }
            return try FrameReader(demuxer: demuxer, size: size, maximumPixels: limits.framePixels)
        }
    }

    private init(demuxer: consuming Demuxer, size: PixelSize, maximumPixels: Int64) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(0) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        packet = try Packet()
        frame = try Frame()
        self.size = size
        self.demuxer = demuxer
    }

    /// The next picture; nil after the last.
    ///
    /// - Throws: ``AttachmentError/unreadable(_:)`` where a frame's size is not the header's.
    func next() throws(AttachmentError) -> [UInt8]? {
        try refusing { () throws(FFmpegFailure) in
            guard try demuxer.decode(0, by: decoder, frame, packet: packet, isDrained: &isDrained) else { return nil }
            guard hasSize else { throw FFmpegFailure(satchel_averror_invaliddata) }
            return try converter.rgba(of: frame, width: size.width, height: size.height)
        }
    }

    /// The next frame of an animation, which is a packet; the ones after a damaged one may be fine.
    ///
    /// - Returns: Nil where it can't be decoded, wasn't to be, or isn't there.
    func step(skipping isSkipped: Bool) throws(AttachmentError) -> [UInt8]? {
        try refusing { () throws(FFmpegFailure) in
            guard try demuxer.read(packet), !isSkipped, try decoder.send(packet), try decoder.receive(frame), hasSize
            else { return nil }
            return try converter.rgba(of: frame, width: size.width, height: size.height)
        }
    }

    private var hasSize: Bool { frame.width == size.width && frame.height == size.height }
}

extension Demuxer {
    /// The next frame of the stream `index`; false after the last.
    ///
    /// - Parameter isDrained: Whether the source is read to its end; kept from call to call.
    func decode(
        _ index: Int, by decoder: borrowing Decoder, _ frame: borrowing Frame, packet: borrowing Packet,
        isDrained: inout Bool
    ) throws(FFmpegFailure) -> Bool {
        while true {
            if try decoder.receive(frame) { return true }
            if isDrained { return false }
            if try read(packet) {
                if packet.stream == index { try decoder.send(packet) }
            } else {
                decoder.drain()
                isDrained = true
            }
        }
    }
}
