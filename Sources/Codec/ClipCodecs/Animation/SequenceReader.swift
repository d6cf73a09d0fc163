import SatchelCore
import CFFmpeg
import StillCodecs

/// Decodes the pictures of an AVIF or HEIF sequence from its tracks, with their alpha, by FFmpeg.
final class SequenceReader {
    /// When a picture is shown, in the track's ticks.
    struct Moment: Hashable, Sendable {
        var time: Int64
        var duration: Int64
    }

    let codec: String
    /// Upright.
    let size: PixelSize
    /// Of the whole pictures, in the order they are shown.
    let moments: [Moment]
    let isHDR: Bool
    private let timeBase: TimeBase
    private let isPremultiplied: Bool
    private let colour: TrackDecoder
    private let alpha: TrackDecoder?
    /// Decoded, and later than what was asked for.
    private var ahead: TrackDecoder.Picture?
    private var plane: TrackDecoder.Picture?

    /// Opens the tracks, and checks limits; decodes no more than FFmpeg needs for what the header leaves open.
    ///
    /// - Returns: Nil where FFmpeg finds no track of a coding that is taken.
    static func open(
        _ descriptor: Int32, tracks: PictureTracks, limits: Limits
    ) throws(AttachmentError) -> SequenceReader? {
        let bytes = try fileBytes(descriptor)
        FFmpegLibraries.clearLog()
        return try refusing { () throws(FFmpegFailure) -> SequenceReader? in
            guard let demuxer = try Self.demuxer(descriptor, bytes, limits) else { return nil }
            guard let index = Self.stream(of: tracks.colour, in: demuxer), let stream = unsafe demuxer.stream(index),
                let parameters = unsafe stream.pointee.codecpar,
                unsafe Decoders.decoder(for: parameters.pointee.codec_id) != nil
            else { return nil }
            let codec = unsafe String(cString: avcodec_get_name(parameters.pointee.codec_id))
            guard let picture = unsafe PictureFacts(stream, name: codec, index: index, in: demuxer) else { return nil }
            let count = Self.entries(of: index, in: demuxer)
            try FFmpegFailure.of { () throws(AttachmentError) in
                try HEIFProperties.check(
                    matrix: unsafe Int(parameters.pointee.color_space.rawValue),
                    known: Set(Colours.unusual.map { Int($0.rawValue) }))
                try AnimationFacts.check(frames: count, size: picture.coded, limits: limits)
            }
            let moments = try Self.moments(of: index, atMost: count, in: demuxer)
            guard demuxer.rewind() else { throw FFmpegFailure(satchel_averror_invaliddata) }
            let colour = try TrackDecoder(demuxer, picture, isAlpha: false, maximumPixels: limits.framePixels)
            var alpha: TrackDecoder?
            // The samples of one track may lie behind all of the other's.
            if let track = tracks.alpha, let demuxer = try Self.demuxer(descriptor, bytes, limits),
                let index = Self.stream(of: track, in: demuxer)
            {
                var plane = picture
                plane.stream = index
                alpha = try TrackDecoder(demuxer, plane, isAlpha: true, maximumPixels: limits.framePixels)
            }
            return SequenceReader(
                codec: codec, picture: picture, moments: moments, isPremultiplied: tracks.isPremultiplied,
                colour: colour, alpha: alpha)
        }
    }

    private static func demuxer(
        _ descriptor: Int32, _ bytes: Int64, _ limits: Limits
    ) throws(FFmpegFailure) -> Demuxer? {
        // Repetitions of an edit list are played, not stored.
        let name = ContainerFormat.movie.demuxer
        let opened = try Demuxer.open(
            descriptor, bytes: bytes, formats: [name], forced: name, settings: ["ignore_editlist": "1"])
        guard let demuxer = opened else { return nil }
        try demuxer.probeStreams(maximumPixels: limits.framePixels, atMost: limits.streams)
        return demuxer
    }

    private init(
        codec: String, picture: PictureFacts, moments: [Moment], isPremultiplied: Bool, colour: TrackDecoder,
        alpha: TrackDecoder?
    ) {
        self.codec = codec
        size = picture.upright
        isHDR = picture.colours.isHDR
        timeBase = picture.timeBase
        self.moments = moments
        self.isPremultiplied = isPremultiplied
        self.colour = colour
        self.alpha = alpha
    }

    /// Items may be streams as well, and have numbers of their own.
    private static func stream(of track: PictureTracks.Track, in demuxer: borrowing Demuxer) -> Int? {
        var found: Int?
        for index in 0..<demuxer.streamCount {
            guard let stream = unsafe demuxer.stream(index), unsafe Int(stream.pointee.id) == track.id else { continue }
            if let other = found, entries(of: other, in: demuxer) >= entries(of: index, in: demuxer) { continue }
            found = index
        }
        return found
    }

    private static func entries(of index: Int, in demuxer: borrowing Demuxer) -> Int {
        guard let stream = unsafe demuxer.stream(index) else { return 0 }
        return unsafe Int(avformat_index_get_entries_count(stream))
    }

