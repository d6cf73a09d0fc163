import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

extension VideoRendering {
    /// A copy that fails is no reason to refuse what can be decoded; one that can't be written is.
    func copying(
        _ body: () throws(FFmpegFailure) -> Result<MadeClip, CutPlan.Refusal>
    ) throws(FFmpegFailure) -> Result<MadeClip, CutPlan.Refusal> {
        do throws(FFmpegFailure) {
            return try body()
        } catch {
            guard error.isOfSource else { throw error }
            return .failure(CutPlan.Refusal(reason: "it can't be copied"))
        }
    }

    /// Looks for damage in a copy.
    ///
    /// - Returns: The copy, with a note of how it was checked; nil if it is damaged.
    func checked(_ made: MadeClip, in descriptor: Int32) throws(FFmpegFailure) -> MadeClip? {
        let format = ContainerFormat.movie.demuxer
        let opened = try Demuxer.open(descriptor, bytes: made.bytes, formats: [format], forced: format)
        guard let copy = opened, let stream = unsafe copy.stream(0) else { return nil }
        copy.takePacketsAsTheyAre()
        var made = made
        let sets = unsafe ParameterSets(configuration: configuration(of: stream.pointee.codecpar))
        guard policy.check == .structure, !isDoubtful, let structure = sets.flatMap(PictureStructure.init) else {
            made.note += "; checked by decoding"
            return try decodes(nil, of: copy) ? made : nil
        }
        var readBack = ReadBack()
        let groups = try groups(of: copy, structure, &readBack)
        made.tracks = readBack.tracks(of: copy)
        let doubtful = groups.filter(\.isDoubtful)
        for group in doubtful { guard try decodes(group.times, of: copy) else { return nil } }
        made.note += "; checked by structure"
        if !doubtful.isEmpty { made.note += ", \(doubtful.count) of \(groups.count) groups of frames by decoding" }
        return made
    }

    /// A keyframe and the frames up to the next.
    private struct FrameGroup {
        /// When its packets are decoded.
        var times: ClosedRange<Int64>
        var isDoubtful: Bool
    }

    private func groups(
        of copy: borrowing Demuxer, _ structure: consuming PictureStructure, _ readBack: inout ReadBack
    ) throws(FFmpegFailure) -> [FrameGroup] {
        var groups: [FrameGroup] = []
        let packet = try Packet()
        while try copy.read(packet) {
            readBack.count(packet, of: copy)
            guard packet.stream == 0 else { continue }
            let last = groups.last?.times.upperBound
            let time = packet.dts ?? last ?? 0
            var isSound = packet.dts != nil && !packet.isCorrupt && last.map { $0 < time } ?? packet.isKey
            let isExpected = unsafe structure.accept(packet.contents, isKey: packet.isKey, pts: packet.pts ?? time)
            isSound = isSound && isExpected
            if packet.isKey || groups.isEmpty { groups.append(FrameGroup(times: time...time, isDoubtful: false)) }
            let index = groups.count - 1
            groups[index].times = groups[index].times.lowerBound...max(groups[index].times.upperBound, time)
            if !isSound { groups[index].isDoubtful = true }
        }
        return groups
    }

    /// Decodes all frames of a group, or of the copy, and returns whether the decoder reported no error.
    private func decodes(_ times: ClosedRange<Int64>?, of copy: borrowing Demuxer) throws(FFmpegFailure) -> Bool {
        guard let stream = unsafe copy.stream(0), times.map({ copy.seek(stream: 0, to: $0.lowerBound) }) ?? true else {
            return false
        }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels, isRough: true)
        let packet = try Packet()
        let frame = try Frame()
        let errors = FFmpegLibraries.errorCount
        var failures = 0
        while try copy.read(packet) {
            guard packet.stream == 0 else { continue }
            if let times, let time = packet.dts {
                if time < times.lowerBound { continue }
                if time > times.upperBound { break }
            }
            if try !decoder.send(packet) { return false }
            while try decoder.receive(frame, failures: &failures) {}
            if failures > 0 || FFmpegLibraries.errorCount > errors { return false }
        }
        decoder.drain()
        while try decoder.receive(frame, failures: &failures) {}
        return failures == 0 && FFmpegLibraries.errorCount == errors
    }
}
