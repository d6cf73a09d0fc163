package import Attachments
import CFFmpeg
import Glibc

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

/// What the first bytes of a BMP or an APNG say, so that limits are checked before a decoder sees it.
struct StillHeader {
    var size: PixelSize
    var frames = 1
    var plays = 1

    static func bmp(_ descriptor: Int32) -> StillHeader? {
        guard let bytes = read(descriptor, 26, at: 0), bytes.starts(with: [0x42, 0x4d]) else { return nil }
        let isCore = little(bytes, at: 14, count: 4) == 12
        let width: Int
        let height: Int
        if isCore {
            width = Int(little(bytes, at: 18, count: 2))
            height = Int(little(bytes, at: 20, count: 2))
        } else {
            width = Int(Int32(bitPattern: little(bytes, at: 18, count: 4)))
            // A negative height: the rows come from the top.
            height = abs(Int(Int32(bitPattern: little(bytes, at: 22, count: 4))))
        }
        guard width > 0, height > 0 else { return nil }
        return StillHeader(size: PixelSize(width: width, height: height))
    }

    static func apng(_ descriptor: Int32, bytes fileBytes: Int64) -> StillHeader? {
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        guard let start = read(descriptor, 24, at: 0), start.starts(with: signature) else { return nil }
        let size = PixelSize(width: Int(big(start, at: 16)), height: Int(big(start, at: 20)))
        guard size.width > 0, size.height > 0 else { return nil }
        var position: Int64 = 8
        // acTL comes before the first IDAT, or it isn't an animation.
        for _ in 0..<1000 {
            guard let chunk = read(descriptor, 16, at: position) else { return nil }
            let name = String(decoding: chunk[4..<8], as: UTF8.self)
            if name == "IDAT" { return nil }
            if name == "acTL" {
                let frames = big(chunk, at: 8)
                guard frames > 0 else { return nil }
                return StillHeader(size: size, frames: Int(frames), plays: Int(big(chunk, at: 12)))
            }
            position += Int64(big(chunk, at: 0)) + 12
            guard position < fileBytes else { return nil }
        }
        return nil
    }

    private static func read(_ descriptor: Int32, _ count: Int, at offset: Int64) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        guard unsafe pread(descriptor, &buffer, count, Int(offset)) == count else { return nil }
        return buffer
    }

    private static func little(_ bytes: [UInt8], at offset: Int, count: Int) -> UInt32 {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func big(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
