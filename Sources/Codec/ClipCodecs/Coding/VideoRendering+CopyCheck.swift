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

    /// Whether a decoder takes all pictures of what was copied without an error: what lies in a packet only decoding
    /// tells.
    func decodes(_ descriptor: Int32, bytes: Int64) throws(FFmpegFailure) -> Bool {
        let opened = try Demuxer.open(descriptor, bytes: bytes, formats: [ContainerFormat.movie.demuxer])
        guard let copy = opened, let stream = unsafe copy.stream(0) else { return false }
        copy.takePacketsAsTheyAre()
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels, isRough: true)
        let packet = try Packet()
        let frame = try Frame()
        let errors = FFmpegLibraries.errorCount
        var failures = 0
        while try copy.read(packet) {
            guard packet.stream == 0 else { continue }
            if try !decoder.send(packet) { return false }
            while try decoder.receive(frame, failures: &failures) {}
            if failures > 0 || FFmpegLibraries.errorCount > errors { return false }
        }
        decoder.drain()
        while try decoder.receive(frame, failures: &failures) {}
        return failures == 0 && FFmpegLibraries.errorCount == errors
    }
}
