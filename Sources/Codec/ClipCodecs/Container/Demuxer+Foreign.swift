import SatchelCore
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// What is said of a source that no allowed demuxer takes and one of FFmpeg's others claims: what FFmpeg calls it. Looks at its
    /// first 64 KiB and opens nothing.
    ///
    /// - Returns: Nil where none is certain of it by its signature.
    static func refusalOfForeign(_ descriptor: Int32) -> AttachmentError? {
        guard var head = try? readBytes(descriptor, count: 1 << 16) else { return nil }
        let count = head.count
        // Probes read behind the end (`AVProbeData`).
        head += repeatElement(0, count: Int(AVPROBE_PADDING_SIZE))
        let claimed = unsafe head.withUnsafeMutableBufferPointer { head in
            var probe = unsafe AVProbeData(
                filename: nil, buf: head.baseAddress, buf_size: Int32(count), mime_type: nil)
            var score: Int32 = 0
            let format = unsafe av_probe_input_format3(&probe, 1, &score)
            return score >= signatureScore ? unsafe format : nil
        }
        guard let claimed = unsafe claimed, let names = unsafe claimed.pointee.name,
            let longName = unsafe claimed.pointee.long_name
        else { return nil }
        let name = unsafe String(cString: names)
        guard Set(name.split(separator: ",").map(String.init)).isDisjoint(with: Demuxers.all) else { return nil }
        // One for each picture format, called "piped dds sequence".
        if name.hasSuffix(pictureSuffix) {
            return .unsupported(.foreignPicture, name.dropLast(pictureSuffix.count).uppercased())
        }
        return unsafe .unsupported(.demuxer, String(cString: longName))
    }

    /// Of 100. What a demuxer tells by a signature alone has at least this (`AVPROBE_SCORE_EXTENSION` and above), and of 90,000 files
    /// of random bytes, whole, among zeros and behind small numbers, none had more than 25.
    private static let signatureScore: Int32 = 50

    private static let pictureSuffix = "_pipe"
}
