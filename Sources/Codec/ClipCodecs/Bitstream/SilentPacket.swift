import CFFmpeg
import StillCodecs

/// A packet that decodes to silence, as an encoder with the same settings makes it.
enum SilentPacket {
    /// - Returns: Its bytes.
    static func bytes(_ settings: Encoder.Samples) throws(FFmpegFailure) -> [UInt8] {
        let encoder = try Encoder(settings)
        let packet = try Packet()
        let frame = try Frame()
        var latest: [UInt8] = []
        // The first packets hold the beginning; the later ones nothing but silence.
        for index in 0..<6 {
            frame.clear()
            unsafe frame.raw.pointee.nb_samples = Int32(max(1, encoder.frameSamples))
            unsafe frame.raw.pointee.format = encoder.raw.pointee.sample_fmt.rawValue
            unsafe frame.raw.pointee.sample_rate = encoder.raw.pointee.sample_rate
            try checked(unsafe av_channel_layout_copy(&frame.raw.pointee.ch_layout, &encoder.raw.pointee.ch_layout))
            try checked(unsafe av_frame_get_buffer(frame.raw, 0))
            try checked(
                unsafe av_samples_set_silence(
                    frame.raw.pointee.extended_data, 0, frame.raw.pointee.nb_samples,
                    frame.raw.pointee.ch_layout.nb_channels, encoder.raw.pointee.sample_fmt))
            unsafe frame.raw.pointee.pts = Int64(index * encoder.frameSamples)
            try encoder.send(frame)
            while try encoder.receive(packet) { latest = unsafe Array(packet.contents) }
        }
        guard !latest.isEmpty else { throw FFmpegFailure(satchel_averror_invaliddata) }
        return latest
    }
}
