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

    /// The intent by which a profile is applied: relative to white where its tables or curves have that, else one that they have.
    static func intent(_ profile: UnsafeRawBufferPointer) -> VipsIntent {
        let tables = [("A2B1", VIPS_INTENT_RELATIVE), ("rTRC", VIPS_INTENT_RELATIVE), ("kTRC", VIPS_INTENT_RELATIVE)]
        let others = [("A2B0", VIPS_INTENT_PERCEPTUAL), ("A2B2", VIPS_INTENT_SATURATION)]
        guard profile.count >= 132 else { return VIPS_INTENT_RELATIVE }
        return (tables + others).first { unsafe tag($0.0, of: profile) != nil }?.1 ?? VIPS_INTENT_RELATIVE
    }

    /// PQ or HLG as a profile states it: by its code points (ICC.1:2022, 9.2.17), or by curves of their shape.
    ///
    /// `primaries` is nil where its colorants count, which are given row by row; grey has none.
    static func highRange(
        _ profile: UnsafeRawBufferPointer
    ) -> (primaries: Int?, transfer: Int, colorants: [Double])? {
        guard profile.count >= 132 else { return nil }
        if let place = unsafe tag("cicp", of: profile) {
            let (primaries, transfer) = unsafe (profile[place.lowerBound + 8], profile[place.lowerBound + 9])
            return [16, 18].contains(transfer) ? (Int(primaries), Int(transfer), []) : nil
        }
        let grey = unsafe tag("kTRC", of: profile)
        guard let curve = unsafe grey ?? tag("gTRC", of: profile) else { return nil }
        let light = [0.25, 0.5, 0.75].map { unsafe Self.curve(profile, curve, at: $0) ?? 0 }
        // Light where these values are a quarter, a half and three quarters, as parts of the greatest.
        let shapes = [(16, [0.0005154, 0.009225, 0.098338]), (18, [0.020833, 0.083333, 0.264963])]
        guard let transfer = shapes.first(where: { shape in zip(light, shape.1).allSatisfy { abs($0 / $1 - 1) < 0.1 } })
        else { return nil }
        if grey != nil { return (nil, transfer.0, []) }
        let columns = ["rXYZ", "gXYZ", "bXYZ"].compactMap { name in unsafe tag(name, of: profile) }
        guard columns.count == 3, columns.allSatisfy({ $0.count >= 20 }) else { return nil }
        let colorants = (0..<9).map { unsafe fixed(profile, at: columns[$0 % 3].lowerBound + 8 + 4 * ($0 / 3)) }
        return (nil, transfer.0, colorants)
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

    static func number(_ profile: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        unsafe UInt32(bigEndian: profile.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    private static func fixed(_ profile: UnsafeRawBufferPointer, at place: Int) -> Double {
        unsafe Double(Int32(bitPattern: number(profile, at: place))) / 65536
    }
}
