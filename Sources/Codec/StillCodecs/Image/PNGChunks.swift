import CVips
import SatchelCore

/// The chunks of a PNG, freed of text before a decoder sees them: compressed text of a few kilobytes takes seconds to
/// inflate, and says nothing of the picture.
enum PNGChunks {
    private static let texts: Set = ["tEXt", "zTXt", "iTXt"]

    /// Moves all other chunks to the front; what is then behind the end is not read. A broken file stays as it is from
    /// where it is broken; pixels that end with the file are said to end there, so that a decoder reads all of them.
    static func dropTexts(in file: UnsafeMutableRawBufferPointer) {
        var kept = 8
        var position = 8
        var isBroken = false
        while position < file.count, !isBroken {
            var end = file.count
            var name = ""
            if position + 12 <= file.count {
                let length = (0..<4).reduce(0) { unsafe $0 << 8 | Int(file[position + $1]) }
                name = unsafe String(decoding: file[position + 4..<position + 8], as: UTF8.self)
                isBroken = length > file.count - position - 12
                if !isBroken { end = position + 12 + length }
                if isBroken, name == "IDAT" {
                    let rest = UInt32(file.count - position - 8)
                    unsafe file.storeBytes(of: rest.bigEndian, toByteOffset: position, as: UInt32.self)
                }
            }
            if isBroken || !texts.contains(name) {
                // Overlapping ranges are moved right.
                if kept != position, let start = file.baseAddress {
                    unsafe (start + kept).copyMemory(from: start + position, byteCount: end - position)
                }
                kept += end - position
            }
            position = end
        }
        // What was moved must not be there twice.
        for index in kept..<max(kept, file.count) { unsafe file[index] = 0 }
    }

    /// Makes those colours of a palette 0 that are quite transparent. The file must be whole. A list of more transparencies than there
    /// are colours counts for nothing, as for libpng.
    static func clearHidden(in file: UnsafeMutableRawBufferPointer) {
        var position = 8
        var palette: Range<Int>?
        while position + 12 <= file.count {
            let length = (0..<4).reduce(0) { unsafe $0 << 8 | Int(file[position + $1]) }
            let data = position + 8..<position + 8 + length
            guard data.upperBound + 4 <= file.count else { return }
            switch unsafe String(decoding: file[position + 4..<position + 8], as: UTF8.self) {
            case "PLTE": palette = data
            case "tRNS":
                guard let palette, data.count <= palette.count / 3 else { return }
                for (index, place) in data.enumerated() where unsafe file[place] == 0 {
                    let colour = palette.lowerBound + 3 * index
                    for place in colour..<min(colour + 3, palette.upperBound) { unsafe file[place] = 0 }
                }
                let checksum = unsafe checksum(file, palette.lowerBound - 4..<palette.upperBound)
                unsafe file.storeBytes(of: checksum.bigEndian, toByteOffset: palette.upperBound, as: UInt32.self)
                return
            default: break
            }
            position = data.upperBound + 4
        }
    }

    /// CRC-32 as PNG has it (ISO 3309), of a chunk's name and data.
    private static func checksum(_ file: UnsafeMutableRawBufferPointer, _ places: Range<Int>) -> UInt32 {
        var value = UInt32.max
        for place in places {
            value ^= unsafe UInt32(file[place])
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }

    /// What its chunks say of its colours, by PNG 3's precedence: cICP, iCCP, sRGB, then gAMA and cHRM. Nil where that is a
    /// profile or nothing.
    static func colour(in file: UnsafeRawBufferPointer) -> CodedColour? {
        var (position, hasProfile) = (8, false)
        var gamma: Int?
        var chromaticities: [Int]?
        while position + 12 <= file.count {
            func number(_ place: Int, _ bytes: Int) -> Int {
                (0..<bytes).reduce(0) { unsafe $0 << 8 | Int(file[position + place + $1]) }
            }
            let length = number(0, 4)
            guard length <= file.count - position - 12 else { break }
            switch unsafe (String(decoding: file[position + 4..<position + 8], as: UTF8.self), length) {
            case ("cICP", 4) where number(10, 2) == 1 && number(8, 1) != 2 && number(9, 1) != 2:
                // RGB in full range: others aren't for pictures.
                return CodedColour(primaries: number(8, 1), transfer: number(9, 1))
            case ("iCCP", _), ("sRGB", _): hasProfile = true
            case ("gAMA", 4): gamma = number(8, 4)
            case ("cHRM", 32): chromaticities = (0..<8).map { number(8 + 4 * $0, 4) }
            case ("IDAT", _): position = file.count
            default: break
            }
            position += 12 + length
        }
        return hasProfile || gamma == nil && chromaticities == nil
            ? nil : CodedColour(gamma: gamma, chromaticities: chromaticities)
    }

    /// Returns whether the pixels match their own zlib checksum, even if the checksum of a chunk is wrong.
    static func isSound(_ file: UnsafeRawBufferPointer, of size: PixelSize) -> Bool {
        var (position, data) = (8, [UInt8]())
        while position + 12 <= file.count {
            let length = (0..<4).reduce(0) { unsafe $0 << 8 | Int(file[position + $1]) }
            guard length <= file.count - position - 12 else { break }
            if unsafe file[position + 4..<position + 8].elementsEqual("IDAT".utf8) {
                unsafe data += file[position + 8..<position + 8 + length]
            }
            position += 12 + length
        }
        // Four channels of 16 bits, and what rows have besides.
        let most = Int(size.area) * 8 + size.height * 16
        return unsafe satchel_zlib_is_sound(data, data.count, most, WorkTime.stops) != 0
    }

    /// Whether the chunks lead to the one that ends a PNG.
    static func hasEnd(_ file: UnsafeRawBufferPointer) -> Bool {
        var position = 8
        while position + 12 <= file.count {
            if unsafe file[position + 4..<position + 8].elementsEqual("IEND".utf8) { return true }
            position += 12 + (0..<4).reduce(0) { unsafe $0 << 8 | Int(file[position + $1]) }
        }
        return false
    }
}
