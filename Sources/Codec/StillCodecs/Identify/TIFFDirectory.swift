/// The entries of a TIFF's first directory and of those below it, as far as they are numbers or short texts (TIFF 6.0,
/// section 2). Raw photographs of most cameras are TIFFs too.
struct TIFFDirectory: Hashable, Sendable {
    /// The numbers of an entry, by its tag; at most 16 each, or 64 bytes.
    private(set) var numbers: [Int: [Int]] = [:]
    /// Who made the camera (tag 271).
    private(set) var make = ""

    enum Tag {
        static let compression = 259
        static let photometric = 262
        static let make = 271
        static let subdirectories = 330
        /// Of the pictures of a JPEG: 16 bytes each (CIPA DC-007, MP Entry).
        static let pictures = 0xb002
        static let dngVersion = 50706
    }

    func number(_ tag: Int) -> Int? { numbers[tag]?.first }

    /// The first directory of a file, and those below it; empty where there is none, or where it is a BigTIFF's.
    static func all(in file: UnsafeRawBufferPointer) -> [TIFFDirectory] {
        let reader = unsafe Reader(file: file)
        guard let isLittle = reader.isLittle, let start = reader.number(at: 4, bytes: 4, isLittle),
            let first = reader.directory(at: start, isLittle)
        else { return [] }
        let below = (first.numbers[Tag.subdirectories] ?? []).compactMap { reader.directory(at: $0, isLittle) }
        return [first] + below
    }

    /// Whether the first directory lies behind the end of the file.
    static func isBehindEnd(of file: UnsafeRawBufferPointer) -> Bool {
        let reader = unsafe Reader(file: file)
        guard let isLittle = reader.isLittle, reader.number(at: 2, bytes: 2, isLittle) == 42,
            let start = reader.number(at: 4, bytes: 4, isLittle)
        else { return false }
        return start >= file.count
    }

    /// Where the last strip or tile of the first picture ends, as its directory says; nil where it doesn't.
    static func dataEnd(in file: UnsafeRawBufferPointer) -> Int? {
        let reader = unsafe Reader(file: file)
        guard let isLittle = reader.isLittle, reader.number(at: 2, bytes: 2, isLittle) == 42,
            let start = reader.number(at: 4, bytes: 4, isLittle)
        else { return nil }
        for (offsets, counts) in [(273, 279), (324, 325)] {
            guard let places = reader.values(of: offsets, in: start, isLittle), !places.isEmpty,
                let lengths = reader.values(of: counts, in: start, isLittle), lengths.count == places.count
            else { continue }
            return zip(places, lengths).map { $0 + $1 }.max()
        }
        return nil
    }

    @safe
    private struct Reader {
        let file: UnsafeRawBufferPointer

        init(file: UnsafeRawBufferPointer) {
            unsafe self.file = file
        }

        /// Also of the relatives that have another number for 42: Olympus', Panasonic's.
        var isLittle: Bool? {
            guard unsafe file.count >= 8 else { return nil }
            let (first, second) = unsafe (file[0], file[1])
            return switch (first, second) {
            case (0x49, 0x49): true
            case (0x4d, 0x4d): false
            default: nil
            }
        }

        func number(at place: Int, bytes: Int, _ isLittle: Bool) -> Int? {
            guard place >= 0, unsafe place <= file.count - bytes else { return nil }
            return (0..<bytes).reduce(0) { value, index in
                value << 8 | Int(unsafe file[place + (isLittle ? bytes - 1 - index : index)])
            }
        }

        /// All numbers of an entry of the directory at `place`.
        func values(of tag: Int, in place: Int, _ isLittle: Bool) -> [Int]? {
            guard let count = number(at: place, bytes: 2, isLittle), count <= 1000 else { return nil }
            for entry in (0..<count).map({ place + 2 + 12 * $0 })
            where number(at: entry, bytes: 2, isLittle) == tag {
                guard let type = number(at: entry + 2, bytes: 2, isLittle), let size = [3: 2, 4: 4][type],
                    let values = number(at: entry + 4, bytes: 4, isLittle), unsafe values <= file.count,
                    let start = values * size <= 4 ? entry + 8 : number(at: entry + 8, bytes: 4, isLittle),
                    unsafe start + values * size <= file.count
                else { return nil }
                return (0..<values).compactMap { number(at: start + $0 * size, bytes: size, isLittle) }
            }
            return nil
        }

        func directory(at place: Int, _ isLittle: Bool) -> TIFFDirectory? {
            guard let count = number(at: place, bytes: 2, isLittle), count <= 1000 else { return nil }
            var directory = TIFFDirectory()
            for index in 0..<count {
                let entry = place + 2 + 12 * index
                guard let tag = number(at: entry, bytes: 2, isLittle),
                    let type = number(at: entry + 2, bytes: 2, isLittle),
                    let values = number(at: entry + 4, bytes: 4, isLittle)
                else { break }
                // BYTE, ASCII, SHORT, LONG, UNDEFINED, IFD.
                guard let size = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 13: 4][type] else { continue }
                let kept = min(values, type == 7 ? 64 : 16)
                // Values that don't fit into four bytes are elsewhere.
                guard let start = values * size <= 4 ? entry + 8 : number(at: entry + 8, bytes: 4, isLittle) else {
                    continue
                }
                let numbers = (0..<kept).compactMap { number(at: start + $0 * size, bytes: size, isLittle) }
                if tag == Tag.make, type == 2 {
                    directory.make = String(decoding: numbers.prefix { $0 > 0 }.map(UInt8.init), as: UTF8.self)
                }
                directory.numbers[tag] = numbers
            }
            return directory
        }
    }
}
