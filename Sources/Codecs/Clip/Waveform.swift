import Attachments
import CFFmpeg

/// The loudness of a sound over its time, and its picture.
struct Waveform: Hashable, Sendable {
    /// 0…1, evenly spaced.
    var columns: [Float]

    /// `count` peaks of 8 bits, evenly spaced.
    func peaks(_ count: Int) -> [UInt8] {
        resampled(count).map { UInt8(max(0, min(255, ($0 * 255).rounded()))) }
    }

    private func resampled(_ count: Int) -> [Float] {
        guard count > 0, !columns.isEmpty else { return [] }
        return (0..<count).map { index in
            let from = index * columns.count / count
            let to = max(from + 1, (index + 1) * columns.count / count)
            return columns[from..<min(to, columns.count)].max() ?? 0
        }
    }

    /// Bars around the middle, on a transparent ground; the loudest fills the height.
    func raster(width: Int, height: Int) -> Raster {
        let barWidth = 3
        let pitch = 4
        let bars = resampled(max(1, width / pitch))
        let loudest = max(bars.max() ?? 0, 0.001)
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        for (index, bar) in bars.enumerated() {
            let length = max(2, Int((Float(height - 2) * min(1, bar / loudest)).rounded()))
            let top = max(0, (height - length) / 2)
            for row in top..<min(height, top + length) {
                for column in index * pitch..<min(width, index * pitch + barWidth) {
                    let offset = (row * width + column) * 4
                    // A grey blue that stands out on white as on black.
                    bytes[offset] = 0x6b
                    bytes[offset + 1] = 0x86
                    bytes[offset + 2] = 0xb8
                    bytes[offset + 3] = 0xff
                }
            }
        }
        return Raster(width: width, height: height, channels: 4, bytes: bytes)
    }
}

/// Decodes a part of a sound, keeps only its peaks, and tells what is damaged.
struct WaveformReader {
    var facts: ClipFacts
    var sound: SoundFacts
    var part: ClipPart

    /// Columns that are kept; both the picture and the peaks are made of them.
    private static let columns = 1920

    /// Nil where not one sample could be decoded.
    func read(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> (waveform: Waveform, damage: SoundDamage)? {
        guard let stream = unsafe demuxer.stream(sound.stream) else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: 1)
        let packet = try Packet()
        let frame = try Frame()
        let mono = try Frame()
        var chain: FilterChain?
        var columns = [Float](repeating: 0, count: Self.columns)
        var heard = 0.0
        var damage = SoundDamage()
        var clock = SoundClock(timeBase: sound.timeBase)
        let zero = facts.origin + part.start
        let perSecond = Double(Self.columns) / max(part.duration, 0.01)
        guard try demuxer.seek(sound: sound, before: zero - 0.3) else { return nil }

        func take(_ frame: borrowing Frame, from base: Double, rate: Double) {
            guard let samples = unsafe frame.raw.pointee.extended_data?[0] else { return }
            let count = frame.samples
            unsafe samples.withMemoryRebound(to: Float.self, capacity: count) { samples in
                for index in 0..<count {
                    let position = (base + Double(index) / rate) * perSecond
                    guard position >= 0, position < Double(Self.columns) else { continue }
                    let column = Int(position)
                    let level = unsafe abs(samples[index])
                    if level.isFinite { columns[column] = max(columns[column], min(1, level)) }
                }
            }
            heard = max(heard, base + Double(count) / rate)
        }

        func takeFrames(failures: inout Int) throws(FFmpegFailure) {
            while try decoder.receive(frame, failures: &failures) {
                guard frame.samples > 0 else { continue }
                let time = clock.time(of: frame)
                if sound.timeBase.seconds(time) > zero + part.duration { continue }
                unsafe frame.raw.pointee.pts = time - sound.timeBase.ticks(zero)
                if chain?.suits(frame) != true {
                    chain = try FilterChain(
                        [.within(seconds: part.duration), .loudest], like: frame, timeBase: sound.timeBase.raw)
                }
                let rate = unsafe Double(frame.raw.pointee.sample_rate)
                try chain?.send(frame)
                while try chain?.receive(mono) == true {
                    let base = chain?.timeBase ?? AVRational(num: 1, den: 1)
                    take(mono, from: mono.pts.map(TimeBase(base).seconds) ?? 0, rate: rate)
                }
            }
        }

        while try demuxer.read(packet) {
            guard packet.stream == sound.stream else { continue }
            let time = packet.pts ?? packet.dts
            let start = time.map { sound.timeBase.seconds($0) - zero } ?? 0
            if start > part.reach { break }
            let errors = FFmpegLibraries.errorCount
            var failures = try decoder.send(packet) ? 0 : 1
            try takeFrames(failures: &failures)
            let belongs = SoundCopy.belongs(
                at: start, lasting: sound.timeBase.seconds(packet.duration), duration: part.reach,
                isFromStart: part.start == 0, isHidden: packet.isDiscarded)
            // A decoder may also complain and then make something up.
            failures += FFmpegLibraries.errorCount - errors
            if belongs { damage.add(time: time, isDamaged: failures > 0) }
        }
        decoder.drain()
        var failures = 0
        try takeFrames(failures: &failures)
        return heard > 0 ? (Waveform(columns: columns), damage) : nil
    }
}

extension Filter {
    /// One channel of floating point.
    static let loudest = Filter(
        name: "aformat", options: ["sample_fmts": "flt", "channel_layouts": "mono"])
}

extension Demuxer {
    /// Goes to before `seconds` of a sound's clock.
    func seek(sound: SoundFacts, before seconds: Double) throws(FFmpegFailure) -> Bool {
        if seconds > 0, seek(stream: sound.stream, to: sound.timeBase.ticks(seconds)) { return true }
        return rewind()
    }
}
