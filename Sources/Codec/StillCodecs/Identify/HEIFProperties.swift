package import SatchelCore

/// What a HEIF file says of its primary picture's colours, which libvips leaves out (ISO/IEC 23008-12 and 14496-12).
package struct HEIFProperties: Hashable, Sendable {
    /// Of a `colr` box with code points instead of a profile; nil where there is none.
    private(set) var colour: CodedColour?
    /// The code point of how light and colors make RGB.
    private(set) var matrix: Int?
    /// What says the colors where no box does: HEVC's configuration, or the data of an AV1 picture.
    package private(set) var bitstream: [UInt8]?
    /// Whether colours were multiplied by alpha.
    private(set) var isPremultiplied = false
    /// `true` if it is stored without colors: libheif makes RGB of it.
    private(set) var isMonochrome = false

    /// Reads the file's `meta` box as far as it makes sense; whatever doesn't is taken for absent.
    package init(_ file: UnsafeRawBufferPointer) {
        let file = unsafe Bytes(whole: file)
        guard let meta = file.boxes.first(where: { $0.type == "meta" })?.body.dropped(4) else { return }
        let parts = meta.boxes
        let primary = parts.first { $0.type == "pitm" }.flatMap { $0.body.identifier(at: 4) }
        if let properties = parts.first(where: { $0.type == "iprp" })?.body.boxes {
            let all = properties.first { $0.type == "ipco" }?.body.boxes ?? []
            let own = primary.flatMap { Bytes.properties(in: properties, of: [$0])[$0] }?.map(\.box) ?? []
            isMonochrome = (own + all).lazy.compactMap(Self.isMonochrome).first ?? false
            // The tiles' own properties count where a grid has none.
            let box = Self.codePoints(own) ?? (own.contains { $0.type == "colr" } ? nil : Self.codePoints(all))
            if let box, let primaries = box.number(at: 4, bytes: 2), let transfer = box.number(at: 6, bytes: 2) {
                colour = CodedColour(primaries: primaries, transfer: transfer)
                matrix = box.number(at: 8, bytes: 2)
            }
            if !(own + all).contains(where: { $0.type == "colr" }) {
                let places = parts.first { $0.type == "iloc" }?.body
                bitstream =
                    (own + all).first { $0.type == "hvcC" }?.body.content
                    ?? primary.flatMap { places?.data(of: $0, in: file) }
            }
        }
        if let references = parts.first(where: { $0.type == "iref" })?.body {
            isPremultiplied = (references.dropped(4) ?? references).boxes.contains { $0.type == "prem" }
        }
    }

    /// What a picture is coded as where that is none of what libheif decodes; nil where it is.
    static func foreignCoding(of file: UnsafeRawBufferPointer) -> String? {
        let parts = unsafe Bytes(whole: file).boxes.first { $0.type == "meta" }?.body.dropped(4)?.boxes ?? []
        guard let primary = parts.first(where: { $0.type == "pitm" }).flatMap({ $0.body.identifier(at: 4) }),
            let items = parts.first(where: { $0.type == "iinf" })?.body
        else { return nil }
        // A count of two bytes, or of four.
        let entries = items.dropped(items.number(at: 0, bytes: 1) == 0 ? 6 : 8)?.boxes ?? []
        let types = entries.filter { $0.type == "infe" }.compactMap { entry -> (item: Int, type: String)? in
            let isLong = entry.body.number(at: 0, bytes: 1) == 3
            guard let item = entry.body.number(at: 4, bytes: isLong ? 4 : 2),
                let type = entry.body.text(at: isLong ? 10 : 8)
            else { return nil }
            return (item, type)
        }
        guard let own = types.first(where: { $0.item == primary })?.type else { return nil }
        let isDerived = ["grid", "iden", "iovl"].contains(own)
        let codings = isDerived ? types.map(\.type) : [own]
        guard !codings.contains(where: ["hvc1", "av01"].contains) else { return nil }
        return codings.lazy.compactMap { foreignCodings[$0] }.first
    }

    /// By the types of items (ISO/IEC 23008-12, annexes).
    private static let foreignCodings = [
        "vvc1": "H.266", "avc1": "H.264", "evc1": "EVC", "j2k1": "JPEG 2000", "unci": "uncompressed",
        "jpeg": "JPEG inside HEIF",
    ]

    /// By its channels, or by the configuration of its decoder; nil for other properties.
    private static func isMonochrome(_ box: Bytes.Box) -> Bool? {
        switch box.type {
        case "pixi": box.body.number(at: 4, bytes: 1).map { $0 == 1 }
        case "av1C": box.body.number(at: 2, bytes: 1).map { $0 & 0x10 != 0 }
        case "hvcC": box.body.number(at: 16, bytes: 1).map { $0 & 3 == 0 }
        default: nil
        }
    }

    private static func codePoints(_ boxes: [Bytes.Box]) -> Bytes? {
        boxes.first { $0.type == "colr" && $0.body.text(at: 0) == "nclx" }?.body
    }

    /// Refuses matrices that no library here makes RGB by, or makes it wrong (ITU-T H.273, table 4).
    ///
    /// - Parameters:
    ///   - matrix: Nil for what isn't said.
    ///   - known: Those that the caller's library has.
    package static func check(matrix: Int?, known: Set<Int> = []) throws(AttachmentError) {
        guard let matrix, !known.contains(matrix), let name = foreignMatrices[matrix] else { return }
        throw .unsupported(.matrix, name)
    }

    private static let foreignMatrices = [
        8: "YCgCo", 10: "BT.2020 with constant luminance", 11: "YDzDx", 13: "constant luminance by its primaries",
        14: "ICtCp", 15: "IPT-C2", 16: "YCgCo-Re", 17: "YCgCo-Ro",
    ]
}
