import SatchelCore
import CVips
import Glibc

/// A file in memory, as an encoder of libvips made it.
@safe
struct EncodedBytes: ~Copyable {
    private let start: UnsafeMutableRawPointer
    private(set) var count: Int

    /// Runs a saver, and takes over the buffer that it allocated.
    init(
        _ saver: (
            _ buffer: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ length: UnsafeMutablePointer<Int>
        ) -> Int32
    ) throws(VipsFailure) {
        vips_error_clear()
        var buffer: UnsafeMutableRawPointer?
        var length = 0
        guard unsafe saver(&buffer, &length) == 0, let buffer = unsafe buffer else { throw VipsFailure.current() }
        unsafe start = buffer
        count = length
    }

    /// A file that was not made by libvips.
    init(copying bytes: [UInt8]) throws(VipsFailure) {
        try unsafe self.init { buffer, length in
            let copy = unsafe bytes.withUnsafeBytes { unsafe g_memdup2($0.baseAddress, gsize($0.count)) }
            unsafe buffer.pointee = unsafe copy
            unsafe length.pointee = bytes.count
            return 0
        }
    }

    deinit {
        unsafe g_free(start)
    }

    /// A WebP of an image, or of the frames of one that has a page height.
    static func webp(
        _ image: UnsafeMutablePointer<VipsImage>, quality: Int32, effort: Int32
    ) throws(VipsFailure) -> EncodedBytes {
        var encoded = try unsafe EncodedBytes { buffer, length in
            unsafe satchel_save_webp(image, buffer, length, quality, effort)
        }
        // libvips adds EXIF with the resolution, whatever it is told.
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: encoded.start, count: encoded.count)
        encoded.count = unsafe WebPChunks.keepPictures(in: buffer)
        return encoded
    }

    /// Lends the file to what looks at it or corrects it; its length stays.
    func withMutableBytes<Result: ~Copyable>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeMutableRawBufferPointer(start: start, count: count))
    }

    /// Writes the whole file at the start of `descriptor`.
    func write(to descriptor: Int32) throws(AttachmentError) {
        try unsafe Self.write(UnsafeRawBufferPointer(start: start, count: count), to: descriptor, at: 0)
    }

    /// Writes all of `bytes` at a place of a file.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64
    ) throws(AttachmentError) {
        var rest = unsafe bytes
        while let start = rest.baseAddress, unsafe !rest.isEmpty {
            let written = unsafe pwrite(descriptor, start, rest.count, off_t(offset) + bytes.count - rest.count)
            if written > 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if written == 0 || errno != EINTR {
                throw failure(SystemError("write an output"))
            }
        }
    }

    static func failure(_ error: SystemError) -> AttachmentError {
        if error.isOutOfSpace { return .storeFull }
        if error.code == EFBIG { return .tooExpensive(resource: "file space", granted: "share") }
        return .storeFailed(reason: error.description)
    }
}
