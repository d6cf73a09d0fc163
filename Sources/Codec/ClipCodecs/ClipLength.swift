import SatchelCore
import CFFmpeg
import StillCodecs

/// Where a clip begins on its own clock, and how long it really is.
struct ClipLength {
    var origin: Double
    var duration: Double
    /// What the header says, where that is something else.
    var other: Finding?
    /// What the header says, where the file ends before that.
    var announced: Double?
    /// Of a file that ends before its end without saying how much comes after, within what it ends.
    var openEnd: String?
    /// Seconds within it in which it has neither pictures nor sound.
    var holes = 0.0

    /// Seconds that the end of a file may be off without being cut off.
    private static let slack = 0.1

    /// A file up to this size is read through where its header may lie, and any that is proven to be cut off; of a larger one
    /// the header is believed, and what comes out in the end tells.
    private static let countedBytes: Int64 = 64 << 20

    /// The same of streams whose clock may begin anew: their first and last times say nothing of that.
    private static let countedStreamBytes: Int64 = 1 << 30

    /// Seconds: what begins later than that is delivered from its first picture or sound on.
    private static let longestEmptiness = 5.0

    /// - Throws: A refusal where there is not one packet to decode.
    static func measure(
        _ demuxer: borrowing Demuxer, picture: Int?, audio: Int?
    ) throws(FFmpegFailure) -> ClipLength {
        let used = [picture, audio].compactMap(\.self)
        var starts = used.compactMap { demuxer.start(of: $0) }
        if starts.isEmpty { for index in used { starts += [try demuxer.firstTime(of: index)].compactMap(\.self) } }
        var origin = starts.min() ?? 0
        // Sound that primes its decoder lies before the beginning.
        if origin < 0 && origin > -0.2 { origin = 0 }
        // An MP4 that says so begins with nothing; without saying so, its pictures are only late for being reordered.
        if origin > 0.1 && origin <= longestEmptiness && demuxer.beginsEmpty(used) { origin = 0 }
        var shown = shownEnd(demuxer, used)
        let stated = headerSeconds(demuxer, used)
        let isBehind = shown.map { stated > $0 + slack } ?? false
        if isBehind, let picture, let end = try lastPictureEnd(demuxer, picture) { shown = max(shown ?? end, end) }
        let announced = shown.map { max(0, $0 - origin) } ?? demuxer.statedSeconds ?? stated

        let indexed = demuxer.hasSampleTable ? indexedEnd(demuxer, used, origin: origin) : nil
        if let indexed, indexed.isComplete, isBehind || abs(indexed.seconds - announced) < 0.5 {
            return ClipLength(origin: origin, duration: announced)
        }
        // FLAC says nothing of its bytes.
        let isProven = demuxer.isCutOff && demuxer.format?.length != .samples
        let openEnd = isProven ? demuxer.format?.length?.openEnd : nil
        // A transport stream's end tells its time, however large it is.
        let isTimed = demuxer.format?.length == .packets
        let most = demuxer.mayRestart ? countedStreamBytes : countedBytes
        guard demuxer.bytes <= most || isProven && !isTimed else {
            try requirePacket(demuxer, picture: picture, audio: audio)
            let duration = indexed.map { min($0.seconds, announced) } ?? announced
            let isCutOff = indexed.map { !$0.isComplete } ?? false
            return ClipLength(
                origin: origin, duration: duration,
                announced: isCutOff && announced - duration > slack ? announced : nil,
                openEnd: openEnd ?? openCluster(demuxer))
        }
        // FFmpeg's demuxers of RIFF tell of no more than lies in the file.
        let claimed = announced * demuxer.shortening
        if used == [audio], try holds(demuxer, audio: used[0], seconds: announced) {
            return ClipLength(
                origin: origin, duration: announced, announced: claimed > announced + slack ? claimed : nil)
        }
        var holes = SharedHoles(
            streams: demuxer.format == .matroska || isTimed ? used : [], frame: frame(demuxer, picture: picture))
        let (counted, uncertainty) = try countedEnd(
            demuxer, used, origin: origin, picture: picture, audio: audio, &holes)
        let isCutOff = indexed.map { !$0.isComplete } ?? demuxer.isCutOff
        if indexed?.isComplete == false, demuxer.hasOpenFragments {
            return ClipLength(origin: origin, duration: counted, openEnd: "last fragment")
        }
        if let openEnd {
            return ClipLength(origin: origin, duration: counted, openEnd: openEnd)
        }
        // Where its bytes prove the cut, times need only be read as exactly as a frame lasts. What RIFF's would have been is
        // an estimate.
        let leniency = demuxer.shortening > 1 ? slack : min(slack, frame(demuxer, picture: picture))
        // Some containers count from their clock's zero, not from their first packet.
        if isCutOff, claimed - max(counted, counted + origin) > leniency + uncertainty {
            return ClipLength(origin: origin, duration: counted, announced: claimed, holes: holes.seconds)
        }
        if demuxer.isJoined { return ClipLength(origin: origin, duration: counted, openEnd: openEnd) }
        if let openEnd = openCluster(demuxer) {
            return ClipLength(origin: origin, duration: counted, openEnd: openEnd, holes: holes.seconds)
        }
        if announced > 0 && abs(counted - announced) < 0.05 + uncertainty {
            return ClipLength(origin: origin, duration: announced, holes: holes.seconds)
        }
        guard min(abs(counted - announced), abs(counted + origin - announced)) > 0.5 else {
            return ClipLength(origin: origin, duration: counted, holes: holes.seconds)
        }
        let isEstimate = unsafe demuxer.raw.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
        guard announced > 0, !isEstimate else {
            return ClipLength(origin: origin, duration: counted, holes: holes.seconds)
        }
        return ClipLength(
            origin: origin, duration: counted,
            other: Finding(.otherLength, missing: announced, of: counted), holes: holes.seconds)
    }

