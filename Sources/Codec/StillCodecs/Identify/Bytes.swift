extension Collection<UInt8> {
    /// These bytes as a number, the highest first.
    package var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }
}

extension BidirectionalCollection<UInt8> {
    /// These bytes as a number, the lowest first.
    package var littleEndian: Int { reversed().bigEndian }
}

/// A stretch of a file, in big-endian boxes.
@safe
package struct Bytes {
    private let all: UnsafeRawBufferPointer
    private let range: Range<Int>

    package struct Box {
        package var type: String
        package var body: Bytes
        /// The offset of its first byte in the file.
        package var start: Int
    }

    package init(whole: UnsafeRawBufferPointer) {
        unsafe all = whole
        range = 0..<whole.count
    }

    private init(_ other: Bytes, _ range: Range<Int>) {
        unsafe all = other.all
        self.range = range
    }

    package func number(at offset: Int, bytes: Int) -> Int? {
        guard offset >= 0, offset <= range.count - bytes else { return nil }
        return (0..<bytes).reduce(0) { value, at in
            value << 8 | Int(unsafe all[range.lowerBound + offset + at])
        }
    }

    package func text(at offset: Int) -> String? {
        guard offset >= 0, offset <= range.count - 4 else { return nil }
        return String(
            decoding: (0..<4).map { unsafe all[range.lowerBound + offset + $0] }, as: Unicode.ASCII.self)
    }

    package func dropped(_ count: Int) -> Bytes? {
        count <= range.count ? Bytes(self, range.lowerBound + count..<range.upperBound) : nil
    }

    /// The boxes one after the other, up to the first that doesn't fit. A file has few: more than 10,000 are not read.
    package var boxes: [Box] {
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
            boxes.append(Box(type: type, body: Bytes(self, start + header..<start + size), start: start))
            at += size
        }
        return boxes
    }

    /// The items that an `iref` box calls auxiliary to `item`: the first 256, as a picture has few.
    package func auxiliaries(of item: Int) -> Set<Int> {
        guard let version = number(at: 0, bytes: 1), let references = dropped(4) else { return [] }
        let idBytes = version == 0 ? 2 : 4
        let found = references.boxes.lazy.compactMap { box -> Int? in
            guard box.type == "auxl", let count = box.body.number(at: idBytes, bytes: 2) else { return nil }
            let start = idBytes + 2
            let end = min(start + count * idBytes, box.body.range.count)
            let isOfItem = stride(from: start, to: end, by: idBytes).contains {
                box.body.number(at: $0, bytes: idBytes) == item
            }
            return isOfItem ? box.body.number(at: 0, bytes: idBytes) : nil
        }
        return Set(found.prefix(256))
    }

    /// The first part of an item's data in `file`, by this `iloc` box (ISO/IEC 14496-12, 8.11.3).
    package func data(of item: Int, in file: Bytes) -> [UInt8]? {
        guard let version = number(at: 0, bytes: 1), let sizes = number(at: 4, bytes: 2) else { return nil }
        let (wide, more, index) = (version < 2 ? 2 : 4, version > 0 ? 2 : 0, version > 0 ? sizes & 15 : 0)
        let (offset, length, base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        var at = 6 + wide
        while let id = number(at: at, bytes: wide) {
            at += wide + more + 2 + base
            guard let start = number(at: at - base, bytes: base), let count = number(at: at, bytes: 2) else { break }
            if id == item, let first = number(at: at + 2 + index, bytes: offset),
                let size = number(at: at + 2 + index + offset, bytes: length)
            {
                return file.dropped(max(0, start &+ first))?.content.prefix(max(0, size)).map(\.self)
            }
            at += 2 + count * (index + offset + length)
        }
        return nil
    }

    /// An item's identifier in a full box of version 0 (two bytes) or more (four).
    package func identifier(at offset: Int) -> Int? {
        number(at: 0, bytes: 1) == 0 ? number(at: offset, bytes: 2) : number(at: offset, bytes: 4)
    }

    /// Up to the first zero, of at most 64 bytes.
    package var zeroTerminated: String {
        let bytes = (0..<64).lazy.map { number(at: $0, bytes: 1) ?? 0 }.prefix { $0 > 0 }
        return String(decoding: bytes.map(UInt8.init), as: UTF8.self)
    }

    package var content: [UInt8] { unsafe Array(all[range]) }

    /// A property that belongs to an item.
    package struct Property {
        package var box: Box
        /// Where in the file its number is in the item's list; without it nothing belongs to the item.
        package var place: Range<Int>
    }

    /// What belongs to each of `items`, or of all, by the boxes in a file's `iprp`, in the order of their lists.
    package static func properties(in boxes: [Box], of items: Set<Int>? = nil) -> [Int: [Property]] {
        let all = boxes.first { $0.type == "ipco" }?.body.boxes ?? []
        var places: [Int: [Bytes]] = [:]
        for box in boxes where box.type == "ipma" { box.body.associations(of: items, into: &places) }
        return places.mapValues { places in
            places.compactMap { place in
                // The highest bit says that a reader must know the property; numbers begin with 1.
                let mask = place.range.count == 2 ? 0x7FFF : 0x7F
                guard let number = place.number(at: 0, bytes: place.range.count), number & mask > 0,
                    number & mask <= all.count
                else { return nil }
                return Property(box: all[number & mask - 1], place: place.range)
            }
        }
    }

    /// Adds where the numbers of each item's properties are in an `ipma` box; an item's first list counts.
    private func associations(of items: Set<Int>?, into found: inout [Int: [Bytes]]) {
        guard let version = number(at: 0, bytes: 1), let flags = number(at: 1, bytes: 3),
            let count = number(at: 4, bytes: 4)
        else { return }
        let (idBytes, indexBytes) = (version < 1 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
        var at = 8
        for _ in 0..<count {
            guard let id = number(at: at, bytes: idBytes), let properties = number(at: at + idBytes, bytes: 1) else {
                return
            }
            at += idBytes + 1
            let end = at + properties * indexBytes
            guard end <= range.count else { return }
            if items?.contains(id) ?? (found.count < 10_000), found[id] == nil {
                found[id] = stride(from: at, to: end, by: indexBytes).map { at in
                    Bytes(self, range.lowerBound + at..<range.lowerBound + at + indexBytes)
                }
            }
            at = end
        }
    }
}
