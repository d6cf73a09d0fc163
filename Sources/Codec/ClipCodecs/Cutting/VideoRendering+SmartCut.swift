import SatchelCore
import CFFmpeg
import StillCodecs

/// The pictures at the edges of a part, encoded so that they stand between those which are copied.
struct Edges: Sendable {
    /// In decoding order, each beginning with a refresh.
    var head: [EdgePicture] = []
    var tail: [EdgePicture] = []
    /// When the last of the tail ends.
    var end: Int64
    /// Of these and of the copied pictures.
    var parameters: ParameterSets
    var rateFactor: Int
}

extension VideoRendering {
    /// Finer than the whole would be encoded: where coded pictures are coded again, the change should not be seen.
    private static let finerBy = 3
    /// Copied pictures that are decoded between the edges to see whether a decoder gets from one to the other.
    private static let triedPictures = 8

    /// Encodes the pictures before and after `plan`'s middle, and copies that.
    ///
    /// - Returns: Why not, where it can't be done so that any decoder gets over the seams.
    func smart(
        _ scan: PacketScan, _ plan: SmartPlan, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> Result<MadeClip, CutPlan.Refusal> {
        func refused(_ reason: String) -> Result<MadeClip, CutPlan.Refusal> {
            .failure(CutPlan.Refusal(reason: reason))
        }
        let settings: EdgeSettings
        switch EdgeSettings.make(
            scan.parameters, rateFactor: max(1, policy.rateFactor - Self.finerBy),
            preset: "veryfast")
        {
        case .success(let made): settings = made
        case .failure(let refusal): return .failure(refusal)
        }
        var edges = Edges(end: plan.end, parameters: scan.parameters, rateFactor: settings.rateFactor)
        let maker = EdgeMaker(picture: picture, settings: settings, scan: scan, maximumPixels: maximumPixels)
        for (pictures, source) in [(plan.head, plan.headSource), (plan.tail, plan.tailSource)]
        where !pictures.isEmpty {
            guard let made = try maker.encode(pictures, from: source, of: demuxer) else {
                return refused("the pictures at its edges could not be matched")
            }
            let joined = scan.parameters.joined(with: made.parameters)
            guard edges.parameters == scan.parameters || edges.parameters == joined else {
                return refused("its two edges are coded differently")
            }
            edges.parameters = joined
            if pictures == plan.head { edges.head = made.pictures } else { edges.tail = made.pictures }
        }
        let bytes = (edges.head + edges.tail).reduce(plan.middle.bytes) { $0 + Int64($1.slices.count) }
        if let reason = excess(of: bytes, scan, seconds: part.duration) { return refused(reason) }
        guard try isDecoded(edges, scan, plan, from: demuxer) else {
            return refused("a decoder doesn't get over its seams")
        }
        return .success(try copy(scan, plan.middle, edges: edges, from: demuxer, to: descriptor))
    }

    /// Whether all pictures around the seams come out of a decoder, once and in order.
    private func isDecoded(
        _ edges: Edges, _ scan: PacketScan, _ plan: SmartPlan, from demuxer: borrowing Demuxer
    ) throws(FFmpegFailure) -> Bool {
        guard let stream = unsafe demuxer.stream(picture.stream) else { return false }
        let errors = FFmpegLibraries.errorCount
        let decoder = try unsafe Decoder(
            for: stream, maximumPixels: maximumPixels, configuration: edges.parameters.configuration)
        let packet = try Packet()
        let frame = try Frame()
        var shown: [Int64] = []
        var expected: [Int64] = []
        func send(_ slices: [UInt8], at time: Int64) throws(FFmpegFailure) -> Bool {
            packet.clear()
            try packet.fill(with: slices)
            unsafe packet.raw.pointee.pts = time
            expected.append(time)
            guard try decoder.send(packet) else { return false }
            while try decoder.receive(frame) { shown.append(frame.pts ?? .min) }
            return true
        }
        for picture in edges.head { guard try send(picture.slices, at: picture.pts) else { return false } }
        let source = try Packet()
        let count = min(Self.triedPictures, plan.middle.packets.count)
        let middle = try scan.slices(
            of: plan.middle.packets.prefix(count), from: demuxer, picture: picture, packet: source)
        guard middle.count == count else { return false }
        for (index, slices) in zip(plan.middle.packets, middle) {
            guard try send(slices, at: scan.packets[index].pts) else { return false }
        }
        for picture in edges.tail { guard try send(picture.slices, at: picture.pts) else { return false } }
        decoder.drain()
        while try decoder.receive(frame) { shown.append(frame.pts ?? .min) }
        return shown == expected.sorted() && FFmpegLibraries.errorCount == errors
    }
}

extension PacketScan {
    /// Goes to the packet `index`, as the packet scan found it; false where it isn't found again.
    fileprivate func seek(
        to index: Int, of demuxer: borrowing Demuxer, picture: PictureFacts, packet: borrowing Packet
    ) throws(FFmpegFailure) -> Bool {
        let wanted = packets[index]
        let time = picture.timeBase.seconds(wanted.pts) + picture.leniency
        guard try demuxer.seek(picture: picture, before: time, packet: packet) else { return false }
        while try demuxer.read(packet) {
            guard packet.stream == picture.stream else { continue }
            if packet.isKey && packet.pts == wanted.pts { return packet.bytes == wanted.bytes }
            if let time = packet.dts, let limit = decodingTimes[index], time > limit { return false }
        }
        return false
    }

