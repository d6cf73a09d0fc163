import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

/// Owns an opened container, read through ``DescriptorIO``; opens nothing else, whatever the file refers to.
@safe struct Demuxer: ~Copyable {
    let raw: UnsafeMutablePointer<AVFormatContext>
    private let io: DescriptorIO

    /// What it is; nil of pictures.
    let format: ContainerFormat?
    /// Bytes of the source, or of its first part.
    let bytes: Int64
    /// The parts that are read after this one.
    let following: FollowingParts?
    /// Where the clock begins anew; nil of what has one for the whole.
    private let seams: ClockSeams?
    /// The positions of a Matroska file's first packets.
    private let firstCluster: Int64

    /// Opens `descriptor` if one of `formats` takes it, and only then.
    ///
    /// - Parameters:
    ///   - start: Where it begins.
    ///   - following: Other parts of the same file.
    ///   - formats: Names of demuxers.
    ///   - forced: A demuxer to use without asking which one suits best.
    ///   - minimumScore: How sure FFmpeg must be, of 100.
    /// - Returns: Nil where no allowed demuxer claims it.
    /// - Throws: `AVERROR_INVALIDDATA` where one claims it and cannot read it.
    static func open(
        _ descriptor: Int32, from start: Int64 = 0, bytes: Int64, formats: [String], forced: String? = nil,
        minimumScore: Int32 = 1, settings: [String: String] = [:], following: FollowingParts? = nil
    ) throws(FFmpegFailure) -> Demuxer? {
        FFmpegLibraries.prepare()
        let io = try DescriptorIO(reading: descriptor, start..<start + bytes)
        var format: UnsafePointer<AVInputFormat>?
        if let forced {
            unsafe format = unsafe av_find_input_format(forced)
        } else {
            let score = unsafe av_probe_input_buffer2(io.context, &format, nil, nil, 0, 0)
            guard score >= minimumScore else { return nil }
        }
        guard let format = unsafe format, let names = unsafe format.pointee.name else { return nil }
        let name = unsafe String(cString: names)
        guard name.split(separator: ",").contains(where: { formats.contains(String($0)) }) else { return nil }

        guard let context = unsafe avformat_alloc_context() else { throw .noMemory }
        unsafe context.pointee.pb = unsafe io.context
        unsafe context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        unsafe context.pointee.io_open = { _, _, _, _, _ in satchel_averror(EPERM) }
        var options = Options()
        options["format_whitelist"] = formats.joined(separator: ",")
        options["codec_whitelist"] = Decoders.allowList
        options["protocol_whitelist"] = ""
        options["max_streams"] = "256"
        for (key, value) in settings { options[key] = value }

        var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        // Frees the context where it fails.
        let code = unsafe avformat_open_input(&opened, nil, format, &options.raw)
        guard code >= 0, let opened = unsafe opened else {
            if code == satchel_averror(ENOMEM) { throw .noMemory }
            throw encryption(of: io, named: name, bytes: bytes) ?? FFmpegFailure(satchel_averror_invaliddata)
        }
        return unsafe Demuxer(
            raw: opened, io: io, format: ContainerFormat(demuxer: name), bytes: bytes, following: following,
            seams: ["mpegts", "mpeg"].contains(name) ? ClockSeams() : nil)
    }

    private init(
        raw: UnsafeMutablePointer<AVFormatContext>, io: consuming DescriptorIO, format: ContainerFormat?, bytes: Int64,
        following: FollowingParts?, seams: ClockSeams?
    ) {
        self.following = following
        self.seams = seams
        unsafe self.raw = unsafe raw
        self.io = io
        self.format = format
        self.bytes = bytes
        // The cluster's identifier of four bytes was read.
        firstCluster = unsafe avio_seek(raw.pointee.pb, 0, SEEK_CUR) - 4
        if isMatroskaSound { addStart() }
    }

    deinit {
        var raw: UnsafeMutablePointer<AVFormatContext>? = unsafe raw
        unsafe avformat_close_input(&raw)
    }

