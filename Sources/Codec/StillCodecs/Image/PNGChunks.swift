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
                let length = unsafe file[position..<position + 4].bigEndian
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

    /// The chunks one after the other, up to the first that isn't whole: their names, and where their data is.
    private static func chunks(of file: UnsafeRawBufferPointer) -> some Sequence<(name: String, data: Range<Int>)> {
        sequence(state: 8) { position in
            guard position + 12 <= file.count, case let length = unsafe file[position..<position + 4].bigEndian,
                length <= file.count - position - 12
            else { return nil }
            defer { position += 12 + length }
            let name = unsafe String(decoding: file[position + 4..<position + 8], as: UTF8.self)
            return (name, position + 8..<position + 8 + length)
        }
    }

    /// Makes those colours of a palette 0 that are quite transparent. The file must be whole. A list of more transparencies than there
    /// are colours counts for nothing, as for libpng.
    static func clearHidden(in file: UnsafeMutableRawBufferPointer) {
        var palette = 0..<0
        for (name, data) in unsafe chunks(of: UnsafeRawBufferPointer(file)) {
            if name == "PLTE" { palette = data }
            guard name == "tRNS" else { continue }
            guard !palette.isEmpty, data.count <= palette.count / 3 else { return }
            for (index, place) in data.enumerated() where unsafe file[place] == 0 {
                let colour = palette.lowerBound + 3 * index
                for place in colour..<min(colour + 3, palette.upperBound) { unsafe file[place] = 0 }
            }
            let checksum = unsafe Checksum.of([UInt8](file[palette.lowerBound - 4..<palette.upperBound]).span)
            unsafe file.storeBytes(of: UInt32(checksum).bigEndian, toByteOffset: palette.upperBound, as: UInt32.self)
            return
        }
    }

    /// What its chunks say of its colours, by PNG 3's precedence: cICP, iCCP, sRGB, then gAMA and cHRM. Nil where that is a
    /// profile or nothing.
    static func colour(in file: UnsafeRawBufferPointer) -> CodedColour? {
        var hasProfile = false
        var gamma: Int?
        var chromaticities: [Int]?
        for (name, data) in unsafe chunks(of: file).prefix(while: { $0.name != "IDAT" }) {
            func number(_ place: Int, _ bytes: Int) -> Int {
                unsafe file[data.lowerBound + place..<data.lowerBound + place + bytes].bigEndian
            }
            switch (name, data.count) {
            case ("cICP", 4) where number(2, 2) == 1 && number(0, 1) != 2 && number(1, 1) != 2:
                // RGB in full range: others aren't for pictures.
                return CodedColour(primaries: number(0, 1), transfer: number(1, 1))
            case ("iCCP", _), ("sRGB", _): hasProfile = true
            case ("gAMA", 4): gamma = number(0, 4)
            case ("cHRM", 32): chromaticities = (0..<8).map { number(4 * $0, 4) }
            default: break
            }
        }
        return hasProfile || gamma == nil && chromaticities == nil
            ? nil : CodedColour(gamma: gamma, chromaticities: chromaticities)
    }

    /// Returns whether the pixels match their own zlib checksum, even if the checksum of a chunk is wrong.
    static func isSound(_ file: UnsafeRawBufferPointer, of size: PixelSize) -> Bool {
        let data = unsafe chunks(of: file).reduce(into: [UInt8]()) { data, chunk in
            if chunk.name == "IDAT" { unsafe data += file[chunk.data] }
        }
        // Four channels of 16 bits, and what rows have besides.
        let most = Int(size.area) * 8 + size.height * 16
        return unsafe satchel_zlib_is_sound(data, data.count, most, WorkTime.stops) != 0
    }

    /// Whether the chunks lead to the one that ends a PNG.
    static func hasEnd(_ file: UnsafeRawBufferPointer) -> Bool {
        unsafe chunks(of: file).contains { $0.name == "IEND" }
    }
}