    /// The slices of some packets, each behind its length in four bytes; fewer where they are not found again.
    fileprivate func slices(
        of indices: Range<Int>, from demuxer: borrowing Demuxer, picture: PictureFacts, packet: borrowing Packet
    ) throws(FFmpegFailure) -> [[UInt8]] {
        guard let first = indices.first, try seek(to: first, of: demuxer, picture: picture, packet: packet) else {
            return []
        }
        var found: [[UInt8]] = []
        repeat {
            guard packet.stream == picture.stream else { continue }
            guard let slices = unsafe NALUnits.slices(of: packet.contents, framing: framing) else { return found }
            found.append(slices)
            if found.count == indices.count { return found }
        } while try demuxer.read(packet)
        return found
    }
}

/// How the edges are encoded so that nothing but their parameter sets tells them from the source's pictures.
struct EdgeSettings: Hashable, Sendable {
    /// The source's.
    var sequence: SequenceParameters
    /// That neither of the source's sets have.
    var identifier: UInt32
    var reordered: UInt32
    var buffered: UInt32
    var rateFactor: Int
    var preset: String

    /// A value without input or output: what the source's parameter sets allow.
    ///
    /// - Returns: Why a decoder might stumble at the seams, where it might.
    static func make(
        _ parameters: ParameterSets, rateFactor: Int, preset: String
    ) -> Result<EdgeSettings, CutPlan.Refusal> {
        func refused(_ reason: String) -> Result<EdgeSettings, CutPlan.Refusal> {
            .failure(CutPlan.Refusal(reason: reason))
        }
        guard parameters.sequences.count == 1, let unit = parameters.sequences.first else {
            return refused("it has several parameter sets")
        }
        guard let sequence = SequenceParameters(unit: unit) else { return refused("its parameter sets are unusual") }
        guard [66, 77, 100].contains(sequence.profile), sequence.level >= 10 else {
            return refused("its profile \(sequence.profile) is none that can be matched")
        }
        guard sequence.hasOnlyFrames else { return refused("it is coded in fields") }
        guard let identifier = parameters.freeIdentifier else { return refused("it has too many parameter sets") }
        let reordered: UInt32
        let buffered: UInt32
        if let restriction = sequence.usability?.restriction {
            (reordered, buffered) = (restriction.reordered, restriction.buffered)
        } else if sequence.orderType == 2 || sequence.profile == 66 {
            (reordered, buffered) = (0, sequence.mostBuffered)
        } else {
            return refused("its parameter sets don't say how far its pictures are reordered")
        }
        guard buffered >= (reordered > 0 ? 2 : 1) else { return refused("its decoder keeps too few pictures") }
        return .success(
            EdgeSettings(
                sequence: sequence, identifier: identifier, reordered: reordered, buffered: buffered,
                rateFactor: rateFactor, preset: preset))
    }

    /// For x264.
    fileprivate var parameters: String {
        [
            "sps-id": Int(identifier), "level": Int(sequence.level), "dpb-size": Int(buffered), "ref": 1,
            "bframes": reordered > 0 ? 2 : 0, "b-pyramid": 0, "scenecut": 0, "keyint": 1_000_000, "open-gop": 0,
            "aud": 0,
        ].map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ":")
    }

    fileprivate var profile: String {
        switch sequence.profile {
        case 66: "baseline"
        case 77: "main"
        default: "high"
        }
    }
}

