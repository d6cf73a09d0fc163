import SatchelCore
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// Takes what the header of an MP4 or a WAV says of its streams for all that there is to know, where it says enough: of
    /// H.264 with 8 bits, 4:2:0, in frames, of AAC of low complexity, and of PCM with 16 bits. FFmpeg would decode pictures
    /// to find out the same, and look through seconds of PCM for other codings.
    ///
    /// What the header says may still be a lie: whatever decodes the streams has its own limits.
    ///
    /// - Returns: False where decoders must be asked, as of all other codings, and of fragments, whose header knows no
    ///   samples; then nothing has changed.
    func believeHeader() throws(FFmpegFailure) -> Bool {
        if format == .wav { return believeWave() }
        guard hasSampleTable, streamCount > 0 else { return false }
        var stated: [(index: Int, statement: Statement)] = []
        for index in 0..<streamCount {
            guard let stream = unsafe stream(index), let parameters = unsafe stream.pointee.codecpar else {
                return false
            }
            switch unsafe parameters.pointee.codec_type {
            case AVMEDIA_TYPE_VIDEO where unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0: break
            case AVMEDIA_TYPE_VIDEO:
                guard let statement = unsafe Statement(picture: parameters), unsafe stream.pointee.nb_frames > 0,
                    unsafe (1...240).contains(av_q2d(stream.pointee.avg_frame_rate))
                else { return false }
                stated.append((index, statement))
            case AVMEDIA_TYPE_AUDIO:
                guard let statement = unsafe Statement(audio: parameters), unsafe stream.pointee.nb_frames > 0 else {
                    return false
                }
                stated.append((index, statement))
            default: break
            }
        }
        guard !stated.isEmpty else { return false }
        for (index, statement) in stated {
            if let parameters = unsafe stream(index)?.pointee.codecpar { unsafe statement.complete(parameters) }
        }
        takePacketsAsTheyAre()
        try findStarts(of: stated.map(\.index))
        return true
    }

    /// Bytes of PCM in which something else would show: more than its longest frame.
    private static let lookedThrough: Int64 = 64 << 10

    private func believeWave() -> Bool {
        guard streamCount == 1, let parameters = unsafe stream(0)?.pointee.codecpar,
            unsafe parameters.pointee.codec_id == AV_CODEC_ID_PCM_S16LE
        else { return false }
        // Where the demuxer stands once it has read the header. Before its first packet it would look through seconds.
        let first = unsafe avio_seek(raw.pointee.pb, 0, SEEK_CUR)
        // All of its samples lie in the file.
        let samples = unsafe stream(0)?.pointee.duration ?? 0
        let block = unsafe Int64(parameters.pointee.block_align)
        guard first > 0, samples > 0, block > 0, samples < self.bytes, (self.bytes - first) / block >= samples,
            let bytes = bytes(Int(min(Self.lookedThrough, self.bytes - first)), at: first)
        else { return false }
        guard !WrappedAudio.mayBe(in: bytes) else { return false }
        unsafe parameters.pointee.format = AV_SAMPLE_FMT_S16.rawValue
        takeCodingAsStated()
        return true
    }

    /// Keeps libavformat from asking all its demuxers, over and over while it reads, whether PCM is something else: that
    /// costs more than copying it.
    private func takeCodingAsStated() {
        unsafe raw.pointee.max_probe_packets = 1
        // Counted anew from a seek on.
        _ = rewind()
    }

    /// Packets that are read at most until each stream has told when it begins.
    private static let firstPackets = 200

    /// A stream's beginning is known with its first packet.
    private func findStarts(of streams: [Int]) throws(FFmpegFailure) {
        let packet = try Packet()
        for _ in 0..<Self.firstPackets {
            let areKnown = streams.allSatisfy { index in
                unsafe stream(index).map { unsafe $0.pointee.start_time != satchel_no_pts } ?? true
            }
            guard !areKnown, try read(packet) else { break }
        }
        _ = rewind()
    }
}

/// What a header says of a stream, in the words of FFmpeg's decoders.
private enum Statement {
    case picture(SequenceParameters)
    case audio(channels: Int32)