    private static func openCluster(_ demuxer: borrowing Demuxer) -> String? {
        demuxer.endsWithinCluster ? "last cluster" : nil
    }

    /// Seconds that a picture is shown; without pictures, those of the shortest packets of sound.
    private static func frame(_ demuxer: borrowing Demuxer, picture: Int?) -> Double {
        guard let stream = unsafe picture.flatMap({ unsafe demuxer.stream($0) }) else { return 0.02 }
        let rate = unsafe av_q2d(stream.pointee.avg_frame_rate)
        return rate.isFinite && rate >= 1 ? 1 / rate : slack
    }

    private static func headerSeconds(_ demuxer: borrowing Demuxer, _ used: [Int]) -> Double {
        let seconds = unsafe demuxer.raw.pointee.duration
        guard seconds <= 0 else { return Double(seconds) / Double(AV_TIME_BASE) }
        return used.compactMap { unsafe demuxer.stream($0).flatMap(unsafe lasting) }.max() ?? 0
    }

    /// When an MP4's last picture or sound ends on its clock, as its tables and edit lists say; nil of fragments. What the
    /// header says of the whole includes what is empty before the first of them.
    private static func shownEnd(_ demuxer: borrowing Demuxer, _ used: [Int]) -> Double? {
        guard demuxer.hasSampleTable else { return nil }
        let ends = used.compactMap { index -> Double? in
            guard let stream = unsafe demuxer.stream(index), unsafe stream.pointee.nb_frames > 0,
                let seconds = unsafe lasting(stream), let start = demuxer.start(of: index)
            else { return nil }
            return start + seconds
        }
        return ends.count == used.count ? ends.max() : nil
    }

    /// When an MP4's last picture ends on its clock, by its packets from the last keyframe on: decoding times, of which alone
    /// its tables tell here, may be seconds behind at a variable rate.
    private static func lastPictureEnd(_ demuxer: borrowing Demuxer, _ picture: Int) throws(FFmpegFailure) -> Double? {
        guard let stream = unsafe demuxer.stream(picture),
            let last = unsafe avformat_index_get_entry(stream, avformat_index_get_entries_count(stream) - 1),
            demuxer.seek(stream: picture, to: unsafe last.pointee.timestamp)
        else { return nil }
        let packet = try Packet()
        var end: Int64?
        while try demuxer.read(packet) {
            guard packet.stream == picture, !packet.isDiscarded, let time = packet.pts else { continue }
            end = max(end ?? time, time + packet.duration)
        }
        _ = demuxer.rewind()
        return unsafe end.map(TimeBase(stream.pointee.time_base).seconds)
    }

