import SatchelCore
import CFFmpeg
import StillCodecs

/// The recordings that follow the first one in a file, each with a header and a clock of its own: chained Ogg (RFC 3533,
/// section 4), and files that were appended to another.
final class FollowingParts {
    /// One of them.
    private struct Part {
        var range: Range<Int64>
        /// Its streams of pictures and sound.
        var picture: Int?
        var audio: Int?
        /// Seconds to add to its times, which gives times of the first recording.
        var shift = 0.0
    }

    /// The streams of the first recording that its packets are assigned to.
    private struct Target {
        var stream: Int
        var timeBase: TimeBase
    }

    private let descriptor: Int32
    private let formats: [String]
    private var parts: [Part]
    private var picture: Target?
    private var audio: Target?
    /// Which recording is read: 0 is the first.
    private(set) var index = 0
    /// When the second one begins, on the first one's clock, in seconds.
    private(set) var begin = Double.infinity
    private var current: Demuxer?
    private var maximumPixels: Int64 = 0

    /// Recordings that are opened at most.
    static let most = 256

    init?(_ descriptor: Int32, ranges: some Sequence<Range<Int64>>, formats: [String]) {
        self.descriptor = descriptor
        self.formats = formats
        parts = ranges.map { Part(range: $0) }
        if parts.isEmpty { return nil }
    }

    func reset() {
        index = 0
        current = nil
    }

    /// The stream of the current recording that stands for `stream` of the first one.
    func source(of stream: Int) -> UnsafeMutablePointer<AVStream>? {
        guard index > 0, index <= parts.count else { return nil }
        let own = stream == picture?.stream ? parts[index - 1].picture : parts[index - 1].audio
        return unsafe own.flatMap { unsafe current?.stream($0) }
    }

    /// Measures all.
    ///
    /// - Parameter first: Of the first recording, to which what follows is added.
    /// - Returns: What is missing, as not all of them can be read.
    func measure(
        _ first: inout ClipLength, picture: PictureFacts?, audio: AudioFacts?, limits: Limits
    ) throws(FFmpegFailure) -> Finding? {
        first.announced = nil
        self.picture = picture.map { Target(stream: $0.stream, timeBase: $0.timeBase) }
        self.audio = audio.map { Target(stream: $0.stream, timeBase: $0.timeBase) }
        maximumPixels = limits.framePixels
        begin = first.origin + first.duration
        for index in parts.indices {
            self.index = index + 1
            defer { reset() }
            do throws(FFmpegFailure) {
                guard index < Self.most, first.openEnd == nil, try open(),
                    let length = try measured(parts[index])
                else { throw FFmpegFailure(satchel_averror_invaliddata) }
                parts[index].shift = first.origin + first.duration - length.origin
                first.duration += length.duration
                first.openEnd = length.openEnd
                first.holes += length.holes
            } catch {
                let isOfSource = [.corrupt, .undecodable, .unsupportedFeature].contains(error.refusal?.code)
                guard error.isOfSource || isOfSource else { throw error }
                let count = parts.count - index
                parts.removeSubrange(index...)
                return Finding(.notDecoded, .recordings, missing: count, of: parts.count + count + 1)
            }
        }
        return nil
    }

    private func measured(_ part: Part) throws(FFmpegFailure) -> ClipLength? {
        guard current != nil, part.picture != nil || part.audio != nil else { return nil }
        return try current?.length(picture: part.picture, audio: part.audio)
    }

    /// Opens the recording `index`; false where it has nothing that the first one has.
    private func open() throws(FFmpegFailure) -> Bool {
        let range = parts[index - 1].range
        guard
            let demuxer = try Demuxer.open(
                descriptor, from: range.lowerBound, bytes: range.upperBound - range.lowerBound, formats: formats)
        else { return false }
        try demuxer.requireClear()
        try demuxer.probeStreams(maximumPixels: maximumPixels, atMost: 16)
        parts[index - 1].picture = picture == nil ? nil : demuxer.firstStream(AVMEDIA_TYPE_VIDEO)
        parts[index - 1].audio = audio == nil ? nil : demuxer.firstStream(AVMEDIA_TYPE_AUDIO)
        current = consume demuxer
        return parts[index - 1].picture != nil || parts[index - 1].audio != nil
    }

    /// The next packet of any of the recordings that follow, on the first one's clock; false after the last, and before they are
    /// measured.
    func read(_ packet: borrowing Packet) throws(FFmpegFailure) -> Bool {
        guard picture != nil || audio != nil else { return false }
        if index == 0 { index = 1 }
        while index <= parts.count {
            if current == nil { _ = try open() }
            let part = parts[index - 1]
            while try current?.read(packet) == true {
                let target = packet.stream == part.picture ? picture : packet.stream == part.audio ? audio : nil
                guard let target, let stream = unsafe current?.stream(packet.stream) else { continue }
                unsafe av_packet_rescale_ts(packet.raw, stream.pointee.time_base, target.timeBase.raw)
                packet.shift(by: -target.timeBase.ticks(part.shift))
                unsafe packet.raw.pointee.stream_index = Int32(target.stream)
                return true
            }
            index += 1
            current = nil
        }
        return false
    }

