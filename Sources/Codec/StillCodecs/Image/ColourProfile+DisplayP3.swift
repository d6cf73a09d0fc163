import SatchelCore
import CVips
import Glibc

extension ColourProfile {
    /// libvips' own profile, so that none of a source's bytes is kept.
    static func displayP3() throws(AttachmentError) -> [UInt8] {
        var blob: UnsafeMutablePointer<VipsBlob>?
        guard unsafe satchel_profile("p3", &blob) == 0, let blob = unsafe blob else {
            throw .codecCrashed(reason: "libvips lacks the profile of Display P3")
        }
        defer { unsafe satchel_blob_unref(blob) }
        var length = 0
        let start = unsafe vips_blob_get(blob, &length)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: length))
    }

    /// Whether a profile of RGB has the primaries of Display P3 and the curve of sRGB, whatever it calls itself.
    ///
    /// Compared are its colorants, which are adapted to D50 (ICC.1:2022, 9.2), within what versions of it differ by, and its
    /// curves where that of sRGB is furthest from gammas.
    static func isDisplayP3(_ profile: UnsafeRawBufferPointer) -> Bool {
        let colorants: [(String, [Double])] = [
            ("rXYZ", [0.5151, 0.2412, -0.0011]), ("gXYZ", [0.2920, 0.6922, 0.0419]),
            ("bXYZ", [0.1571, 0.0666, 0.7841]),
        ]
        guard profile.count >= 132, unsafe number(profile, at: 16) == 0x5247_4220 else { return false }
        for (name, wanted) in colorants {
            guard let place = unsafe tag(name, of: profile), place.count >= 20 else {
                return false
            }
            for (index, value) in wanted.enumerated() {
                let found = unsafe fixed(profile, at: place.lowerBound + 8 + 4 * index)
                if abs(found - value) > 0.003 { return false }
            }
        }
        return ["rTRC", "gTRC", "bTRC"].allSatisfy { name in
            guard let place = unsafe tag(name, of: profile) else { return false }
            return [(0.1, 0.01002), (0.5, 0.21404)].allSatisfy { value, light in
                unsafe curve(profile, place, at: value).map { abs($0 - light) < 0.0012 } ?? false
            }
        }
    }

    /// Where the data of a tag lies, if within the profile.
    private static func tag(_ name: String, of profile: UnsafeRawBufferPointer) -> Range<Int>? {
        let count = unsafe min(Int(number(profile, at: 128)), (profile.count - 132) / 12)
        for index in 0..<max(0, count) {
            let entry = 132 + 12 * index
            guard unsafe profile[entry..<entry + 4].elementsEqual(name.utf8) else { continue }
            let (start, length) = unsafe (Int(number(profile, at: entry + 4)), Int(number(profile, at: entry + 8)))
            guard length >= 12, start <= profile.count, length <= profile.count - start else { return nil }
            return start..<start + length
        }
        return nil
    }

    /// What a curve of type `para` or `curv` makes of a value, 0…1; nil where it is another or broken.
    private static func curve(_ profile: UnsafeRawBufferPointer, _ place: Range<Int>, at value: Double) -> Double? {
        let (start, length) = (place.lowerBound, place.upperBound - place.lowerBound)
        switch unsafe number(profile, at: start) {
        case 0x7061_7261:
            // sRGB's is the third function; others are gammas.
            let values = (0..<7).map { 12 + 4 * $0 + 4 <= length ? unsafe fixed(profile, at: start + 12 + 4 * $0) : 0 }
            let function = unsafe number(profile, at: start + 8) >> 16
            guard function == 3 || function == 4, length >= 12 + 4 * (function == 3 ? 5 : 7) else { return nil }
            let (e, f) = function == 4 ? (values[5], values[6]) : (0, 0)
            return value >= values[4] ? pow(values[1] * value + values[2], values[0]) + e : values[3] * value + f
        case 0x6375_7276:
            let count = unsafe Int(number(profile, at: start + 8))
            guard count > 1, count <= (length - 12) / 2 else { return nil }
            let position = value * Double(count - 1)
            let index = min(Int(position), count - 2)
            func entry(_ index: Int) -> Double {
                let value = unsafe profile.loadUnaligned(fromByteOffset: start + 12 + 2 * index, as: UInt16.self)
                return Double(UInt16(bigEndian: value)) / 65535
            }
            return entry(index) + (entry(index + 1) - entry(index)) * (position - Double(index))
        default: return nil
        }
    }

    private static func number(_ profile: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        unsafe UInt32(bigEndian: profile.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    private static func fixed(_ profile: UnsafeRawBufferPointer, at place: Int) -> Double {
        unsafe Double(Int32(bitPattern: number(profile, at: place))) / 65536
    }
}
