import SatchelCore
import CVips
import Glibc

/// RGB of 8 bits in rows without gaps, until it becomes a picture.
@safe
struct PixelMemory: ~Copyable {
    private let start: UnsafeMutablePointer<UInt8>
    let size: PixelSize

    /// Uninitialised.
    init(_ size: PixelSize) throws(VipsFailure) {
        let bytes = Int(size.area) * 3
        guard let start = unsafe malloc(bytes) else { throw VipsFailure(text: "out of memory") }
        unsafe self.start = start.bindMemory(to: UInt8.self, capacity: bytes)
        self.size = size
    }

    deinit {
        unsafe free(start)
    }

    /// Lends the memory to what fills it.
    func fill(_ body: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe body(start)
    }

    /// The picture that owns the memory from now on.
    consuming func picture() throws(VipsFailure) -> Picture {
        vips_error_clear()
        let image = unsafe satchel_image_owning(start, Int(size.area) * 3, Int32(size.width), Int32(size.height))
        discard self
        guard let image = unsafe image else { throw VipsFailure.current() }
        let picture = unsafe Picture(owning: image)
        if WorkTime.secondsLeft != nil { picture.stopInTime() }
        return picture
    }
}