    private static func moments(
        of stream: Int, atMost count: Int, in demuxer: borrowing Demuxer
    ) throws(FFmpegFailure) -> [Moment] {
        let packet = try Packet()
        var moments: [Moment] = []
        while moments.count < count, try demuxer.read(packet) {
            guard packet.stream == stream, let time = packet.pts ?? packet.dts else { continue }
            // The file ends within it.
            if packet.isCorrupt { break }
            moments.append(Moment(time: time, duration: packet.duration))
        }
        moments.sort { $0.time < $1.time }
        // How long a picture is shown is when the next one comes.
        for index in moments.indices.dropLast() {
            moments[index].duration = moments[index + 1].time - moments[index].time
        }
        return moments
    }

    /// Milliseconds that the pictures are shown.
    var delays: [Int] { AnimationFacts.shown(moments.map { timeBase.seconds($0.duration) * 1000 }) }

    /// RGBA of the picture of a moment, or RGB where the sequence has no alpha: upright, in sRGB, not premultiplied; nil where
    /// it can't be decoded. Moments are asked for in their order.
    func picture(at index: Int) throws(AttachmentError) -> [UInt8]? {
        do throws(FFmpegFailure) {
            let wanted = moments[index].time
            while true {
                if ahead == nil { ahead = try colour.next() }
                guard let found = ahead, found.time <= wanted else { return nil }
                ahead = nil
                if found.time == wanted { return try withAlpha(found.bytes, at: wanted) }
            }
        } catch {
            throw error.verdict
        }
    }

    private func withAlpha(_ colours: [UInt8], at time: Int64) throws(FFmpegFailure) -> [UInt8]? {
        guard let alpha else { return colours }
        let wanted = alpha.timeBase.ticks(timeBase.seconds(time))
        while plane.map({ $0.time < wanted }) ?? true {
            plane = try alpha.next()
            if plane == nil { break }
        }
        guard let plane, plane.time == wanted, plane.bytes.count * 3 == colours.count else { return nil }
        var pixels = [UInt8](repeating: 0, count: plane.bytes.count * 4)
        for at in plane.bytes.indices {
            let opacity = Int(plane.bytes[at])
            pixels[at * 4 + 3] = plane.bytes[at]
            for channel in 0..<3 {
                let value = Int(colours[at * 3 + channel])
                let isDivided = isPremultiplied && opacity > 0
                pixels[at * 4 + channel] = UInt8(isDivided ? min(255, (value * 255 + opacity / 2) / opacity) : value)
            }
        }
        return pixels
    }
}

/// Reads and decodes one of a sequence's tracks.
private final class TrackDecoder {
    struct Picture {
        var time: Int64
        var bytes: [UInt8]
    }

    let timeBase: TimeBase
    private let demuxer: Demuxer
    private let packet: Packet
    private var isDrained = false
    private let picture: PictureFacts
    private let isAlpha: Bool
    private let decoder: Decoder
    private let frame: Frame
    private let output: Frame
    private var filters: Filters?

    private final class Filters {
        let chain: FilterChain

        init(_ chain: consuming FilterChain) {
            self.chain = chain
        }
    }

    /// - Parameter picture: The colours' facts: alpha is turned as they are, and as large.
    init(
        _ demuxer: consuming Demuxer, _ picture: PictureFacts, isAlpha: Bool, maximumPixels: Int64
    ) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(picture.stream) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        for other in 0..<demuxer.streamCount where other != picture.stream {
            if let stream = unsafe demuxer.stream(other) { unsafe stream.pointee.discard = AVDISCARD_ALL }
        }
        decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        frame = try Frame()
        output = try Frame()
        packet = try Packet()
        timeBase = TimeBase(unsafe stream.pointee.time_base)
        self.demuxer = demuxer
        self.picture = picture
        self.isAlpha = isAlpha
    }

    /// The next picture, three bytes a pixel, or one of alpha; nil where all is out.
    func next() throws(FFmpegFailure) -> Picture? {
        guard try demuxer.decode(picture.stream, by: decoder, frame, packet: packet, isDrained: &isDrained) else {
            return nil
        }
        let time = frame.timestamp ?? .min
        let shown = picture.turn.swapsSides ? picture.upright.swapped : picture.upright
        if !isAlpha { picture.colours.mark(frame) }
        let filters: Filters
        if let held = self.filters, held.chain.suits(frame) {
            filters = held
        } else {
            let own: [Filter] =
                isAlpha
                ? [.sketch(width: shown.width, height: shown.height), .grey]
                : picture.colours.stillFilters(to: shown, peak: PeakLight.nits(frame) ?? picture.peak)
            filters = Filters(try FilterChain(own + picture.turn.filters, like: frame, timeBase: timeBase.raw))
            self.filters = filters
        }
        try filters.chain.send(frame)
        guard try filters.chain.receive(output), output.width == picture.upright.width,
            output.height == picture.upright.height
        else { throw FFmpegFailure(satchel_averror_invaliddata) }
        return Picture(time: time, bytes: try output.rows(bytes: isAlpha ? 1 : 3))
    }
}