/// Decodes some pictures of a source, and encodes them again.
private struct EdgeMaker {
    var picture: PictureFacts
    var settings: EdgeSettings
    var scan: PacketScan
    var maximumPixels: Int64

    struct Made {
        var pictures: [EdgePicture]
        var parameters: ParameterSets
    }

    /// - Parameters:
    ///   - wanted: Their times, rising.
    ///   - source: The packet from which they can be decoded.
    /// - Returns: Nil where they don't come out as they are expected, or the encoder's parameters don't match.
    func encode(_ wanted: [Int64], from source: Int, of demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Made? {
        guard let stream = unsafe demuxer.stream(picture.stream) else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let encoder = try encoder()
        guard let parameters = unsafe matched(encoder.configuration) else { return nil }
        let packet = try Packet()
        let output = try Packet()
        let frame = try Frame()
        var taken = 0
        var pictures: [EdgePicture] = []
        func takeFrames() throws(FFmpegFailure) -> Bool {
            while taken < wanted.count, try decoder.receive(frame) {
                guard let time = frame.timestamp, time >= wanted[taken] else { continue }
                guard time == wanted[taken], suits(frame) else { return false }
                unsafe frame.raw.pointee.pts = time - wanted[0]
                unsafe frame.raw.pointee.pict_type = AV_PICTURE_TYPE_NONE
                unsafe frame.raw.pointee.format = AV_PIX_FMT_YUV420P.rawValue
                try encoder.send(frame)
                taken += 1
                guard try takePackets() else { return false }
            }
            return true
        }
        func takePackets() throws(FFmpegFailure) -> Bool {
            while try encoder.receive(output) {
                guard let time = output.pts,
                    let slices = unsafe NALUnits.slices(of: output.contents, framing: .startCodes)
                else { return false }
                pictures.append(EdgePicture(pts: time + wanted[0], isRefresh: output.isKey, slices: slices))
            }
            return true
        }
        guard try scan.seek(to: source, of: demuxer, picture: picture, packet: packet) else { return nil }
        repeat {
            guard packet.stream == picture.stream else { continue }
            try decoder.send(packet)
            guard try takeFrames() else { return nil }
            if taken == wanted.count { break }
        } while try demuxer.read(packet)
        if taken < wanted.count {
            decoder.drain()
            guard try takeFrames() else { return nil }
        }
        encoder.drain()
        guard try takePackets(), taken == wanted.count, pictures.map(\.pts).sorted() == wanted,
            pictures.first?.isRefresh == true, !pictures.dropFirst().contains(where: \.isRefresh)
        else { return nil }
        // The first is shown from the start on, however long it was already.
        let start = scan.request.start
        if let first = pictures.first, first.pts < start { pictures[0].pts = start }
        return Made(pictures: pictures, parameters: parameters)
    }

    private func suits(_ frame: borrowing Frame) -> Bool {
        let isPlain = frame.format == AV_PIX_FMT_YUV420P || frame.format == AV_PIX_FMT_YUVJ420P
        let isWhole =
            unsafe frame.raw.pointee.decode_error_flags == 0 && frame.raw.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
        return isPlain && isWhole && !frame.isInterlaced && frame.width == picture.coded.width
            && frame.height == picture.coded.height
    }

    private func encoder() throws(FFmpegFailure) -> Encoder {
        var options = Options()
        options["preset"] = settings.preset
        options["profile"] = settings.profile
        options["crf"] = String(settings.rateFactor)
        options["x264-params"] = settings.parameters
        return unsafe try Encoder(named: "libx264", options: options) { raw in
            unsafe raw.pointee.width = Int32(picture.coded.width)
            unsafe raw.pointee.height = Int32(picture.coded.height)
            unsafe raw.pointee.pix_fmt = AV_PIX_FMT_YUV420P
            unsafe raw.pointee.time_base = picture.timeBase.raw
            unsafe raw.pointee.framerate = av_d2q(picture.frameRate, 100_000)
        }
    }

    /// The encoder's parameter sets with what the source's say; nil where they can't be matched.
    private func matched(_ configuration: UnsafeBufferPointer<UInt8>) -> ParameterSets? {
        guard let own = unsafe ParameterSets(configuration: configuration), own.sequences.count == 1,
            let sequence = own.sequences.first.flatMap({ SequenceParameters(unit: $0) }),
            sequence.id == settings.identifier,
            let matched = sequence.matching(
                settings.sequence, reordered: settings.reordered, buffered: settings.buffered)
        else { return nil }
        return own.replacing(sequence: matched.unit)
    }
}