    /// What an MP4's sample tables say, and whether all the samples lie within the file.
    private static func indexedEnd(
        _ demuxer: borrowing Demuxer, _ used: [Int], origin: Double
    ) -> (seconds: Double, isComplete: Bool)? {
        var latest = 0.0
        var isComplete = true
        for index in used {
            guard let stream = unsafe demuxer.stream(index) else { return nil }
            var last = unsafe avformat_index_get_entries_count(stream) - 1
            guard last >= 1 else { return nil }
            while last > 0, let entry = unsafe avformat_index_get_entry(stream, last),
                unsafe entry.pointee.pos + Int64(entry.pointee.size) > demuxer.bytes
            {
                isComplete = false
                last -= 1
            }
            guard let first = unsafe avformat_index_get_entry(stream, 0),
                let entry = unsafe avformat_index_get_entry(stream, last),
                let before = unsafe avformat_index_get_entry(stream, max(0, last - 1))
            else { return nil }
            let base = unsafe TimeBase(stream.pointee.time_base)
            // As seconds: a hostile table's times overflow integers.
            let end = base.seconds(unsafe entry.pointee.timestamp)
            let step = max(0, end - base.seconds(unsafe before.pointee.timestamp))
            let begin = min(0, base.seconds(unsafe first.pointee.timestamp))
            latest = max(latest, end - begin + step - origin)
        }
        return (latest, isComplete)
    }

    /// Seconds, as a stream says; nil where it doesn't.
    private static func lasting(_ stream: UnsafeMutablePointer<AVStream>) -> Double? {
        guard unsafe stream.pointee.duration > 0 else { return nil }
        return unsafe TimeBase(stream.pointee.time_base).seconds(stream.pointee.duration)
    }

    /// Whether a WAV's samples all lie within the file, which of PCM is arithmetic.
    private static func holds(
        _ demuxer: borrowing Demuxer, audio index: Int, seconds: Double
    ) throws(FFmpegFailure) -> Bool {
        guard demuxer.format == .wav, seconds > 0, let stream = unsafe demuxer.stream(index),
            let parameters = unsafe stream.pointee.codecpar
        else { return false }
        let bits = unsafe Double(av_get_exact_bits_per_sample(parameters.pointee.codec_id))
        let samples = unsafe Double(parameters.pointee.sample_rate) * Double(parameters.pointee.ch_layout.nb_channels)
        let packet = try Packet()
        guard bits > 0, try demuxer.read(packet), unsafe packet.raw.pointee.pos > 0 else { return false }
        let start = unsafe Double(packet.raw.pointee.pos)
        _ = demuxer.rewind()
        return start + seconds * samples * bits / 8 <= Double(demuxer.bytes) + 1
    }

    private static func requirePacket(
        _ demuxer: borrowing Demuxer, picture: Int?, audio: Int?
    ) throws(FFmpegFailure) {
        let packet = try Packet()
        guard try demuxer.read(packet) else { throw nothing(demuxer, picture: picture, audio: audio) }
        _ = demuxer.rewind()
    }

    private static func countedEnd(
        _ demuxer: borrowing Demuxer, _ used: [Int], origin: Double, picture: Int?, audio: Int?,
        _ holes: inout SharedHoles
    ) throws(FFmpegFailure) -> (seconds: Double, uncertainty: Double) {
        let packet = try Packet()
        if used.count == 1, let end = try framedEnd(demuxer, used[0], packet: packet) { return (end - origin, 0) }
        var latest: Double?
        var running = [Int: Double]()
        // What a packet without a duration may last.
        var step = 0.0
        while try demuxer.read(packet) {
            guard used.contains(packet.stream), !packet.isDiscarded, packet.bytes > 0,
                let stream = unsafe demuxer.stream(packet.stream)
            else { continue }
            let base = unsafe TimeBase(stream.pointee.time_base)
            let begin = (packet.pts ?? packet.dts).map(base.seconds) ?? running[packet.stream] ?? 0
            let end = begin + base.seconds(packet.duration)
            if packet.duration == 0, let before = running[packet.stream] { step = max(step, min(1, begin - before)) }
            running[packet.stream] = end
            holes.add(packet.stream, from: begin, to: end)
            latest = max(latest ?? 0, end - origin)
        }
        _ = demuxer.rewind()
        guard let latest else { throw nothing(demuxer, picture: picture, audio: audio) }
        return (latest, step)
    }

    /// Where an MP3's sound ends on its clock, by the headers of its frames; nil where they don't follow each other, and
    /// of all else.
    private static func framedEnd(
        _ demuxer: borrowing Demuxer, _ audio: Int, packet: borrowing Packet
    ) throws(FFmpegFailure) -> Double? {
        guard demuxer.format == .mp3, let stream = unsafe demuxer.stream(audio) else { return nil }
        defer { _ = demuxer.rewind() }
        guard try demuxer.read(packet), let begin = packet.pts ?? packet.dts,
            case let offset = unsafe packet.raw.pointee.pos, offset >= 0
        else { return nil }
        let seconds = MP3Frame.seconds(from: offset, of: demuxer.bytes) { demuxer.bytes($0, at: $1) }
        return seconds.map { unsafe TimeBase(stream.pointee.time_base).seconds(begin) + $0 }
    }

