import CFFmpeg
import Glibc
import StillCodecs

/// Reads or writes a descriptor for FFmpeg with `pread` and `pwrite`: no path, and no file offset that others share.
@safe struct DescriptorIO: ~Copyable {
    struct State {
        let descriptor: Int32
        /// Where in the file it begins.
        var start: Int64 = 0
        var position: Int64 = 0
        /// From there on.
        var bytes: Int64
        /// The `errno` of a call that failed.
        var failure: Int32 = 0
        /// Of packets that were handed to the container, whether it has written them or not.
        var packetBytes: Int64 = 0
        var packets: Int64 = 0
    }

    let context: UnsafeMutablePointer<AVIOContext>
    let state: UnsafeMutablePointer<State>

    /// Borrows `descriptor`, of which it reads a range, for its own life.
    init(reading descriptor: Int32, _ range: Range<Int64>) throws(FFmpegFailure) {
        let reader = unsafe Self.reader(of: descriptor, range)
        guard let context = unsafe reader, let state = unsafe Self.state(of: context) else { throw .noMemory }
        unsafe self.context = unsafe context
        unsafe self.state = unsafe state
    }

    /// The same to write it; whatever an earlier attempt wrote is gone.
    init(writing descriptor: Int32) throws(FFmpegFailure) {
        guard ftruncate(descriptor, 0) == 0 else { throw FFmpegFailure(satchel_averror(errno), isWriting: true) }
        guard
            let context = unsafe Self.make(
                State(descriptor: descriptor, bytes: 0), buffer: 256 << 10, write: Self.write),
            let state = unsafe Self.state(of: context)
        else { throw .noMemory }
        unsafe self.context = unsafe context
        unsafe self.state = unsafe state
    }

    deinit {
        unsafe Self.free(context)
    }

    /// A context that reads; freed with ``free(_:)``.
    static func reader(of descriptor: Int32, _ range: Range<Int64>) -> UnsafeMutablePointer<AVIOContext>? {
        let bytes = range.upperBound - range.lowerBound
        return unsafe make(
            State(descriptor: descriptor, start: range.lowerBound, bytes: bytes), buffer: 64 << 10, write: nil)
    }

    static func state(of context: UnsafeMutablePointer<AVIOContext>) -> UnsafeMutablePointer<State>? {
        unsafe context.pointee.opaque?.assumingMemoryBound(to: State.self)
    }

    static func free(_ context: UnsafeMutablePointer<AVIOContext>) {
        unsafe state(of: context)?.deallocate()
        unsafe av_freep(&context.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&context)
    }

    private static func make(
        _ state: State, buffer bytes: Int, write: satchel_write?
    ) -> UnsafeMutablePointer<AVIOContext>? {
        guard let buffer = unsafe av_malloc(bytes)?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let own = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe own.initialize(to: state)
        let read = unsafe write == nil ? Self.read : nil
        guard let context = unsafe satchel_avio(buffer, Int32(bytes), own, read, write, seek) else {
            unsafe av_free(buffer)
            unsafe own.deallocate()
            return nil
        }
        return unsafe context
    }

    /// The `errno` of a call that failed; 0 where all went well.
    var failure: Int32 { unsafe state.pointee.failure }

    /// `count` bytes at `offset`; nil where there are fewer.
    func bytes(_ count: Int, at offset: Int64 = 0) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        guard unsafe offset <= state.pointee.bytes - Int64(count) else { return nil }
        let place = unsafe Int(state.pointee.start + offset)
        return unsafe pread(state.pointee.descriptor, &buffer, count, place) == count ? buffer : nil
    }

    /// Writes `bytes` over what was written at `offset`.
    func overwrite(_ bytes: [UInt8], at offset: Int64) throws(FFmpegFailure) {
        let failure = unsafe bytes.withUnsafeBytes {
            unsafe Self.write($0, to: state.pointee.descriptor, at: Int(offset))
        }
        if failure != 0 { throw FFmpegFailure(satchel_averror(failure), isWriting: true) }
    }

    /// - Returns: An `errno`, or 0.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int) -> Int32 {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let got = unsafe pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return got < 0 ? errno : EIO }
            done += got
        }
        return 0
    }

    private static let write: satchel_write = { opaque, buffer, count in
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self), let buffer = unsafe buffer else {
            return satchel_averror(EINVAL)
        }
        if WorkTime.isUp { return satchel_averror_exit }
        let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: Int(count))
        let failure = unsafe write(bytes, to: state.pointee.descriptor, at: Int(state.pointee.position))
        guard failure == 0 else {
            unsafe state.pointee.failure = failure
            return satchel_averror(failure)
        }
        unsafe state.pointee.position += Int64(count)
        unsafe state.pointee.bytes = max(state.pointee.bytes, state.pointee.position)
        return count
    }

    private static let read: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
        opaque, buffer, count in
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self), count > 0 else {
            return satchel_averror(EINVAL)
        }
        if WorkTime.isUp { return satchel_averror_exit }
        while true {
            let (position, rest) = unsafe (state.pointee.position, state.pointee.bytes - state.pointee.position)
            guard rest > 0 else { return satchel_averror_eof }
            let wanted = Int(min(Int64(count), rest))
            let got = unsafe pread(state.pointee.descriptor, buffer, wanted, Int(state.pointee.start + position))
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
        let target = unsafe seekTarget(offset, whence, from: state.pointee.position, of: state.pointee.bytes)
        if target >= 0, whence & ~AVSEEK_FORCE != AVSEEK_SIZE { unsafe state.pointee.position = target }
        return target
    }

    /// The new position, the number of bytes where it is that which is asked, or an `AVERROR`.
    static func seekTarget(_ offset: Int64, _ whence: Int32, from position: Int64, of bytes: Int64) -> Int64 {
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
}