    /// Nil where it doesn't say enough.
    init?(picture parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard unsafe parameters.pointee.codec_id == AV_CODEC_ID_H264,
            case let configuration = unsafe configuration(of: parameters), unsafe configuration.first == 1,
            let sets = unsafe ParameterSets(configuration: configuration), sets.sequences.count == 1,
            let sequence = SequenceParameters(unit: sets.sequences[0]), sequence.hasOnlyFrames,
            let size = sequence.size, unsafe Int(parameters.pointee.width) == size.width,
            unsafe Int(parameters.pointee.height) == size.height
        else { return nil }
        // Of pixels that aren't square the decoder's word is asked.
        guard sequence.usability?.aspect.map({ $0[0] <= 1 }) ?? true else { return nil }
        self = .picture(sequence)
    }

    /// Nil where it doesn't say enough.
    init?(audio parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard unsafe parameters.pointee.codec_id == AV_CODEC_ID_AAC,
            let rate = unsafe DecoderConfiguration.plainAAC(Array(configuration(of: parameters))),
            unsafe Int(parameters.pointee.sample_rate) == rate.samples,
            unsafe Int(parameters.pointee.ch_layout.nb_channels) == rate.channels
        else { return nil }
        self = .audio(channels: Int32(rate.channels))
    }

    /// Writes down what FFmpeg's decoders would.
    func complete(_ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        switch self {
        case .picture(let sequence):
            if let signal = sequence.usability?.signal {
                unsafe parameters.pointee.color_range = signal.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
                if let colours = signal.colours {
                    unsafe parameters.pointee.color_primaries = AVColorPrimaries(colours[0])
                    unsafe parameters.pointee.color_trc = AVColorTransferCharacteristic(colours[1])
                    unsafe parameters.pointee.color_space = AVColorSpace(colours[2])
                }
            }
            let isFull = unsafe parameters.pointee.color_range == AVCOL_RANGE_JPEG
            unsafe parameters.pointee.format = (isFull ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P).rawValue
            unsafe parameters.pointee.field_order = AV_FIELD_PROGRESSIVE
        case .audio(let channels):
            unsafe parameters.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
            unsafe parameters.pointee.profile = FF_PROFILE_AAC_LOW
            unsafe parameters.pointee.frame_size = 1024
            unsafe av_channel_layout_default(&parameters.pointee.ch_layout, channels)
        }
    }
}

extension SequenceParameters {
    /// Of the pictures as they are shown, before they are turned; nil where it is none, or is cut off at the left or top.
    fileprivate var size: PixelSize? {
        guard width < 4096, height < 4096 else { return nil }
        let cut = (crop ?? [0, 0, 0, 0]).map { Int($0) * 2 }
        guard cut.count == 4, cut[0] == 0, cut[2] == 0 else { return nil }
        let size = PixelSize(width: Int(width + 1) * 16 - cut[1], height: Int(height + 1) * 16 - cut[3])
        return size.width > 0 && size.height > 0 ? size : nil
    }
}

/// Compressed sound that calls itself PCM, as on a disc of DTS.
enum WrappedAudio {
    /// What the frames of DTS (in words of 16 and 14 bits, of either order) and of IEC 61937 begin with.
    private static let marks: [[UInt8]] = [
        [0x7f, 0xfe, 0x80, 0x01], [0xfe, 0x7f, 0x01, 0x80], [0x1f, 0xff, 0xe8, 0x00], [0xff, 0x1f, 0x00, 0xe8],
        [0xf8, 0x72, 0x4e, 0x1f], [0x72, 0xf8, 0x1f, 0x4e],
    ]
    /// And of AC-3, too short to be looked for but at the beginning.
    private static let firstMarks: [[UInt8]] = [[0x0b, 0x77], [0x77, 0x0b]]

    /// Whether a mark is among `bytes`, where samples begin; noise may have one by chance.
    static func mayBe(in bytes: [UInt8]) -> Bool {
        if firstMarks.contains(where: { bytes.starts(with: $0) }) { return true }
        return stride(from: 0, to: bytes.count - 3, by: 2).contains { at in
            marks.contains { bytes[at] == $0[0] && bytes[at..<at + 4].elementsEqual($0) }
        }
    }
}
