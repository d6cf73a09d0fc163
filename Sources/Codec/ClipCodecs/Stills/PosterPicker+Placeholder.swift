import SatchelCore
import CFFmpeg
import StillCodecs

extension PosterPicker {
    /// The picture that a placeholder is made of where no still is: small, and that with which the part begins, as that is
    /// what follows the placeholder on a screen.
    ///
    /// The part's first keyframe is taken for it, which can be decoded alone; where there is nothing to see on it, the
    /// picture that a poster would show.
    ///
    /// - Parameter time: As in ``pick(from:at:)``.
    func placeholderFrame(from demuxer: borrowing Demuxer, at time: Double?) throws(FFmpegFailure) -> Pick? {
        var picker = self
        picker.size = Framing(side: Placeholder.side, fit: .inside).scaledSize(of: picture.upright)
        if time == nil, let pick = try picker.firstKeyframe(in: demuxer), !pick.raster.statistics.isDull { return pick }
        return try picker.pick(from: demuxer, at: time)
    }

    /// Nil where the part has none, or it can't be decoded.
    private func firstKeyframe(in demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Pick? {
        guard let stream = unsafe demuxer.stream(picture.stream) else { return nil }
        let packet = try Packet()
        guard try demuxer.seek(picture: picture, before: start + picture.leniency, packet: packet) else { return nil }
        while try demuxer.read(packet) {
            guard packet.stream == picture.stream else { continue }
            guard let found = (packet.pts ?? packet.dts).map(picture.timeBase.seconds), found < end else { return nil }
            guard packet.isKey, !packet.isDiscarded, found >= start - picture.leniency else { continue }
            let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels, isRough: true)
            let frame = try Frame()
            try decoder.send(packet)
            decoder.drain()
            return try decoder.receive(frame) ? try pick(frame, flags: Filter.roughly) : nil
        }
        return nil
    }
}

extension Raster {
    /// What a picture of three channels tells of its content.
    fileprivate var statistics: FrameStatistics {
        var luminance: [UInt8] = []
        for at in stride(from: 0, to: bytes.count - channels + 1, by: channels) {
            let (red, green, blue) = (Int(bytes[at]), Int(bytes[at + 1]), Int(bytes[at + 2]))
            luminance.append(UInt8((red * 54 + green * 183 + blue * 19) / 256))
        }
        return FrameStatistics(time: 0, width: width, height: height, luminance: luminance)
    }
}
