import CFFmpeg
import Glibc
import StillCodecs

/// Writes a descriptor for FFmpeg with `pwrite`, and reads it again where an index is moved to the front.
@safe struct OutputIO: ~Copyable {
    struct State {
        let descriptor: Int32
        var position: Int64 = 0
        var bytes: Int64 = 0
        /// The `errno` of a write that failed.
        var failure: Int32 = 0
        /// Of packets that were handed to the container, whether it has written them or not.
        var packetBytes: Int64 = 0
        var packets: Int64 = 0
    }

    private static let bufferBytes = 256 << 10

    let context: UnsafeMutablePointer<AVIOContext>
    let state: UnsafeMutablePointer<State>

    /// Whatever an earlier attempt wrote is gone.
    init(descriptor: Int32) throws(FFmpegFailure) {
        guard ftruncate(descriptor, 0) == 0 else { throw FFmpegFailure(satchel_averror(errno), isWriting: true) }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State(descriptor: descriptor))
        guard let context = unsafe Self.makeContext(state, isWriting: true) else {
            unsafe state.deallocate()
            throw .noMemory
        }
        unsafe self.context = unsafe context
        unsafe self.state = unsafe state
    }

    /// `count` bytes at `offset` of what was written; nil beyond its end.
    func bytes(_ count: Int, at offset: Int64) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        return unsafe pread(state.pointee.descriptor, &buffer, count, Int(offset)) == count ? buffer : nil
    }

    /// Writes `bytes` over what was written at `offset`.
    func overwrite(_ bytes: [UInt8], at offset: Int64) throws(FFmpegFailure) {
        var done = 0
        while done < bytes.count {
            let got = unsafe bytes.withUnsafeBytes { bytes in
                unsafe bytes.baseAddress.map { start in
                    unsafe pwrite(state.pointee.descriptor, start + done, bytes.count - done, Int(offset) + done)
                } ?? 0
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw FFmpegFailure(satchel_averror(got < 0 ? errno : EIO), isWriting: true) }
            done += got
        }
    }

    deinit {
        unsafe Self.free(context)
        unsafe state.deallocate()
    }

    /// A second context over the same bytes, for reading; freed with ``free(_:)`` and its state with it.
    static func reader(of state: UnsafeMutablePointer<State>) -> UnsafeMutablePointer<AVIOContext>? {
        let copy = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe copy.initialize(to: State(descriptor: state.pointee.descriptor, bytes: state.pointee.bytes))
        guard let context = unsafe makeContext(copy, isWriting: false) else {
            unsafe copy.deallocate()
            return nil
        }
        return unsafe context
    }

    /// Frees what ``reader(of:)`` made.
    static func freeReader(_ context: UnsafeMutablePointer<AVIOContext>) {
        let state = unsafe context.pointee.opaque?.assumingMemoryBound(to: State.self)
        unsafe free(context)
        unsafe state?.deallocate()
    }

    private static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
        unsafe av_freep(&context.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&context)
    }

    private static func makeContext(
        _ state: UnsafeMutablePointer<State>, isWriting: Bool
    ) -> UnsafeMutablePointer<AVIOContext>? {
        guard let buffer = unsafe av_malloc(bufferBytes)?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let context = unsafe satchel_avio(
            buffer, Int32(bufferBytes), state, isWriting ? nil : read, isWriting ? write : nil, seek)
        if unsafe context == nil { unsafe av_free(buffer) }
        return unsafe context
    }

    private static let write: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int32) -> Int32 =
        {
            opaque, buffer, count in
            guard let state = unsafe opaque?.assumingMemoryBound(to: State.self), let buffer = unsafe buffer else {
                return satchel_averror(EINVAL)
            }
            if WorkTime.isUp { return satchel_averror_exit }
            var written = 0
            while written < Int(count) {
                let got = unsafe pwrite(
                    state.pointee.descriptor, buffer + written, Int(count) - written, Int(state.pointee.position))
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else {
                    unsafe state.pointee.failure = got < 0 ? errno : EIO
                    return unsafe satchel_averror(state.pointee.failure)
                }
                written += got
                unsafe state.pointee.position += Int64(got)
                unsafe state.pointee.bytes = max(state.pointee.bytes, state.pointee.position)
            }
            return count
        }

    private static let read: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
        opaque, buffer, count in
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self) else { return satchel_averror(EINVAL) }
        if WorkTime.isUp { return satchel_averror_exit }
        while true {
            let got = unsafe pread(state.pointee.descriptor, buffer, Int(count), Int(state.pointee.position))
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { return satchel_averror(errno) }
            unsafe state.pointee.position += Int64(got)
            return got == 0 ? satchel_averror_eof : Int32(got)
        }
    }

    private static let seek: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
        opaque, offset, whence in
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self) else {
            return Int64(satchel_averror(EINVAL))
        }
        return unsafe SeekTarget.move(&state.pointee.position, offset, whence, of: state.pointee.bytes)
    }
}