    /// Reads ahead until the streams' parameters are known; what stays unknown is no error.
    ///
    /// - Parameters:
    ///   - maximumPixels: The decoders that are asked refuse a larger picture before they take its memory.
    ///   - limit: The tracks of pictures and sound that decoders look at; what else the container carries is left out.
    ///     Streams that only appear while it reads, as in an MPEG program stream, are bounded by the process's memory.
    func probeStreams(maximumPixels: Int64, atMost limit: Int) throws(FFmpegFailure) {
        let count = streamCount
        let options = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: max(1, count))
        unsafe options.initialize(repeating: nil, count: max(1, count))
        defer { unsafe options.deallocate() }
        for index in 0..<count { unsafe _ = av_dict_set_int(&options[index], "max_pixels", maximumPixels, 0) }
        leaveOut(beyond: limit)
        // In a transport stream the first of few frames is whole once the third begins.
        if mayRestart { unsafe raw.pointee.max_analyze_duration = Self.longestProbe }
        let code = unsafe avformat_find_stream_info(raw, options)
        for index in 0..<count { unsafe av_dict_free(&options[index]) }
        try checked(code)
        // What was read so far has no keyframe by its marks; a parser tells better.
        if format == .matroska, !videoStreams.isEmpty, videoStreams.allSatisfy({ indexedStart(of: $0) == nil }) {
            addStart()
        }
    }

    /// Microseconds, as for FLV; the bytes are limited as well.
    private static let longestProbe = 90 * Int64(AV_TIME_BASE)

    /// Skips subtitles, data, and all tracks after the first `limit` of pictures and sound that can be decoded. First are
    /// one of either, and what the container marks.
    private func leaveOut(beyond limit: Int) {
        var pictures: [(index: Int, isMarked: Bool)] = []
        var audioTracks = pictures
        for index in 0..<streamCount {
            guard let stream = unsafe stream(index), let parameters = unsafe stream.pointee.codecpar else { continue }
            let disposition = unsafe stream.pointee.disposition
            guard disposition & AV_DISPOSITION_ATTACHED_PIC == 0 else { continue }
            let isMarked = disposition & AV_DISPOSITION_DEFAULT != 0
            let isTaken = unsafe Decoders.name(for: parameters.pointee.codec_id) != nil
            switch unsafe parameters.pointee.codec_type {
            case AVMEDIA_TYPE_VIDEO where isTaken: pictures.append((index, isMarked))
            case AVMEDIA_TYPE_AUDIO where isTaken: audioTracks.append((index, isMarked))
            default:
                // What has no name yet is given one as it is read.
                if unsafe parameters.pointee.codec_id != AV_CODEC_ID_NONE {
                    unsafe stream.pointee.discard = AVDISCARD_ALL
                }
            }
        }
        func ordered(_ tracks: [(index: Int, isMarked: Bool)]) -> [Int] {
            (tracks.filter(\.isMarked) + tracks.filter { !$0.isMarked }).map(\.index)
        }
        let (first, second) = (ordered(pictures), ordered(audioTracks))
        let all = first.prefix(1) + second.prefix(1) + first.dropFirst() + second.dropFirst()
        for index in all.dropFirst(limit) {
            if let stream = unsafe stream(index) { unsafe stream.pointee.discard = AVDISCARD_ALL }
        }
    }

    /// Hands packets out as the container cuts them, without a parser's look into each: where that knows their times, and
    /// which of them are keyframes, a parser only costs time. No buffer is between the file and a packet. From the next seek on.
    func takePacketsAsTheyAre() {
        unsafe raw.pointee.flags |= AVFMT_FLAG_NOPARSE
        unsafe io.context.pointee.direct = 1
    }

    var streamCount: Int { unsafe Int(raw.pointee.nb_streams) }

    func stream(_ index: Int) -> UnsafeMutablePointer<AVStream>? {
        guard index >= 0, index < streamCount else { return nil }
        return unsafe raw.pointee.streams[index]
    }

    /// The shape of a stored pixel, width by height; 1 where nothing or nonsense is said.
    func sampleAspect(of stream: UnsafeMutablePointer<AVStream>) -> Double {
        let aspect = unsafe av_q2d(av_guess_sample_aspect_ratio(raw, stream, nil))
        return aspect.isFinite && aspect > 0.1 && aspect < 10 ? aspect : 1
    }

    /// Of the MP4 family: the main one of its brands (the tag of that name may be somebody's own). Of Matroska: `webm`, where
    /// the header says that it keeps to that.
    var brand: String? {
        guard let start = io.bytes(12) else { return nil }
        if start[4..<8].elementsEqual("ftyp".utf8) { return String(decoding: start[8..<12], as: UTF8.self) }
        guard start.starts(with: [0x1a, 0x45, 0xdf, 0xa3]), let header = io.bytes(64) else { return nil }
        let isWebM = header.indices.dropLast(3).contains { header[$0..<$0 + 4].elementsEqual("webm".utf8) }
        return isWebM ? "webm" : nil
    }

    /// Of ``ContainerFormat/hasSampleTable``.
    var hasSampleTable: Bool { format?.hasSampleTable ?? false }

    /// What the container says of a stream under `key`: text from the file.
    func tag(_ key: String, of stream: UnsafeMutablePointer<AVStream>) -> String? {
        guard let entry = unsafe av_dict_get(stream.pointee.metadata, key, nil, 0) else { return nil }
        return unsafe String(cString: entry.pointee.value)
    }

    /// `count` bytes of the source at `offset`; nil where there are fewer.
    func bytes(_ count: Int, at offset: Int64) -> [UInt8]? { io.bytes(count, at: offset) }

    /// Whether packets follow each other without a word on how many there are.
    var saysNoLength: Bool { format?.length == .packets || format?.length == .open }

    /// Whether it is filled up with zeros at its end, as a download reserves them.
    var endsInZeros: Bool {
        let count = 4096
        return bytes >= Int64(count) && self.bytes(count, at: bytes - Int64(count))?.allSatisfy { $0 == 0 } == true
    }

    /// The next packet of any stream.
    ///
    /// - Returns: False at the end, which is also where a read fails: what a truncated file still has is used.
    /// - Throws: Also where ``WorkTime`` is up.
    func read(_ packet: borrowing Packet) throws(FFmpegFailure) -> Bool {
        packet.clear()
        if let following, following.index > 0 { return try following.read(packet) }
        var failures = 0
        while true {
            try FFmpegFailure.checkTime()
            let code = unsafe av_read_frame(raw, packet.raw)
            if code >= 0 {
                if let seams, let stream = unsafe stream(packet.stream) {
                    seams.follow(packet, in: TimeBase(unsafe stream.pointee.time_base))
                }
                return true
            }
            if code == satchel_averror(EAGAIN), failures < 1000 {
                failures += 1
                continue
            }
            if code == satchel_averror(ENOMEM) { throw .noMemory }
            try FFmpegFailure.checkTime()
            if io.failure != 0 { throw FFmpegFailure(satchel_averror(io.failure)) }
            return try following?.read(packet) ?? false
        }
    }

    /// `true` if the file has several recordings in sequence, which cannot be searched by time.
    var isJoined: Bool { following != nil || seams?.isFound == true }

    /// `true` for formats whose clock may begin anew within a file.
    var mayRestart: Bool { seams != nil }

    /// Whether there is anything of any of these streams among the first packets of all. It is at the beginning afterwards.
    func hasPacket(of streams: [Int], among most: Int = .max) throws(FFmpegFailure) -> Bool {
        guard !streams.isEmpty, rewind() else { return false }
        defer { _ = rewind() }
        let packet = try Packet()
        var count = 0
        while count < most, try read(packet) {
            if streams.contains(packet.stream) { return true }
            count += 1
        }
        return false
    }

    /// Why no picture of a stream could be decoded: it may have none that can do without those before it.
    func pictureless(_ index: Int) throws(FFmpegFailure) -> AttachmentError {
        // A container that marks none says by that that all are keyframes; a parser knows better.
        unsafe raw.pointee.flags &= ~AVFMT_FLAG_NOPARSE
        _ = rewind()
        let packet = try Packet()
        var (hasKeyframe, hasPacket) = (false, false)
        while !hasKeyframe, try read(packet) {
            if packet.stream == index { (hasPacket, hasKeyframe) = (true, packet.isKey) }
        }
        if !hasPacket { return .unsupported(.noneOfIt, "pictures") }
        return .unreadable(
            Finding(hasKeyframe ? .notDecoded : .noKeyframe, .video, by: "FFmpeg \(FFmpegLibraries.version)"))
    }

    /// Goes to the last keyframe at or before `timestamp`, in the time base of the stream `index`, and to what the other
    /// streams have there; where the stream begins later, to the beginning of all.
    ///
    /// Where an edit list puts several parts together, their hidden pictures and sounds have times of other parts, and a
    /// search would go astray: all is read from the beginning.
    func seek(stream index: Int, to timestamp: Int64) -> Bool {
        if isJoined || isUnmarked { return rewind() }
        seams?.reset()
        if hasSampleTable, let first = indexedStart(of: index), first > timestamp || !isContinuous(index) {
            return rewind()
        }
        return unsafe avformat_seek_file(raw, Int32(index), Int64.min, timestamp, timestamp, seekFlags) >= 0
    }

    private var seekFlags: Int32 { isMatroskaSound || isUnmarked ? AVSEEK_FLAG_ANY : 0 }

    /// Sound alone can be decoded from any packet, whether or not the file marks it as a keyframe.
    private var isMatroskaSound: Bool { format == .matroska && videoStreams.isEmpty }

    /// `true` for a Matroska whose video has no marked keyframe, and so no index: a search would find nothing.
    private var isUnmarked: Bool {
        format == .matroska && videoStreams.contains { indexedStart(of: $0) == Self.longAgo }
    }

    /// All streams of pictures but cover art.
    private var videoStreams: [Int] {
        (0..<streamCount).filter { index in
            guard let stream = unsafe stream(index), let parameters = unsafe stream.pointee.codecpar else {
                return false
            }
            return unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
    }

    /// Adds the first cluster to the index, which otherwise begins with the first marked keyframe.
    private func addStart() {
        for index in 0..<streamCount {
            if let stream = unsafe stream(index) {
                unsafe _ = av_add_index_entry(stream, firstCluster, Self.longAgo, 0, 0, AVINDEX_KEYFRAME)
            }
        }
    }

    /// Goes back to the first packet.
    func rewind() -> Bool {
        following?.reset()
        seams?.reset()
        // By time, what comes before the first packet with a time to be decoded at would be passed over.
        if seams != nil, unsafe avformat_seek_file(raw, -1, 0, 0, 0, AVSEEK_FLAG_BYTE) >= 0 {
            return true
        }
        // Streams follow the one that is asked for: what the others have before its beginning would be passed over.
        if let earliest,
            unsafe avformat_seek_file(raw, Int32(earliest), Int64.min, Self.longAgo, Self.longAgo, seekFlags) >= 0
        {
            return true
        }
        if unsafe avformat_seek_file(raw, -1, Int64.min, Int64.min + 1, Int64.min + 1, 0) >= 0 { return true }
        if unsafe avformat_seek_file(raw, -1, Int64.min, 0, Int64.max, 0) >= 0 { return true }
        return unsafe avformat_seek_file(raw, -1, Int64.min, 0, Int64.max, AVSEEK_FLAG_BYTE) >= 0
    }

    /// Before any time, and far enough from where a sum of times would overflow.
    private static let longAgo = -Int64(TimeBase.saneTicks)

    /// In MP4 and Matroska, the stream that begins first among those that are read: in Matroska by its cluster, as what begins
    /// earlier may lie behind others.
    private var earliest: Int? {
        guard hasSampleTable || format == .matroska else { return nil }
        return (0..<streamCount).compactMap { index -> (index: Int, place: Int64, seconds: Double)? in
            guard let stream = unsafe stream(index), unsafe stream.pointee.discard != AVDISCARD_ALL,
                let first = unsafe avformat_index_get_entry(stream, 0)
            else { return nil }
            let seconds = unsafe TimeBase(stream.pointee.time_base).seconds(first.pointee.timestamp)
            return unsafe (index, hasSampleTable ? 0 : first.pointee.pos, seconds)
        }.min { ($0.place, $0.seconds) < ($1.place, $1.seconds) }?.index
    }

    /// Whether each packet of a stream is decoded after the one before, as far as an MP4's index says, and by one decoder.
    func isContinuous(_ index: Int) -> Bool {
        guard following == nil else { return false }
        guard hasSampleTable, let stream = unsafe stream(index) else { return true }
        var last = Int64.min
        for entry in 0..<(unsafe avformat_index_get_entries_count(stream)) {
            guard let entry = unsafe avformat_index_get_entry(stream, entry) else { return true }
            guard unsafe entry.pointee.timestamp >= last else { return false }
            unsafe last = entry.pointee.timestamp
        }
        return true
    }

    /// When the first sample of a stream is decoded that the index knows.
    private func indexedStart(of index: Int) -> Int64? {
        guard let stream = unsafe stream(index),
            let entry = unsafe avformat_index_get_entry(stream, 0)
        else { return nil }
        return unsafe entry.pointee.timestamp
    }
}

/// Owns a dictionary of options for FFmpeg.
@safe struct Options: ~Copyable {
    var raw: OpaquePointer?

    init() {}

    deinit {
        var raw = unsafe raw
        unsafe av_dict_free(&raw)
    }

    subscript(key: String) -> String {
        get { unsafe av_dict_get(raw, key, nil, 0).map { unsafe String(cString: $0.pointee.value) } ?? "" }
        set { unsafe _ = av_dict_set(&raw, key, newValue, 0) }
    }
}
