import SatchelCore
import CFFmpeg
import StillCodecs

/// The loudness of a sound over its time, and its picture.
struct Waveform: Hashable, Sendable {
    /// 0…1, evenly spaced.
    var peaks: [Float]
    /// The same for the bars of the picture.
    var bars: [Float]

    /// Peaks of 8 bits.
    var levels: [UInt8] { peaks.map { UInt8(max(0, min(255, ($0 * 255).rounded()))) } }

    /// Pixels of a bar's width, and from one bar to the next.
    private static let barWidth = 4
    private static let pitch = 6
    /// What is softer than this stays small in the picture, however soft the rest is.
    private static let soft: Float = 0.02
    /// A grey blue that stands out on white (3.7 to 1) as on black (5.7 to 1).
    private static let colour = RGB(red: 0x6b, green: 0x86, blue: 0xb8)

    /// How many bars a picture of `width` pixels has.
    static func bars(width: Int) -> Int { max(1, (width + pitch - barWidth) / pitch) }

    /// Bars with round ends around the middle, on a transparent ground; the loudest fills the height, and silence is a row
    /// of dots.
    func raster(width: Int, height: Int) -> Raster {
        let loudest = max(bars.max() ?? 0, Self.soft)
        let pitch = Double(width) / Double(max(1, bars.count))
        let radius = min(Double(Self.barWidth), pitch) / 2
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        for (index, bar) in bars.enumerated() {
            // Between linear, in which speech is all spikes, and decibels, in which all is loud.
            let level = Double(min(1, bar / loudest).squareRoot() * min(1, bar / loudest).squareRoot().squareRoot())
            let half = max(0, Double(height) / 2 - radius) * (level.isFinite ? level : 0)
            let centre = (Double(index) + 0.5) * pitch
            let first = max(0, Int(centre - radius))
            for column in first..<min(width, Int(centre + radius) + 1) {
                for row in 0..<height {
                    // The distance to the bar's axis; a pixel at its edge is partly covered.
                    let across = Double(column) + 0.5 - centre
                    let down = max(0, abs(Double(row) + 0.5 - Double(height) / 2) - half)
                    let cover = max(0, min(1, radius - (across * across + down * down).squareRoot() + 0.5))
                    guard cover > 0 else { continue }
                    let offset = (row * width + column) * 4
                    bytes[offset] = Self.colour.red
                    bytes[offset + 1] = Self.colour.green
                    bytes[offset + 2] = Self.colour.blue
                    bytes[offset + 3] = UInt8((cover * 255).rounded())
                }
            }
        }
        return Raster(width: width, height: height, channels: 4, bytes: bytes)
    }
}

/// The greatest level in each of a number of equal times.
struct PeakMeter: Hashable, Sendable {
    private(set) var peaks: [Float]
    private let perSecond: Double

    init(count: Int, seconds: Double) {
        peaks = [Float](repeating: 0, count: max(1, count))
        perSecond = Double(max(1, count)) / max(seconds, 0.001)
    }

    /// Takes in samples of −1…1 of which the first is heard at `start`, in seconds; what lies outside counts for nothing.
    mutating func add(_ samples: UnsafeBufferPointer<Float>, from start: Double, rate: Double) {
        guard start.isFinite, rate > 0 else { return }
        let step = perSecond / rate
        var index = 0
        while index < samples.count {
            let position = start * perSecond + Double(index) * step
            guard position < Double(peaks.count) else { return }
            let bucket = position.rounded(.down)
            // As far as this bucket goes.
            let rest = min(Double(samples.count - index), max(1, ((bucket + 1 - position) / step).rounded(.up)))
            let end = index + Int(rest)
            defer { index = end }
            guard bucket >= 0 else { continue }
            let part = unsafe UnsafeBufferPointer(rebasing: samples[index..<end])
            let greatest = unsafe max(peaks[Int(bucket)], Self.greatest(part))
            peaks[Int(bucket)] = min(1, greatest)
        }
    }

    /// The greatest level among `samples` that is a number.
    private static func greatest(_ samples: UnsafeBufferPointer<Float>) -> Float {
        // Without their signs floating-point numbers ascend as their bits do, which is compared eight at a time.
        var bits: UInt32 = 0
        for index in samples.indices { bits = unsafe max(bits, samples[index].bitPattern & 0x7fff_ffff) }
        let level = Float(bitPattern: bits)
        guard !level.isFinite else { return level }
        return unsafe samples.lazy.map(abs).filter(\.isFinite).max() ?? 0
    }
}

/// Decodes a part of a sound, keeps only its peaks, and tells what is damaged.
struct WaveformReader {
    var facts: ClipFacts
    var audio: AudioFacts
    var part: ClipPart
    /// Nil where only damage is looked for.
    var policy: WaveformPolicy?