    /// Where the recordings of a file lie: one, where nothing is appended to it.
    static func ranges(of bytes: Int64, read: (Int, Int64) -> [UInt8]?) -> [Range<Int64>] {
        guard let head = read(12, 0) else { return [0..<bytes] }
        var starts: [Int64] = []
        switch (String(decoding: head.prefix(4), as: UTF8.self), String(decoding: head[4..<8], as: UTF8.self)) {
        case ("OggS", _): starts = pages(bytes, read)
        case ("RIFF", _), ("FORM", _): starts = chunks(bytes, head, read)
        case ("fLaC", _): starts = marks([0x66, 0x4c, 0x61, 0x43, 0, 0, 0, 34], bytes, read)
        case ("#!AM", _): starts = marks(Array("#!AMR".utf8), bytes, read)
        case let (name, _) where name.hasPrefix("ID3") || head[0] == 0xff: starts = frames(bytes, head, read)
        case (_, "ftyp"):
            var hasIndex = false
            for box in FileBoxes.of(bytes, read, { $0.boxes(in: $0.whole) }) {
                if box.type == "ftyp", hasIndex { starts.append(box.content.lowerBound - 8) }
                hasIndex = box.type == "moov" || hasIndex && box.type != "ftyp"
            }
        default:
            DeclaredSize.elements(of: bytes, read) { name, at, _ in
                if name == DeclaredSize.header, at > 0 { starts.append(at) }
            }
        }
        let bounds = [0] + starts + [bytes]
        return zip(bounds, bounds.dropFirst()).map { $0..<$1 }.filter { !$0.isEmpty }
    }

    /// Where links of chained Ogg begin: with the first pages of their streams, behind other pages.
    private static func pages(_ bytes: Int64, _ read: (Int, Int64) -> [UInt8]?) -> [Int64] {
        var (at, hasContent, starts) = (Int64(0), false, [Int64]())
        while at < bytes, let head = read(Int(min(282, bytes - at)), at), head.count >= 28,
            head.starts(with: "OggS".utf8)
        {
            let isFirst = head[5] & 2 != 0
            if isFirst, hasContent { starts.append(at) }
            hasContent = !isFirst
            let table = 27 + Int(head[26])
            guard head.count >= table else { break }
            at += head[27..<table].reduce(Int64(table)) { $0 + Int64($1) }
        }
        return starts
    }

    /// Where a mark that a file begins with stands again.
    private static func marks(_ mark: [UInt8], _ bytes: Int64, _ read: (Int, Int64) -> [UInt8]?) -> [Int64] {
        var (at, starts) = (Int64(1), [Int64]())
        while at < bytes, let window = read(Int(min(1 << 18, bytes - at)), at) {
            var place = window.startIndex
            while let found = window[place...].firstIndex(of: mark[0]) {
                if window[found...].starts(with: mark) { starts.append(at + Int64(found)) }
                place = found + 1
            }
            at += Int64(max(1, window.count - mark.count + 1))
        }
        return starts
    }

    /// Where frames of MP3 and of AAC go on with another version, rate or number of channels.
    private static func frames(_ bytes: Int64, _ head: [UInt8], _ read: (Int, Int64) -> [UInt8]?) -> [Int64] {
        var (start, held): (Int64, [UInt8]) = (0, [])
        // A recording has thousands of frames, so that what they begin with is not read one by one.
        func header(_ at: Int64) -> ArraySlice<UInt8>? {
            if at < start || at + 10 > start + Int64(held.count) {
                guard at + 10 <= bytes, let next = read(Int(min(64 << 10, bytes - at)), at) else { return nil }
                (start, held) = (at, next)
            }
            return held[Int(at - start)...].prefix(10)
        }
        var (at, kind, starts) = (Int64(0), nil as Int?, [Int64]())
        while let head = header(at) {
            if head.starts(with: "ID3".utf8) {
                at += 10 + head.dropFirst(6).reduce(0) { $0 << 7 | Int64($1 & 0x7f) }
                continue
            }
            guard let found = AudioFrame.kind(head), found.bytes > 0 else { break }
            if let kind, kind != found.kind {
                // One frame alone may be a damaged one.
                guard header(at + Int64(found.bytes)).flatMap(AudioFrame.kind)?.kind == found.kind else { break }
                starts.append(at)
            }
            kind = found.kind
            at += Int64(found.bytes)
        }
        return starts
    }

    /// Where another file of the same kind follows in RIFF or IFF; a large AVI goes on in chunks of another name.
    private static func chunks(_ bytes: Int64, _ head: [UInt8], _ read: (Int, Int64) -> [UInt8]?) -> [Int64] {
        var (at, next, starts) = (Int64(0), head, [Int64]())
        while next.prefix(4) == head.prefix(4) {
            if at > 0, next[8...].elementsEqual(head[8...]) { starts.append(at) }
            guard let size = DeclaredSize.chunk(next, isBigEndian: head[0] == 0x46) else { break }
            at += size + size % 2
            guard at < bytes, let following = read(12, at) else { break }
            next = following
        }
        return starts
    }
}

extension Demuxer {
    /// The first stream of a kind that an allowed decoder takes.
    fileprivate func firstStream(_ type: AVMediaType) -> Int? {
        (0..<streamCount).first { index in
            guard let stream = unsafe stream(index), let parameters = unsafe stream.pointee.codecpar else {
                return false
            }
            return unsafe parameters.pointee.codec_type == type
                && Decoders.name(for: parameters.pointee.codec_id) != nil
                && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
    }

    fileprivate func length(picture: Int?, audio: Int?) throws(FFmpegFailure) -> ClipLength {
        try ClipLength.measure(self, picture: picture, audio: audio)
    }
}
