import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

/// What a call into FFmpeg came to, when it didn't succeed.
struct FFmpegFailure: Error {
    /// An `AVERROR`.
    let code: Int32
    /// Whether an output could not be written: no fault of the source.
    let isWriting: Bool
    /// The refusal that our own checks came to.
    let refusal: AttachmentError?

    init(refusal: AttachmentError) {
        code = satchel_averror_exit
        isWriting = false
        self.refusal = refusal
    }

    init(_ code: Int32, isWriting: Bool = false) {
        self.code = code
        self.isWriting = isWriting
        refusal = nil
    }

    /// Runs `body`. The failure takes its refusal over.
    static func of<Value>(_ body: () throws(AttachmentError) -> Value) throws(FFmpegFailure) -> Value {
        do {
            return try body()
        } catch {
            throw FFmpegFailure(refusal: error)
        }
    }

    /// Stops where ``WorkTime`` is up.
    static func checkTime() throws(FFmpegFailure) {
        if WorkTime.isUp { throw FFmpegFailure(refusal: WorkTime.failure) }
    }

    /// `true` if the source's data caused the failure: it was not refused, and time, memory and disk sufficed.
    var isOfSource: Bool { refusal == nil && !isWriting && code != satchel_averror(ENOMEM) && !WorkTime.isUp }

    static let noMemory = FFmpegFailure(satchel_averror(ENOMEM))

    /// What the source is refused for, or what kept it from being read.
    var verdict: AttachmentError {
        if let refusal { return refusal }
        // What was stopped looks like damage.
        if WorkTime.isUp { return WorkTime.failure }
        if isWriting {
            let system = SystemError("write a rendition", code: -code)
            if code == satchel_averror(EFBIG) { return .tooExpensive(resource: "file size", granted: "amount") }
            return system.isOutOfSpace ? .storeFull : .storeFailed(reason: system.reason)
        }
        if code == satchel_averror(ENOMEM) { return .tooExpensive(resource: "memory", granted: "amount") }
        return .unreadable(Finding(.notDecoded, .video, by: "FFmpeg \(FFmpegLibraries.version)"))
    }
}

extension Finding {
    /// A sound of which not one sample could be decoded.
    static var silent: Finding { Finding(.notDecoded, .sound, by: "FFmpeg \(FFmpegLibraries.version)") }
}

/// Throws where `code` is an error, and otherwise gives it back.
@discardableResult
func checked(_ code: Int32) throws(FFmpegFailure) -> Int32 {
    guard code >= 0 else { throw FFmpegFailure(code) }
    return code
}

/// Runs `body`, and refuses the source where FFmpeg fails.
func refusing<Value: ~Copyable>(_ body: () throws(FFmpegFailure) -> Value) throws(AttachmentError) -> Value {
    do {
        return try body()
    } catch {
        throw error.verdict
    }
}
