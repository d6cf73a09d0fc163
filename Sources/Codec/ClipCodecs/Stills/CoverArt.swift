import SatchelCore
import CFFmpeg
import StillCodecs

/// An audio file's cover art.
enum CoverArt {
    /// Nil where it can't be decoded or is larger than `maximumPixels`: the sound is what counts.
    static func raster(_ demuxer: borrowing Demuxer, stream index: Int, maximumPixels: Int64) throws(FFmpegFailure)
        -> Raster?
    {
        guard let stream = unsafe demuxer.stream(index), unsafe stream.pointee.attached_pic.size > 0 else { return nil }
        let decoder: Decoder
        do throws(FFmpegFailure) {
            decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        } catch {
            return nil
        }
        let packet = try Packet()
        let frame = try Frame()
        try checked(unsafe av_packet_ref(packet.raw, &stream.pointee.attached_pic))
        try decoder.send(packet)
        decoder.drain()
        guard try decoder.receive(frame), frame.width > 0, frame.height > 0 else { return nil }
        var converter = PixelConverter()
        let size = PixelSize(width: frame.width, height: frame.height).even(longestSide: 2048)
        let pixels = try converter.rgba(of: frame, width: size.width, height: size.height)
        return Raster(width: size.width, height: size.height, channels: 4, bytes: pixels)
    }
}