    /// What was heard of a part.
    struct Listened {
        /// Nil where not one sample could be decoded.
        var waveform: Waveform?
        var damage = AudioDamage()
        /// Packets that belong to the part.
        var packets = 0
        /// Its frames are not all of one kind.
        var isMixed = false
        /// Seconds within the part in which the file has no sound.
        var empty = 0.0
    }

    func listen(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Listened {
        guard let stream = unsafe demuxer.stream(audio.stream) else { return Listened() }
        // Where an index has the places of the sound, pictures are passed over.
        let pictures = unsafe facts.picture.flatMap { demuxer.hasSampleTable ? unsafe demuxer.stream($0.stream) : nil }
        unsafe pictures?.pointee.discard = AVDISCARD_ALL
        defer { unsafe pictures?.pointee.discard = AVDISCARD_DEFAULT }
        if policy == nil {
            // No sample of PCM is damaged.
            var isWhole = audio.codec == .pcm16
            if !isWhole { isWhole = try isPlainlyWhole(demuxer) }
            if isWhole { return Listened(waveform: Waveform(peaks: [], bars: [])) }
        }
        var decoder = try unsafe Decoder(for: stream, maximumPixels: 1)
        var recording = 0
        let packet = try Packet()
        let frame = try Frame()
        let planes = try Frame()
        var chain: FilterChain?
        var peaks = PeakMeter(count: policy?.buckets ?? 1, seconds: part.duration)
        var bars = PeakMeter(count: Waveform.bars(width: policy?.width ?? 1), seconds: part.duration)
        var heard = 0.0
        var damage = AudioDamage()
        var clock = AudioClock(audio)
        guard try seekBefore(demuxer) else { return Listened() }
        var packets = 0
        // Of the last packet that lasts, and of the last whole one.
        var length = 0.0
        var wholeBytes = 0
        // What stores no times has as many frames in a packet as lie between two of their marks.
        let isUntimed = demuxer.format == .mp3 || demuxer.format == .aac

        // The loudest of all channels: in their sum, opposite ones would be silent.
        func take(_ frame: borrowing Frame, from base: Double, rate: Double) {
            let count = frame.samples
            for channel in 0..<(unsafe Int(frame.raw.pointee.ch_layout.nb_channels)) {
                guard let samples = unsafe frame.raw.pointee.extended_data?[channel] else { continue }
                unsafe samples.withMemoryRebound(to: Float.self, capacity: count) { samples in
                    let samples = unsafe UnsafeBufferPointer(start: samples, count: count)
                    unsafe peaks.add(samples, from: base, rate: rate)
                    unsafe bars.add(samples, from: base, rate: rate)
                }
            }
            heard = max(heard, base + Double(count) / rate)
        }

        /// Whether a frame has what is measured, and needs no conversion.
        func isPlain(_ frame: borrowing Frame) -> Bool {
            unsafe policy == nil || frame.raw.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue
        }

        func takeFrames(failures: inout Int) throws(FFmpegFailure) {
            while try decoder.receive(frame, failures: &failures) {
                guard frame.samples > 0 else { continue }
                frame.nameChannels()
                let time = clock.time(of: frame)
                if audio.timeBase.seconds(time) > zero + part.duration { continue }
                let rate = unsafe Double(max(1, frame.raw.pointee.sample_rate))
                if isPlain(frame) {
                    let base = audio.timeBase.seconds(time) - zero
                    if policy != nil { take(frame, from: base, rate: rate) }
                    heard = max(heard, base + Double(frame.samples) / rate)
                    continue
                }
                unsafe frame.raw.pointee.pts = time - audio.timeBase.ticks(zero)
                if chain?.suits(frame) != true {
                    chain = try FilterChain(
                        [.within(seconds: part.duration), .floats], like: frame, timeBase: audio.timeBase.raw)
                }
                try chain?.send(frame)
                while try chain?.receive(planes) == true {
                    let base = chain?.timeBase ?? AVRational(num: 1, den: 1)
                    take(planes, from: planes.pts.map(TimeBase(base).seconds) ?? 0, rate: rate)
                }
            }
        }

        func frames(in bytes: Int) -> Int {
            isUntimed && wholeBytes > 0 ? max(1, (bytes + wholeBytes / 2) / wholeBytes) : 1
        }

        // Since the last frame: bytes, packets that are nothing else, and when the first of them is heard.
        var between = (bytes: 0, packets: 0, time: nil as Int64?)
        var consistency = MP3Consistency(rate: audio.rate, channels: audio.channels)
        var kinds: Set<Int> = []
        // A parser hands a long tag out in pieces.
        var isInTag = false
        // Where the last packet ended, and seconds without one.
        var (end, empty) = (nil as Double?, 0.0)
        while try demuxer.read(packet) {
            guard packet.stream == audio.stream else { continue }
            if let following = demuxer.following, following.index != recording,
                let stream = unsafe following.source(of: audio.stream)
            {
                recording = following.index
                decoder.drain()
                var failures = 0
                try takeFrames(failures: &failures)
                decoder = try unsafe Decoder(for: stream, maximumPixels: 1, timeBase: audio.timeBase)
                end = nil
            }
            let time = packet.pts ?? packet.dts
            let start = time.map(seconds) ?? 0
            // Pages whose checksum is wrong are passed over, and nothing else leaves a gap in Ogg.
            if demuxer.format == .ogg, let end, start - end > Self.gap, end >= 0 {
                damage.add(time: nil, isDamaged: true, lasting: min(start, part.duration) - min(end, part.duration))
            }
            if let end, start - end > 1, !isUntimed, demuxer.format != .ogg {
                empty += max(0, min(start, part.duration) - max(end, 0))
            }
            end = start + audio.timeBase.seconds(packet.duration)
            if start > part.reach { break }
            isInTag = unsafe isInTag || MP3Frame.isTag(packet.contents)
            let junk = audio.dropJunk(from: packet)
            // There is no sound behind the last frame, but sound may be missing between two frames.
            if junk > 0, !isInTag, belongs(packet, at: start), packets > 0 {
                let packets = between.packets + (packet.bytes == 0 ? 1 : 0)
                between = (between.bytes + junk, packets, between.time ?? time)
            }
            if junk > 0, packet.bytes == 0 { continue }
            isInTag = false
            if audio.codec == .mp3 { _ = consistency.accept(unsafe Array(packet.contents)) }
            if between.bytes > 0, audio.codec != .mp3 || consistency.mayLack(between.bytes) {
                for index in 0..<frames(in: between.bytes) {
                    let hasTime = index < between.packets
                    damage.add(
                        time: between.time, isDamaged: true, lasting: hasTime ? length : 0,
                        besides: hasTime ? 0 : length)
                }
            }
            between = (0, 0, nil)
            let (errors, before) = (FFmpegLibraries.errorCount, heard)
            var failures = try decoder.send(packet) ? 0 : 1
            try takeFrames(failures: &failures)
            // A decoder may also complain and then give something: a copy would take that over, and nothing is missing.
            let isHeard = failures == 0 && heard > before
            failures += FFmpegLibraries.errorCount - errors
            if audio.isFramed, let kind = unsafe AudioFrame.kind(packet.contents)?.kind { kinds.insert(kind) }
            if packet.duration > 0 { length = audio.timeBase.seconds(packet.duration) }
            guard belongs(packet, at: start) else { continue }
            packets += 1
            // The first frames of an MP3 that was cut out of a longer one lack what lay before them.
            let isCutOut = audio.codec == .mp3 && packets <= Self.reservoir && packets == damage.atEnd + 1
            damage.add(
                time: time, isDamaged: failures > 0, lasting: isCutOut || isHeard ? 0 : length,
                besides: isCutOut ? 0 : length * Double(frames(in: packet.bytes) - 1))
            guard failures == 0 else { continue }
            wholeBytes = packet.bytes
            // A parser of AAC puts what lies before the next frame behind this one.
            if audio.codec == .aac, let frame = audio.frameBytes(packet), packet.bytes > frame {
                (between, wholeBytes) = ((packet.bytes - frame, 0, nil), frame)
            }
        }
        decoder.drain()
        var failures = 0
        try takeFrames(failures: &failures)
        return Listened(
            waveform: heard > 0 ? Waveform(peaks: peaks.peaks, bars: bars.peaks) : nil, damage: damage,
            packets: packets, isMixed: kinds.count > 1, empty: empty)
    }

    /// Seconds between two packets that no rounding explains.
    private static let gap = 0.05

    /// Frames of MP3 in which another's data may begin, at most: those of the lowest bit rates.
    private static let reservoir = 10

    /// Where the part begins on the stream's clock, in seconds.
    private var zero: Double { facts.origin + part.start }

    /// Of the part, a time of the stream's clock.
    func seconds(_ time: Int64) -> Double { audio.timeBase.seconds(time) - zero }

    /// Goes so far before the part that a decoder is ready where it begins.
    func seekBefore(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Bool {
        try demuxer.seek(audio: audio, before: zero - 0.3)
    }

    /// Whether a copy of the part has the packet.
    func belongs(_ packet: borrowing Packet, at seconds: Double) -> Bool {
        AudioCopy.belongs(
            at: seconds, lasting: audio.timeBase.seconds(packet.duration), duration: part.reach,
            isFromStart: part.start == 0, isHidden: packet.isDiscarded)
    }
}

extension Filter {
    /// Floating point, each channel apart.
    static let floats = Filter(name: "aformat", options: ["sample_fmts": "fltp"])
}

extension Demuxer {
    /// Goes to before `seconds` of a sound's clock.
    func seek(audio: AudioFacts, before seconds: Double) throws(FFmpegFailure) -> Bool {
        if seconds > 0, seek(stream: audio.stream, to: audio.timeBase.ticks(seconds)) { return true }
        return rewind()
    }
}
