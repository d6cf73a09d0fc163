import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

/// An opened container and what is known of it.
struct ProbedClip: ~Copyable {
    let demuxer: Demuxer
    private(set) var facts: ClipFacts

    /// Nil where no allowed demuxer and decoder agree that it is sound or video.
    ///
    /// - Parameter believesHeader: Whether decoders need not be asked where the container's header tells enough.
    static func open(
        _ descriptor: Int32, sniffed: String, limits: Limits, believesHeader: Bool = true
    ) throws(AttachmentError) -> ProbedClip? {
        guard let demuxers = Demuxers(sniffed: sniffed) else { return nil }
        let bytes = try fileBytes(descriptor)
        guard bytes > 0 else { return nil }
        guard bytes <= limits.clipBytes else { throw .sourceTooLarge(bytes: bytes, limit: limits.clipBytes) }
        do throws(FFmpegFailure) {
            let opened = try open(descriptor, bytes: bytes, demuxers: demuxers)
            guard let demuxer = opened else {
                if let refusal = refusalOfTag(descriptor, bytes: bytes) { throw FFmpegFailure(refusal: refusal) }
                // The table has better names.
                if ForeignFormat(sniffed: sniffed) == nil, let refusal = Demuxer.refusalOfForeign(descriptor) {
                    throw FFmpegFailure(refusal: refusal)
                }
                return nil
            }
            return try examine(
                demuxer, sniffed: sniffed, isExpected: demuxers.isExpected, limits: limits,
                believesHeader: believesHeader)
        } catch {
            if let refusal = error.refusal { throw refusal }
            if error.code == satchel_averror_invaliddata && !demuxers.isExpected { return nil }
            if error.code == satchel_averror_invaliddata, !WorkTime.isUp {
                let reason = FileBoxes.lackOfIndex(in: bytes) { allBytes(descriptor, count: $0, from: $1) }
                let head = try readBytes(descriptor, count: 1 << 16)
                throw .unreadable(reason ?? BrokenContainer.finding(of: head, bytes: bytes, sniffed: sniffed))
            }
            throw error.verdict
        }
    }

    private static func open(
        _ descriptor: Int32, bytes: Int64, demuxers: Demuxers
    ) throws(FFmpegFailure) -> Demuxer? {
        let certainty = demuxers.isExpected ? 1 : Demuxers.certainty
        let ranges = FollowingParts.ranges(of: bytes) { allBytes(descriptor, count: $0, from: $1) }
        let following = FollowingParts(descriptor, ranges: ranges.dropFirst(), formats: demuxers.allowed)
        if let demuxer = try Demuxer.open(
            descriptor, bytes: ranges.first?.upperBound ?? bytes, formats: demuxers.allowed, minimumScore: certainty,
            following: following)
        {
            return demuxer
        }
        guard let forced = demuxers.fallback ?? tagged(descriptor) else { return nil }
        return try Demuxer.open(descriptor, bytes: bytes, formats: demuxers.allowed, forced: forced)
    }

