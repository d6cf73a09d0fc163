import Attachments

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
            let own = primary.flatMap { Bytes.properties(in: properties, of: [$0])[$0] }?.map(\.box) ?? []
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

/// How the primary picture of a HEIF is cropped and turned, and its alpha, which is an item of its own.
///
/// libavif writes files whose alpha has no turns and shows them turned with the colours. libheif turns each item by what
/// belongs to it: then alpha doesn't fit, and is left out or lies wrong.
enum HEIFTurns {
    /// Takes turns that alpha doesn't share from the primary picture, so that both are decoded as they are stored.
    ///
    /// - Returns: The orientation by which to turn both, as EXIF counts it: 1 where nothing was taken.
    /// - Throws: ``AttachmentError/unsupportedFeature(reason:advice:)`` where alpha is cropped or turned in another way.
    static func take(from file: UnsafeMutableRawBufferPointer) throws(AttachmentError) -> Int {
        let bytes = unsafe Bytes(whole: UnsafeRawBufferPointer(file))
        guard let meta = bytes.boxes.first(where: { $0.type == "meta" })?.body.dropped(4)?.boxes,
            let primary = meta.first(where: { $0.type == "pitm" })?.body.identifier(at: 4),
            let references = meta.first(where: { $0.type == "iref" })?.body,
            let boxes = meta.first(where: { $0.type == "iprp" })?.body.boxes
        else { return 1 }
        let auxiliaries = references.auxiliaries(of: primary)
        let properties = Bytes.properties(in: boxes, of: auxiliaries.union([primary]))
        let own = properties[primary] ?? []
        let shape = Shape(own.map(\.box))
        let shapes = auxiliaries.compactMap { properties[$0]?.map(\.box) }.filter(isAlpha).map(Shape.init)
        guard !shapes.allSatisfy({ $0 == shape }) else { return 1 }
        guard shapes.allSatisfy({ $0.crops == shape.crops && $0.orientation == 1 }), !shape.isCroppedLast else {
            throw .unsupportedFeature(
                reason: "its transparency is cropped or turned otherwise than its colours, which is not taken",
                advice: "Export it as PNG, or without transparency.")
        }
        for property in own where Shape.turns.contains(property.box.type) {
            // No property has the number 0.
            for place in property.place { unsafe file[place] = 0 }
        }
        return shape.orientation
    }

    private static func isAlpha(_ properties: [Bytes.Box]) -> Bool {
        properties.contains { $0.type == "auxC" && kinds.contains($0.body.dropped(4)?.zeroTerminated ?? "") }
    }

    private static let kinds: Set = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
    ]

    /// What an item's properties make of its pixels, in their order.
    private struct Shape: Equatable {
        static let turns: Set = ["irot", "imir"]

        private(set) var crops: [[UInt8]] = []
        /// Whether it is cropped after it was turned: not as MIAF has it (ISO/IEC 23000-22).
        private(set) var isCroppedLast = false
        /// All turns: mirrored left to right or not, and then so many quarters anticlockwise.
        private var isMirrored = false
        private var quarters = 0

        init(_ properties: [Bytes.Box]) {
            for property in properties {
                let value = property.body.number(at: 0, bytes: 1) ?? 0
                switch property.type {
                case "clap":
                    crops.append(property.body.content)
                    isCroppedLast = isCroppedLast || orientation != 1
                case "irot":
                    quarters = (quarters + value & 3) & 3
                case "imir":
                    // Top to bottom (0) is left to right (1) and half a turn.
                    quarters = ((value & 1 == 0 ? 2 : 0) - quarters) & 3
                    isMirrored.toggle()
                default:
                    break
                }
            }
        }

        /// As EXIF counts it.
        var orientation: Int { (isMirrored ? [2, 5, 4, 7] : [1, 8, 3, 6])[quarters] }
    }
}

/// A stretch of a file, in big-endian boxes.
@safe
struct Bytes {
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

    /// The items that an `iref` box calls auxiliary to `item`: the first 256, as a picture has few.
    func auxiliaries(of item: Int) -> Set<Int> {
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

    /// An item's identifier in a full box of version 0 (two bytes) or more (four).
    func identifier(at offset: Int) -> Int? {
        number(at: 0, bytes: 1) == 0 ? number(at: offset, bytes: 2) : number(at: offset, bytes: 4)
    }

    /// Up to the first zero, of at most 64 bytes.
    var zeroTerminated: String {
        let bytes = (0..<64).lazy.map { number(at: $0, bytes: 1) ?? 0 }.prefix { $0 > 0 }
        return String(decoding: bytes.map(UInt8.init), as: UTF8.self)
    }

    var content: [UInt8] { unsafe Array(all[range]) }

    /// A property that belongs to an item.
    struct Property {
        var box: Box
        /// Where in the file its number is in the item's list; without it nothing belongs to the item.
        var place: Range<Int>
    }

    /// What belongs to each of `items`, by the boxes in a file's `iprp`, in the order of their lists.
    static func properties(in boxes: [Box], of items: Set<Int>) -> [Int: [Property]] {
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
    private func associations(of items: Set<Int>, into found: inout [Int: [Bytes]]) {
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
            if items.contains(id), found[id] == nil {
                found[id] = stride(from: at, to: end, by: indexBytes).map { at in
                    Bytes(self, range.lowerBound + at..<range.lowerBound + at + indexBytes)
                }
            }
            at = end
        }
    }
}
