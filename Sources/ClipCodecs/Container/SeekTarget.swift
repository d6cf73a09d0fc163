import CFFmpeg
import Glibc
import StillCodecs

/// Where FFmpeg's `seek` callback goes; a decision without input or output.
enum SeekTarget {
    /// - Returns: The new position, the number of bytes where it is that which is asked, or an `AVERROR`.
    static func position(_ offset: Int64, _ whence: Int32, from position: Int64, of bytes: Int64) -> Int64 {
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return bytes
        case SEEK_SET: base = 0
        case SEEK_CUR: base = position
        case SEEK_END: base = bytes
        default: return Int64(satchel_averror(EINVAL))
        }
        let (target, overflow) = base.addingReportingOverflow(offset)
        return overflow || target < 0 ? Int64(satchel_averror(EINVAL)) : target
    }

    /// Whether `whence` asks for the number of bytes, and nothing is to be moved.
    static func isQuestion(_ whence: Int32) -> Bool { whence & ~AVSEEK_FORCE == AVSEEK_SIZE }

    /// Answers a seek, and moves `position` where it is no question.
    static func move(_ position: inout Int64, _ offset: Int64, _ whence: Int32, of bytes: Int64) -> Int64 {
        let target = Self.position(offset, whence, from: position, of: bytes)
        if target >= 0 && !isQuestion(whence) { position = target }
        return target
    }
}