    /// Whether the container says of these streams that they have no samples.
    private static func isEmpty(_ demuxer: borrowing Demuxer, _ streams: [Int]) -> Bool {
        guard demuxer.format?.countsSamples == true else { return false }
        return streams.allSatisfy { index in
            guard let stream = unsafe demuxer.stream(index) else { return true }
            return unsafe avformat_index_get_entries_count(stream) == 0 && stream.pointee.nb_frames == 0
                && stream.pointee.duration <= 0
        }
    }

    /// Why there is not one packet.
    private static func nothing(_ demuxer: borrowing Demuxer, picture: Int?, audio: Int?) -> FFmpegFailure {
        // FLAC is cut into packets by what its decoder can read: nothing is missing in the file.
        if picture == nil, let audio, let parameters = unsafe demuxer.stream(audio)?.pointee.codecpar,
            unsafe parameters.pointee.codec_id == AV_CODEC_ID_FLAC
        {
            let bits = unsafe parameters.pointee.bits_per_raw_sample
            if bits > 24 { return FFmpegFailure(refusal: .unsupported(.flacBits, "\(bits)")) }
        }
        if let lack = demuxer.lackOfIndex { return FFmpegFailure(refusal: .unreadable(lack)) }
        if demuxer.isFirstPartOfStream { return FFmpegFailure(refusal: .unsupported(.firstPart)) }
        let what = picture == nil ? "sound" : "pictures"
        if !demuxer.isCutOff, isEmpty(demuxer, [picture, audio].compactMap(\.self)) {
            return FFmpegFailure(refusal: .unsupported(.noneOfIt, what))
        }
        return FFmpegFailure(
            refusal: .unreadable(Finding(.endsBefore, named: "first \(picture == nil ? "audio" : "video") packet")))
    }
}

extension ContainerFormat.Length {
    /// Within what a file ends that is cut off, of containers that say nothing of what comes after.
    fileprivate var openEnd: String? {
        switch self {
        case .pages: "last page"
        case .packets: "last packet"
        default: nil
        }
    }
}

extension Demuxer {
    /// When a stream begins on its clock, in seconds; nil where nothing tells.
    func start(of index: Int) -> Double? {
        guard let stream = unsafe stream(index), unsafe stream.pointee.start_time != satchel_no_pts else { return nil }
        return unsafe TimeBase(stream.pointee.time_base).seconds(stream.pointee.start_time)
    }

    /// The same of its first packet, where what the demuxer says may only be guessed.
    func firstTime(of index: Int) throws(FFmpegFailure) -> Double? {
        guard !hasSampleTable, let stream = unsafe stream(index) else { return start(of: index) }
        defer { _ = rewind() }
        let packet = try Packet()
        while try read(packet) {
            guard packet.stream == index, let time = packet.pts ?? packet.dts else { continue }
            return unsafe TimeBase(stream.pointee.time_base).seconds(time)
        }
        return nil
    }

    /// Of fragments: whether nothing says how long they are together.
    fileprivate var hasOpenFragments: Bool {
        movieBoxes { file, movie in
            file.first("mvex", in: movie).map { file.first("mehd", in: $0) == nil } ?? false
        }
    }

    /// Whether it is what a stream of fragments begins with, and has none of them.
    fileprivate var isFirstPartOfStream: Bool {
        movieBoxes { file, movie in
            file.first("mvex", in: movie) != nil && !file.boxes(in: file.whole).contains { $0.type == "moof" }
        }
    }

    /// Of ``FileBoxes/lackOfIndex(in:_:)``.
    var lackOfIndex: Finding? { FileBoxes.lackOfIndex(in: bytes) { bytes($0, at: $1) } }

    private func movieBoxes(_ body: (FileBoxes, Range<Int64>) -> Bool) -> Bool {
        guard format == .movie else { return false }
        return FileBoxes.of(bytes) {
            bytes($0, at: $1)
        } _: { file in
            file.first("moov", in: file.whole).map { body(file, $0) } ?? false
        }
    }
}

/// For messages: at most two decimals.
func rounded(_ seconds: Double) -> String {
    let hundredths = (seconds * 100).rounded() / 100
    guard abs(hundredths) < 1e12 else { return "a great many" }
    return hundredths == hundredths.rounded() ? String(Int64(hundredths)) : String(hundredths)
}
