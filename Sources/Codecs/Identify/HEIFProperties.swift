/// What a HEIF file says of its primary picture's colours, which libvips leaves out (ISO/IEC 23008-12 and 14496-12).
struct HEIFProperties: Hashable, Sendable {
    /// Of a `colr` box with code points instead of a profile; nil where there is none.
    private(set) var colour: CodedColour?
    /// Whether colours were multiplied by alpha.
    private(set) var isPremultiplied = false

    /// Reads the file's `meta` box as far as it makes sense; whatever doesn't is taken for absent.
    init(_ file: UnsafeRawBufferPointer) {
        let file = unsafe Bytes(whole: file)
        guard let meta = file.boxes.first(where: { $0.type == "meta" })?.body.dropped(4) else { return }
        let parts = meta.boxes
        let primary = parts.first { $0.type == "pitm" }.flatMap { $0.body.identifier(at: 4) }
        if let properties = parts.first(where: { $0.type == "iprp" })?.body.boxes {
            let all = properties.first { $0.type == "ipco" }?.body.boxes ?? []
            let indices = properties.first { $0.type == "ipma" }.map { $0.body.associations(of: primary) } ?? []
            let own = indices.compactMap { all.indices.contains($0 - 1) ? all[$0 - 1] : nil }
            // The tiles' own properties count where a grid has none.
            colour = Self.colour(own) ?? (own.contains { $0.type == "colr" } ? nil : Self.colour(all))
        }
        if let references = parts.first(where: { $0.type == "iref" })?.body {
            isPremultiplied = (references.dropped(4) ?? references).boxes.contains { $0.type == "prem" }
        }
    }

    private static func colour(_ boxes: [Bytes.Box]) -> CodedColour? {
        for box in boxes where box.type == "colr" && box.body.text(at: 0) == "nclx" {
            if let primaries = box.body.number(at: 4, bytes: 2), let transfer = box.body.number(at: 6, bytes: 2) {
                return CodedColour(primaries: primaries, transfer: transfer)
            }
        }
        return nil
    }
}

/// A stretch of a file, in big-endian boxes.
@safe
private struct Bytes {
    private let all: UnsafeRawBufferPointer
    private let range: Range<Int>

    struct Box {
        var type: String
        var body: Bytes
    }

    init(whole: UnsafeRawBufferPointer) {
        unsafe all = whole
        range = 0..<whole.count
    }

    private init(_ other: Bytes, _ range: Range<Int>) {
        unsafe all = other.all
        self.range = range
    }

    func number(at offset: Int, bytes: Int) -> Int? {
        guard offset >= 0, offset <= range.count - bytes else { return nil }
        return (0..<bytes).reduce(0) { value, at in
            value << 8 | Int(unsafe all[range.lowerBound + offset + at])
        }
    }

    func text(at offset: Int) -> String? {
        guard offset >= 0, offset <= range.count - 4 else { return nil }
        return String(
            decoding: (0..<4).map { unsafe all[range.lowerBound + offset + $0] }, as: Unicode.ASCII.self)
    }

    func dropped(_ count: Int) -> Bytes? {
        count <= range.count ? Bytes(self, range.lowerBound + count..<range.upperBound) : nil
    }

    /// The boxes one after the other, up to the first that doesn't fit. A file has few: more than 10,000 are not read.
    var boxes: [Box] {
        var boxes: [Box] = []
        var at = 0
        while boxes.count < 10_000, var size = number(at: at, bytes: 4), let type = text(at: at + 4) {
            var header = 8
            if size == 1 {
                // 63 bits, so that the sum below cannot overflow.
                guard let high = number(at: at + 8, bytes: 4), high < 1 << 20, let low = number(at: at + 12, bytes: 4)
                else { break }
                size = high << 32 | low
                header = 16
            } else if size == 0 {
                size = range.count - at
            }
            guard size >= header, at + size <= range.count else { break }
            let start = range.lowerBound + at
            boxes.append(Box(type: type, body: Bytes(self, start + header..<start + size)))
            at += size
        }
        return boxes
    }

    /// An item's identifier in a full box of version 0 (two bytes) or more (four).
    func identifier(at offset: Int) -> Int? {
        number(at: 0, bytes: 1) == 0 ? number(at: offset, bytes: 2) : number(at: offset, bytes: 4)
    }

    /// The numbers, from 1, of an item's properties in an `ipma` box.
    func associations(of item: Int?) -> [Int] {
        guard let item, let version = number(at: 0, bytes: 1), let flags = number(at: 1, bytes: 3),
            let count = number(at: 4, bytes: 4)
        else { return [] }
        let (idBytes, indexBytes) = (version < 1 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
        var at = 8
        for _ in 0..<count {
            guard let id = number(at: at, bytes: idBytes), let properties = number(at: at + idBytes, bytes: 1) else {
                break
            }
            at += idBytes + 1
            if id == item {
                // The highest bit says that a reader must know the property.
                return (0..<properties).compactMap { position in
                    number(at: at + position * indexBytes, bytes: indexBytes).map {
                        $0 & (indexBytes == 2 ? 0x7FFF : 0x7F)
                    }
                }
            }
            at += properties * indexBytes
        }
        return []
    }
}