    /// An ID3 tag so long that no guess reaches the sound behind it: an MP3 if a frame follows.
    private static func tagged(_ descriptor: Int32) -> String? {
        var head = [UInt8](repeating: 0, count: 10)
        guard unsafe pread(descriptor, &head, 10, 0) == 10, head.starts(with: [0x49, 0x44, 0x33]) else { return nil }
        let length = head[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7f) }
        guard unsafe pread(descriptor, &head, 2, length + 10) == 2, head[0] == 0xff else { return nil }
        return head[1] & 0xf6 == 0xf0 ? "aac" : (head[1] & 0xe0 == 0xe0 ? "mp3" : nil)
    }

    /// Of a file that is an ID3 tag (title, cover and the like) with nothing but zeros behind it.
    private static func refusalOfTag(_ descriptor: Int32, bytes: Int64) -> AttachmentError? {
        guard let head = try? readBytes(descriptor, count: 1 << 16), head.count > 10,
            head.starts(with: Array("ID3".utf8))
        else { return nil }
        let length = 10 + head[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7f) }
        guard length >= bytes || head.count == bytes && head[length...].allSatisfy({ $0 == 0 }) else { return nil }
        return .unreadable(
            length > bytes
                ? Finding(.endsWithin, named: "tag") : Finding(.nothingInside, of: Double(length)))
    }

    private static func examine(
        _ demuxer: consuming Demuxer, sniffed: String, isExpected: Bool, limits: Limits, believesHeader: Bool
    ) throws(FFmpegFailure) -> ProbedClip? {
        try demuxer.requireClear()
        var isKnown = false
        if believesHeader { isKnown = try demuxer.believeHeader() }
        if !isKnown { try demuxer.probeStreams(maximumPixels: limits.framePixels, atMost: limits.streams) }
        var chosen = Streams(demuxer)
        // Whatever the container says of their size. Cover art may be refused without harm to its sound.
        if chosen.cover == nil, let pixels = FFmpegLibraries.refusedPixels {
            throw FFmpegFailure(refusal: .tooManyPixels(pixels: pixels, limit: limits.framePixels))
        }
        guard chosen.isTaken else {
            guard isExpected || demuxer.format?.hasSignature == true else { return nil }
            if let lack = demuxer.lackOfIndex { throw FFmpegFailure(refusal: .unreadable(lack)) }
            if let refusal = chosen.refusal { throw FFmpegFailure(refusal: refusal) }
            // A transport stream's table of what is in it is no accident, and libmagic doesn't know each for what it is.
            let isListed = unsafe demuxer.format == .mpegTS && demuxer.raw.pointee.nb_programs > 0
            guard isExpected || isListed else { return nil }
            let hasPictures = try demuxer.hasPacket(of: chosen.unknownPictures)
            throw FFmpegFailure(
                refusal: .unreadable(
                    hasPictures
                        ? Finding(.configurationMissing, .video) : Finding(.endsBefore, named: "first packet")))
        }
        // Minutes of sound: where pictures are, some are among them, and a file of gigabytes isn't read for one.
        if chosen.picture == nil, try demuxer.hasPacket(of: chosen.unknownPictures, among: 10_000) {
            chosen.found.losses.append(Finding(.configurationMissing, .video))
        }
        if let picture = chosen.picture {
            try FFmpegFailure.of { () throws(AttachmentError) in
                for size in [picture.coded, picture.upright] { try limits.check(size, most: limits.framePixels) }
            }
        }
        if let refusal = demuxer.refusalOfEdits(to: [chosen.picture?.stream, chosen.audio?.stream].compactMap(\.self)) {
            throw FFmpegFailure(refusal: refusal)
        }
        for index in 0..<demuxer.streamCount {
            let isUsed = [chosen.picture?.stream, chosen.audio?.stream].contains(index)
            if let stream = unsafe demuxer.stream(index), !isUsed, index != chosen.cover {
                unsafe stream.pointee.discard = AVDISCARD_ALL
            }
        }
        if !isExpected, try transfer(of: chosen, in: demuxer, maximumPixels: limits.framePixels) == nil {
            // A transport stream's table of what is in it is no accident.
            let programs = unsafe demuxer.raw.pointee.nb_programs
            if demuxer.format == .mpegTS, programs > 0, let index = chosen.picture?.stream {
                throw FFmpegFailure(refusal: try demuxer.pictureless(index))
            }
            return nil
        }
        if chosen.picture?.colours.mayBeHLG == true,
            try transfer(of: chosen, in: demuxer, maximumPixels: limits.framePixels) == AVCOL_TRC_ARIB_STD_B67
        {
            chosen.picture?.colours.transfer = AVCOL_TRC_ARIB_STD_B67
        }
        if chosen.picture?.colours.isHDR == true { chosen.found.omissions.append(.hdr) }
        var length = try ClipLength.measure(demuxer, picture: chosen.picture?.stream, audio: chosen.audio?.stream)
        let more = try demuxer.following?.measure(&length, picture: chosen.picture, audio: chosen.audio, limits: limits)
        if let more { chosen.found.losses.append(more) }
        if demuxer.lacksEndMark { chosen.found.evidence.append(Finding(.endMarkMissing)) }
        let facts = ClipFacts(
            kind: chosen.picture == nil ? .audio : .video,
            type: demuxer.format?.type(brand: demuxer.brand, isAudio: chosen.picture == nil) ?? .mp4,
            picture: chosen.picture, audio: chosen.audio, cover: chosen.cover, origin: length.origin,
            duration: length.duration, otherLength: length.other, announced: length.announced, openEnd: length.openEnd,
            holes: length.holes,
            firstPicture: try chosen.picture.flatMap { picture throws(FFmpegFailure) in
                try demuxer.firstTime(of: picture.stream)
            }.map { $0 - length.origin }, bytes: demuxer.bytes, hasIndex: demuxer.hasSampleTable,
            found: chosen.found)
        return ProbedClip(demuxer: demuxer, facts: facts)
    }

    /// What the decoder says of a clip's light once a few frames came out; nil where none do.
    private static func transfer(
        of chosen: Streams, in demuxer: borrowing Demuxer, maximumPixels: Int64
    ) throws(FFmpegFailure) -> AVColorTransferCharacteristic? {
        guard let index = chosen.picture?.stream ?? chosen.audio?.stream, let stream = unsafe demuxer.stream(index)
        else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let packet = try Packet()
        let frame = try Frame()
        let wanted = chosen.picture == nil ? 3 : 1
        var frames = 0
        var looked = 0
        // Of the other streams' packets there may be seconds before.
        for _ in 0..<5_000 {
            guard looked < 200, try demuxer.read(packet) else { break }
            guard packet.stream == index else { continue }
            looked += 1
            try decoder.send(packet)
            while try decoder.receive(frame) { frames += 1 }
            if frames >= wanted { break }
        }
        if frames < wanted {
            decoder.drain()
            while try decoder.receive(frame) { frames += 1 }
        }
        _ = demuxer.rewind()
        return unsafe frames >= wanted ? decoder.raw.pointee.color_trc : nil
    }

    consuming func takeDemuxer() -> Demuxer { demuxer }

    /// Makes a sound of a video whose part has no frame.
    mutating func leaveOutPictures(_ loss: Finding, limits: Limits) throws(FFmpegFailure) {
        guard let picture = facts.picture, let audio = facts.audio else { return }
        if let stream = unsafe demuxer.stream(picture.stream) { unsafe stream.pointee.discard = AVDISCARD_ALL }
        var length = try ClipLength.measure(demuxer, picture: nil, audio: audio.stream)
        _ = try demuxer.following?.measure(&length, picture: nil, audio: audio, limits: limits)
        (facts.kind, facts.picture) = (.audio, nil)
        (facts.origin, facts.duration, facts.otherLength) = (length.origin, length.duration, length.other)
        (facts.announced, facts.openEnd, facts.holes) = (length.announced, length.openEnd, 0)
        facts.found.losses.append(loss)
    }

    private init(demuxer: consuming Demuxer, facts: ClipFacts) {
        self.demuxer = demuxer
        self.facts = facts
    }
}

