package import SatchelCore
import CVips
import Glibc

/// A whole source, mapped, from which libvips may read as often as it likes.
///
/// Where its owner shortens the file meanwhile, the kernel ends the process, as a decoder's fault would: that costs this
/// source alone.
@safe
package struct SourceBytes: ~Copyable {
    private let blob: UnsafeMutablePointer<VipsBlob>
    package let count: Int

    /// Maps all of `descriptor`.
    ///
    /// - Throws: ``AttachmentError/sourceTooLarge(bytes:limit:)`` before anything is read.
    init(_ descriptor: Int32, limit: Int64) throws(AttachmentError) {
        let size = try fileBytes(descriptor)
        guard size <= limit else { throw .sourceTooLarge(bytes: size, limit: limit) }
        guard size > 0 else { throw .invalidSource(reason: "it is empty") }
        let length = Int(size)
        let start = unsafe mmap(nil, length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            if errno == ENOMEM || errno == EAGAIN { throw .tooExpensive(resource: "memory", granted: "share") }
            throw .invalidSource(reason: "it can't be mapped: \(SystemError("map the source").reason)")
        }
        unsafe blob = satchel_blob_mapped(start, length)
        count = length
    }

    /// Takes a copy of what was read already.
    init(copying bytes: [UInt8]) {
        unsafe blob = unsafe bytes.withUnsafeBytes { unsafe vips_blob_copy($0.baseAddress, $0.count) }
        count = bytes.count
    }

    /// Takes a copy of what was encoded.
    init(copying bytes: UnsafeMutableRawBufferPointer) {
        unsafe blob = unsafe vips_blob_copy(bytes.baseAddress, bytes.count)
        count = bytes.count
    }

    deinit {
        unsafe satchel_blob_unref(blob)
    }

    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var length = 0
        let start = unsafe vips_blob_get(blob, &length)
        return try unsafe body(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// Lends the bytes to what corrects them, before anything else has read them. The file stays as it is.
    ///
    /// - Throws: ``AttachmentError/tooExpensive(resource:granted:)`` where there is no memory for that; what `body` throws.
    package borrowing func withMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws(AttachmentError) -> Result
    ) throws(AttachmentError) -> Result {
        try unsafe withBytes { (bytes) throws(AttachmentError) in
            let bytes = unsafe UnsafeMutableRawBufferPointer(mutating: bytes)
            guard unsafe mprotect(bytes.baseAddress, bytes.count, PROT_READ | PROT_WRITE) == 0 else {
                throw .tooExpensive(resource: "memory", granted: "share")
            }
            return try unsafe body(bytes)
        }
    }

    /// How an image is loaded.
    struct Loading: Hashable {
        /// Of ``PictureFormat/ShrinkOnLoad/divides(by:)``.
        var shrink = 1
        /// Of ``PictureFormat/ShrinkOnLoad/scales``: at most 1.
        var scale = 1.0
        /// What is damaged or missing is no error.
        var isLenient = false
        /// -1 loads all pages, one above the other.
        var pages = 1

        fileprivate var form: satchel_loading {
            satchel_loading(
                is_lenient: isLenient ? 1 : 0, pages: Int32(pages), shrink: Int32(shrink), scale: scale)
        }
    }

    /// Opens the image with the one loader of `format`. Pixels are decoded when they are asked for, in order, once.
    borrowing func load(_ format: PictureFormat, _ loading: Loading = Loading()) throws(VipsFailure) -> Picture {
        vips_error_clear()
        // Only where there is a hurry, and for decoders that read piece by piece: the others would copy the whole file.
        let isHurried = WorkTime.secondsLeft != nil
        let source =
            unsafe isHurried && format.isReadInPieces
            ? satchel_stopping_source(blob, WorkTime.stops) : vips_source_new_from_blob(blob)
        guard let source = unsafe source else { throw VipsFailure.current() }
        // The image holds references of its own.
        defer { unsafe g_object_unref(source) }
        guard let loader = format.loader?.name else { throw VipsFailure(text: "\(format.name) has no loader") }
        var picture = try unsafe Picture.make { out in unsafe satchel_load(loader, source, out, loading.form) }
        if isHurried { picture.stopInTime() }
        // libheif makes RGB of gray, which a profile of gray would not fit.
        if format == .heif, picture.has("icc-profile-data"),
            unsafe withBytes({ unsafe HEIFProperties($0).isMonochrome })
        {
            picture = try unsafe picture.derive { unsafe satchel_grey($0, $1) }
        }
        let interpretation = picture.interpretation
        if unsafe !picture.withBlob("icc-profile-data", { unsafe ColourProfile.fits($0, interpretation) }) {
            // Everything behind this takes a profile for that of the pixels.
            unsafe picture.withHandle { unsafe satchel_replace_profile($0, Picture.unfitProfile) }
        }
        return picture
    }
}
