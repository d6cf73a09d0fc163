import SatchelCore
import StillCodecs

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
            throw .unsupported(.alphaTurns)
        }
        for property in own where Shape.turns.contains(property.box.type) {
            // No property has the number 0.
            for place in property.place { unsafe file[place] = 0 }
        }
        return shape.orientation
    }

    /// Lists what each item is before how it is cropped and turned, in unchanged order: as the standard has it (ISO/IEC 23008-12,
    /// 6.5.1), and as libheif has to find it.
    static func sort(in file: UnsafeMutableRawBufferPointer) {
        let bytes = unsafe Bytes(whole: UnsafeRawBufferPointer(file))
        let meta = bytes.boxes.first { $0.type == "meta" }?.body.dropped(4)?.boxes ?? []
        guard let boxes = meta.first(where: { $0.type == "iprp" })?.body.boxes else { return }
        for (_, properties) in Bytes.properties(in: boxes) {
            let shapes = properties.filter { Shape.changes.contains($0.box.type) }
            let sorted = properties.filter { !Shape.changes.contains($0.box.type) } + shapes
            let numbers = sorted.map { property in property.place.map { place in unsafe file[place] } }
            for (property, number) in zip(properties, numbers) {
                for (place, byte) in zip(property.place, number) { unsafe file[place] = byte }
            }
        }
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
        static let changes = turns.union(["clap"])

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