/// Which of a container's streams are used.
private struct Streams {
    var picture: PictureFacts?
    var audio: AudioFacts?
    var cover: Int?
    /// Streams of pictures in an accepted coding of which not even the size is known.
    var unknownPictures: [Int] = []
    var found = Diagnosis()
    /// Codings of pictures that no allowed decoder takes.
    private var foreignPictures: [String] = []
    private var hasForeignDefault = false
    private var pictureIsDefault = false
    private var hasTransparency = false
    private var tracks: [AudioTrack] = []
    /// A stream of an accepted coding, be it empty.
    private var hasAcceptedCoding = false
    private var streams = 0
    private var pictureTracks = 0
    private var pictureNumber = 0
    private var subtitles = 0

    init(_ demuxer: borrowing Demuxer) {
        let isTransport = demuxer.format == .mpegTS
        var audioTracks: [AudioFacts?] = []
        streams = demuxer.streamCount
        for index in 0..<demuxer.streamCount {
            guard let stream = unsafe demuxer.stream(index), let parameters = unsafe stream.pointee.codecpar else {
                continue
            }
            let coding = unsafe CodingName.of(parameters, isTransport: isTransport)
            var type = unsafe parameters.pointee.codec_type
            var decoder = unsafe Decoders.name(for: parameters.pointee.codec_id)
            if unsafe CodingName.isForeignAudio(parameters, isTransport: isTransport) {
                (type, decoder) = (AVMEDIA_TYPE_AUDIO, nil)
            }
            let isAttached = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            let isDefault = unsafe stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0
            let name = unsafe String(cString: avcodec_get_name(parameters.pointee.codec_id))
            func track(_ kind: Diagnosis.Track.Kind) -> Diagnosis.Track {
                Diagnosis.Track(
                    kind, coding: coding, channels: unsafe Int(parameters.pointee.ch_layout.nb_channels),
                    language: unsafe demuxer.tag("language", of: stream))
            }
            switch type {
            case AVMEDIA_TYPE_VIDEO where isAttached:
                if cover == nil, let decoder, Decoders.stills.contains(decoder) { cover = index }
            case AVMEDIA_TYPE_VIDEO:
                pictureTracks += 1
                found.tracks.append(track(.video))
                guard let decoder, Decoders.video.contains(decoder) else {
                    foreignPictures.append(coding)
                    if isDefault { hasForeignDefault = true }
                    continue
                }
                hasAcceptedCoding = true
                if picture == nil || (isDefault && !pictureIsDefault) {
                    guard let facts = unsafe PictureFacts(stream, name: name, index: index, in: demuxer) else {
                        unknownPictures.append(index)
                        continue
                    }
                    picture = facts
                    pictureNumber = pictureTracks
                    pictureIsDefault = isDefault
                    let isMarked = unsafe demuxer.tag("alpha_mode", of: stream) == "1"
                    hasTransparency = unsafe isMarked || Self.hasAlpha(parameters)
                }
            case AVMEDIA_TYPE_AUDIO:
                let isTaken = decoder.map(Decoders.audio.contains) ?? false
                hasAcceptedCoding = hasAcceptedCoding || isTaken
                let facts = unsafe isTaken ? AudioFacts(stream, name: name, index: index, in: demuxer) : nil
                // Where nothing is known of an accepted one there was not one packet.
                guard facts != nil || !isTaken else { continue }
                found.tracks.append(track(.audio))
                audioTracks.append(facts)
                tracks.append(AudioTrack(track: track(.audio), isDefault: isDefault, isDecodable: facts != nil))
            case AVMEDIA_TYPE_SUBTITLE:
                subtitles += 1
                found.tracks.append(track(.subtitles))
            default: break
            }
        }
        let choice = AudioChoice(of: tracks)
        audio = choice.kept.flatMap { audioTracks[$0] }
        found.losses = [choice.loss].compactMap(\.self)
        found.hasTransparency = hasTransparency
        if let audio, audio.unmixed > 0 {
            found.losses.append(Finding(.notMixed, .channels, missing: audio.unmixed, of: audio.channels))
        }
        found.omissions = [choice.omission].compactMap(\.self)
        if pictureTracks > 1, picture != nil {
            found.omissions.append(
                Finding(.oneTaken, .videoTracks, missing: pictureTracks - pictureNumber, of: pictureTracks))
        }
        if let audio, audio.channels > 2 {
            found.omissions.append(Finding(.mixedDown, .channels, missing: audio.channels - 2, of: audio.channels))
        }
        if subtitles > 0 { found.omissions.append(Finding(.leftOut, .subtitles, named: "the result")) }
        if hasTransparency { found.omissions.append(Finding(.leftOut, .transparency, named: "MP4")) }
        if picture != nil, !pictureIsDefault, hasForeignDefault {
            found.losses.append(
                Finding(.notSupported, .videoTracks, missing: 1, of: pictureTracks, named: foreignPictures[0]))
        }
    }

