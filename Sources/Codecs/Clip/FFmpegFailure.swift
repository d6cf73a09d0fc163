import Attachments
import CFFmpeg
import Glibc

/// What a call into FFmpeg came to, when it didn't succeed.
struct FFmpegFailure: Error {
    /// An `AVERROR`.
    let code: Int32

    init(_ code: Int32) {
        self.code = code
    }

    static let noMemory = FFmpegFailure(satchel_averror(ENOMEM))

    /// The refusal of a source that broke while `what` was being done: `reading its header`.
    func refusal(of what: String) -> AttachmentError {
        if code == satchel_averror(ENOMEM) { return .tooExpensive(resource: "memory", granted: "amount") }
        return .corrupt(reason: "\(what) failed")
    }
}

/// Throws where `code` is an error, and otherwise gives it back.
@discardableResult
func checked(_ code: Int32) throws(FFmpegFailure) -> Int32 {
    guard code >= 0 else { throw FFmpegFailure(code) }
    return code
}

/// Runs `body`, and refuses the source with words about `what` where FFmpeg fails.
func refusing<Value: ~Copyable>(
    _ what: String, _ body: () throws(FFmpegFailure) -> Value
) throws(AttachmentError) -> Value {
    do {
        return try body()
    } catch {
        throw error.refusal(of: what)
    }
}
