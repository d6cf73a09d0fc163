import CFFmpeg
import Glibc

/// Writes a descriptor for FFmpeg with `pwrite`, and reads it again where an index is moved to the front.
@safe struct OutputIO: ~Copyable {
    struct State {
        let descriptor: Int32
        var position: Int64 = 0
        var bytes: Int64 = 0
        /// The `errno` of a write that failed.
        var failure: Int32 = 0
    }

    private static let bufferBytes = 256 << 10

    let context: UnsafeMutablePointer<AVIOContext>
    let state: UnsafeMutablePointer<State>

    init(descriptor: Int32) throws(FFmpegFailure) {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State(descriptor: descriptor))
        guard let context = unsafe Self.makeContext(state, isWriting: true) else {
            unsafe state.deallocate()
            throw .noMemory
        }
        unsafe self.context = unsafe context
        unsafe self.state = unsafe state
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
        let context = unsafe avio_alloc_context(
            buffer, Int32(bufferBytes), isWriting ? 1 : 0, state, isWriting ? nil : read, isWriting ? write : nil, seek)
        if unsafe context == nil { unsafe av_free(buffer) }
        return unsafe context
    }

    private static let write: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 =
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
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return unsafe state.pointee.bytes
        case SEEK_SET: base = 0
        case SEEK_CUR: base = unsafe state.pointee.position
        case SEEK_END: base = unsafe state.pointee.bytes
        default: return Int64(satchel_averror(EINVAL))
        }
        guard base + offset >= 0 else { return Int64(satchel_averror(EINVAL)) }
        unsafe state.pointee.position = base + offset
        return unsafe state.pointee.position
    }
}