    private static func hasAlpha(_ parameters: UnsafeMutablePointer<AVCodecParameters>) -> Bool {
        let format = unsafe AVPixelFormat(parameters.pointee.format)
        guard let description = unsafe av_pix_fmt_desc_get(format) else { return false }
        return unsafe description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    }

    /// There is something to make a clip of.
    var isTaken: Bool { picture != nil || (audio != nil && foreignPictures.isEmpty) }

    /// Why there isn't, where nothing is damaged.
    var refusal: AttachmentError? {
        if let coding = foreignPictures.first { return .unsupported(.pictures, coding) }
        if let track = tracks.first { return .unsupported(.sound, track.track.coding) }
        return hasAcceptedCoding || streams == 0 ? nil : .unsupported(.nothingToPlay)
    }
}

extension PictureFacts {
    init?(
        _ stream: UnsafeMutablePointer<AVStream>, name: String, index: Int, in demuxer: borrowing Demuxer
    ) {
        guard let parameters = unsafe stream.pointee.codecpar else { return nil }
        let coded = unsafe PixelSize(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
        guard coded.width > 0, coded.height > 0 else { return nil }
        let aspect = unsafe demuxer.sampleAspect(of: stream)
        var shown = coded
        if aspect > 1 {
            shown.width = Int((Double(coded.width) * aspect).rounded())
        } else if aspect < 1 {
            shown.height = Int((Double(coded.height) / aspect).rounded())
        }
        let turn = Turn(matrix: unsafe displayMatrix(of: stream))
        let format = unsafe AVPixelFormat(parameters.pointee.format)
        let order = unsafe parameters.pointee.field_order
        // If no frame was decoded, the real base rate is only the clock's.
        let counted =
            unsafe Double(stream.pointee.nb_frames)
            / (Double(stream.pointee.duration) * av_q2d(stream.pointee.time_base))
        let guessed = unsafe [av_q2d(stream.pointee.avg_frame_rate), counted, av_q2d(stream.pointee.r_frame_rate)]
            .first { $0.isFinite && $0 >= 1 && $0 <= 240 }
        self.init(
            stream: index, codec: name, isH264: unsafe parameters.pointee.codec_id == AV_CODEC_ID_H264,
            isPlain: format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P,
            isInterlaced: order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE, coded: coded,
            upright: turn.swapsSides ? PixelSize(width: shown.height, height: shown.width) : shown,
            hasSquarePixels: aspect == 1, turn: turn, frameRate: guessed ?? 25,
            timeBase: TimeBase(unsafe stream.pointee.time_base),
            colours: unsafe Colours(parameters, size: coded),
            peak: unsafe PeakLight.nits(stream) ?? Colours.usualPeak)
    }
}

private func displayMatrix(of stream: UnsafeMutablePointer<AVStream>) -> [Int32]? {
    var bytes = 0
    guard let data = unsafe satchel_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes), bytes >= 36 else {
        return nil
    }
    return unsafe data.withMemoryRebound(to: Int32.self, capacity: 9) { matrix in
        (0..<9).map { unsafe matrix[$0] }
    }
}

