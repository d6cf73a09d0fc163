import SatchelCore
import CFFmpeg
import StillCodecs

/// Brings the samples of a WAV into another as they are, cut to the sample.
struct SampleCopy {
    private let facts: AudioFacts
    private let rate: Double
    /// On the stream's clock, which counts samples.
    private let first: Int64
    private let end: Int64
    /// Bytes of a sample of all channels.
    private let block: Int

    /// Nil where the samples must be made anew.
    ///
    /// - Parameter zero: On the stream's clock, in seconds.
    init?(
        _ facts: AudioFacts, as samples: Encoder.Samples, of demuxer: borrowing Demuxer, from zero: Double,
        seconds: Double
    ) throws(FFmpegFailure) {
        guard demuxer.format == .wav, facts.codec == .pcm16, facts.isContinuous, samples.rate == facts.rate,
            samples.channels == facts.channels, facts.timeBase == TimeBase(1, Int32(clamping: facts.rate)),
            let parameters = unsafe demuxer.stream(facts.stream)?.pointee.codecpar,
            unsafe Int(parameters.pointee.block_align) == facts.channels * 2,
            unsafe parameters.pointee.bits_per_coded_sample == 16
        else { return nil }
        let usual = unsafe facts.channels == 1 ? satchel_layout_mono() : satchel_layout_stereo()
        let layout = unsafe parameters.pointee.ch_layout
        guard unsafe layout.order == AV_CHANNEL_ORDER_UNSPEC || layout.u.mask == usual.u.mask else { return nil }
        self.facts = facts
        rate = Double(facts.rate)
        first = facts.timeBase.ticks(zero)
        end = first + AudioPlan.mostSamples(samples, seconds: seconds)
        block = facts.channels * 2
    }

    /// - Parameter start: What is said of where the part begins.
    func make(
        from demuxer: borrowing Demuxer, to descriptor: Int32, start: Double
    ) throws(FFmpegFailure) -> MadeClip {
        let muxer = try Muxer(type: .wav, descriptor: descriptor)
        guard let stream = unsafe demuxer.stream(facts.stream),
            try demuxer.seek(audio: facts, before: facts.timeBase.seconds(first))
        else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let track = try unsafe muxer.addCopy(of: stream)
        try muxer.start()
        let packet = try Packet()
        var written: Int64 = 0
        while try demuxer.read(packet) {
            guard packet.stream == facts.stream, let time = packet.pts ?? packet.dts else { continue }
            guard time < end else { break }
            let from = max(0, first - time)
            let count = min(end - time, Int64(packet.bytes / block)) - from
            guard count > 0 else { continue }
            packet.keep(Int(from) * block..<Int(from + count) * block)
            unsafe packet.raw.pointee.pts = written
            unsafe packet.raw.pointee.dts = written
            unsafe packet.raw.pointee.duration = count
            packet.dropSideData()
            written += count
            try muxer.write(packet, to: track, timeBase: facts.timeBase.raw)
        }
        guard written > 0 else {
            throw FFmpegFailure(refusal: .unreadable(.silent))
        }
        return MadeClip(
            type: .wav, start: start, duration: Double(written) / rate, method: .copy, bytes: try muxer.finish(),
            note: "samples copied: cut to the sample")
    }
}

extension Packet {
    /// Forgets all but these of its bytes.
    func keep(_ range: Range<Int>) {
        unsafe raw.pointee.data += range.lowerBound
        unsafe raw.pointee.size = Int32(clamping: range.count)
    }
}
