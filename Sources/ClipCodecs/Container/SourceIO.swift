import Attachments
import CFFmpeg
import Glibc
import StillCodecs

/// Reads a descriptor for FFmpeg with `pread`: no path, and no file offset that others share.
@safe struct SourceIO: ~Copyable {
    struct State {
        let descriptor: Int32
        let bytes: Int64
        var position: Int64 = 0
        /// The `errno` of a read that failed.
        var failure: Int32 = 0
    }

    private static let bufferBytes = 64 << 10

    let context: UnsafeMutablePointer<AVIOContext>
    private let state: UnsafeMutablePointer<State>

    /// Borrows `descriptor` for its own life. Throws ``AttachmentError/tooExpensive(resource:granted:)`` without memory.
    init(descriptor: Int32, bytes: Int64) throws(FFmpegFailure) {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State(descriptor: descriptor, bytes: bytes))
        let buffer = unsafe av_malloc(Self.bufferBytes)?.assumingMemoryBound(to: UInt8.self)
        let context = unsafe avio_alloc_context(
            buffer, Int32(Self.bufferBytes), 0, state, Self.read, nil, Self.seek)
        guard let context = unsafe context, unsafe buffer != nil else {
            unsafe av_free(buffer)
            unsafe state.deallocate()
            throw .noMemory
        }
        unsafe self.context = unsafe context
        unsafe self.state = unsafe state
    }

    deinit {
        unsafe av_freep(&context.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&context)
        unsafe state.deallocate()
    }

    /// The `errno` of a read that failed; 0 where all went well.
    var failure: Int32 { unsafe state.pointee.failure }

    /// `count` bytes at `offset`; nil where there are fewer.
    func bytes(_ count: Int, at offset: Int64 = 0) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        return unsafe pread(state.pointee.descriptor, &buffer, count, Int(offset)) == count ? buffer : nil
    }

    private static let read: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
        opaque, buffer, count in
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self), count > 0 else {
            return satchel_averror(EINVAL)
        }
        if WorkTime.isUp { return satchel_averror_exit }
        while true {
            let got = unsafe pread(state.pointee.descriptor, buffer, Int(count), Int(state.pointee.position))
            if got > 0 {
                unsafe state.pointee.position += Int64(got)
                return Int32(got)
            }
            if got == 0 { return satchel_averror_eof }
            if errno == EINTR { continue }
            unsafe state.pointee.failure = errno
            return satchel_averror(EIO)
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