extension AudioFacts {
    fileprivate init?(
        _ stream: UnsafeMutablePointer<AVStream>, name: String, index: Int, in demuxer: borrowing Demuxer
    ) {
        guard let parameters = unsafe stream.pointee.codecpar else { return nil }
        let rate = unsafe Int(parameters.pointee.sample_rate)
        let channels = unsafe Int(parameters.pointee.ch_layout.nb_channels)
        guard rate > 0, rate <= 768_000, channels > 0, channels <= 64 else { return nil }
        let codec: Codec
        switch unsafe parameters.pointee.codec_id {
        case AV_CODEC_ID_AAC where unsafe parameters.pointee.profile == FF_PROFILE_AAC_LOW:
            let told = unsafe Array(configuration(of: parameters))
            codec =
                DecoderConfiguration.listsChannels(told)
                ? .other("aac with a list of channels")
                : DecoderConfiguration.isUnusual(told) ? .other("aac with unusual frames") : .aac
        case AV_CODEC_ID_MP3: codec = .mp3
        case AV_CODEC_ID_PCM_S16LE: codec = .pcm16
        default: codec = .other(name)
        }
        self.init(
            stream: index, codec: codec, name: name, rate: rate, channels: channels,
            unmixed: unsafe Self.unmixed(&parameters.pointee.ch_layout),
            timeBase: TimeBase(unsafe stream.pointee.time_base),
            isFramed: unsafe codec == .mp3 || codec == .aac && parameters.pointee.extradata_size == 0,
            isContinuous: demuxer.isContinuous(index))
    }

    /// Channels that FFmpeg leaves out when it mixes two: all that are neither in front, beside, behind, nor for the lowest
    /// tones, which a mix does without.
    private static func unmixed(_ layout: UnsafeMutablePointer<AVChannelLayout>) -> Int {
        let mixed: Set<AVChannel> = [
            AV_CHAN_FRONT_LEFT, AV_CHAN_FRONT_RIGHT, AV_CHAN_FRONT_CENTER, AV_CHAN_LOW_FREQUENCY, AV_CHAN_BACK_LEFT,
            AV_CHAN_BACK_RIGHT, AV_CHAN_FRONT_LEFT_OF_CENTER, AV_CHAN_FRONT_RIGHT_OF_CENTER, AV_CHAN_BACK_CENTER,
            AV_CHAN_SIDE_LEFT, AV_CHAN_SIDE_RIGHT, AV_CHAN_STEREO_LEFT, AV_CHAN_STEREO_RIGHT,
        ]
        var named = unsafe AVChannelLayout()
        defer { unsafe av_channel_layout_uninit(&named) }
        // As ``Frame/nameChannels()`` does.
        if unsafe layout.pointee.order == AV_CHANNEL_ORDER_UNSPEC {
            unsafe av_channel_layout_default(&named, layout.pointee.nb_channels)
        } else {
            unsafe _ = av_channel_layout_copy(&named, layout)
        }
        return (0..<(unsafe named.nb_channels)).count { index in
            unsafe !mixed.contains(av_channel_layout_channel_from_index(&named, UInt32(index)))
        }
    }
}
