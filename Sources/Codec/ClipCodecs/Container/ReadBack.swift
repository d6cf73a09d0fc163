import SatchelCore
import CFFmpeg

/// A second look at a clip that was written, with a demuxer that knows nothing of how it was written.
struct ReadBack {
    private var tracks: [Int: DeliveredTrack] = [:]
    private var times: [Int: [Double]] = [:]

    /// Counts the packets of each track.
    ///
    /// - Parameter size: Of the pictures, where they are stored as they are shown.
    /// - Throws: ``AttachmentError/codecCrashed(reason:)`` where the clip can't be read, or its pictures have another size.
    static func tracks(
        of descriptor: Int32, type: MediaType, bytes: Int64, size: PixelSize? = nil
    ) throws(FFmpegFailure) -> [DeliveredTrack] {
        let name = type.format.container?.demuxer ?? ""
        // It need not be guessed whether something else is behind the samples of a WAV.
        let opened = try Demuxer.open(
            descriptor, bytes: bytes, formats: [name], forced: name, settings: ["max_probe_packets": "1"])
        guard let demuxer = opened else { throw failure(type, "can't be read") }
        var readBack = ReadBack()
        let packet = try Packet()
        while try demuxer.read(packet) { readBack.count(packet, of: demuxer) }
        for case (let index, let track) in readBack.tracks where track.kind == .video {
            guard let size, let parameters = unsafe demuxer.stream(index)?.pointee.codecpar.pointee else { continue }
            let written = unsafe PixelSize(width: Int(parameters.width), height: Int(parameters.height))
            if size != written { throw failure(type, "is \(written) in the place of \(size)") }
        }
        return readBack.tracks(of: demuxer)
    }

    mutating func count(_ packet: borrowing Packet, of demuxer: borrowing Demuxer) {
        guard let stream = unsafe demuxer.stream(packet.stream), let time = packet.pts ?? packet.dts else { return }
        let isVideo = unsafe stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
        let base = unsafe TimeBase(stream.pointee.time_base)
        times[packet.stream, default: []].append(base.seconds(time))
        var track = tracks[packet.stream] ?? DeliveredTrack(isVideo ? .video : .audio)
        if !packet.isDiscarded { track.packets += 1 }
        track.end = max(track.end, base.seconds(time + packet.duration))
        tracks[packet.stream] = track
    }

    /// What was counted, once all packets of `demuxer` were read.
    func tracks(of demuxer: borrowing Demuxer) -> [DeliveredTrack] {
        var tracks = tracks
        // The container says how long the last picture is shown. Not every packet does.
        if unsafe demuxer.raw.pointee.duration > 0 {
            let start = unsafe max(0, demuxer.raw.pointee.start_time)
            let whole = unsafe Double(start + demuxer.raw.pointee.duration) / Double(AV_TIME_BASE)
            for (stream, track) in tracks where track.kind == .video {
                tracks[stream]?.end = max(whole, times[stream]?.max() ?? 0)
            }
        }
        let end = tracks.values.map(\.end).max() ?? 0
        for (stream, times) in times { tracks[stream]?.empty = DeliveredTrack.gaps(in: times, until: end) }
        return tracks.sorted { $0.key < $1.key }.map(\.value)
    }

    static func failure(_ type: MediaType, _ fault: String) -> FFmpegFailure {
        FFmpegFailure(refusal: .codecCrashed(reason: "the \(type.format.name) that was written \(fault)"))
    }
}
