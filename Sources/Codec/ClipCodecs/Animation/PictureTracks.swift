import SatchelCore
import StillCodecs

/// What the boxes of an image sequence say of its tracks (ISO/IEC 14496-12 and 23008-12).
struct PictureTracks: Hashable, Sendable {
    struct Track: Hashable, Sendable {
        var id = 0
        var handler = ""
        /// The track whose alpha this one holds.
        var isAlphaOf: Int?
        /// The track whose alpha this one's colours were multiplied by.
        var isPremultipliedBy: Int?
        /// Pictures, by its table of sizes.
        var samples = 0
        /// How often it plays; 0 for ever.
        var plays = 0
    }

    /// The pictures.
    let colour: Track
    let alpha: Track?
    /// The first brand says that the sequence is what the file is for.
    let isMeant: Bool
    /// A still can be shown in its place.
    let hasPrimary: Bool

    /// Nil where no track holds pictures.
    init?(_ file: UnsafeRawBufferPointer) {
        let boxes = unsafe Bytes(whole: file).boxes
        let brand = boxes.first { $0.type == "ftyp" }?.body.text(at: 0)
        isMeant = ["avis", "hevc", "hevx", "hevm", "hevs", "msf1"].contains(brand)
        let meta = boxes.first { $0.type == "meta" }?.body.dropped(4)
        hasPrimary = meta?.boxes.contains { $0.type == "pitm" } ?? false
        guard let moov = boxes.first(where: { $0.type == "moov" })?.body else { return nil }
        let tracks = moov.boxes.filter { $0.type == "trak" }.prefix(64).map { Self.track($0.body) }
        guard let colour = tracks.first(where: { $0.handler == "pict" && $0.isAlphaOf == nil }) else { return nil }
        self.colour = colour
        alpha = tracks.first { $0.isAlphaOf == colour.id }
    }

    var isPremultiplied: Bool { alpha != nil && colour.isPremultipliedBy == alpha?.id }

    private static func track(_ body: Bytes) -> Track {
        var track = Track()
        var duration: Int?
        for box in body.boxes {
            switch box.type {
            case "tkhd":
                let isLong = box.body.number(at: 0, bytes: 1) == 1
                track.id = box.body.number(at: isLong ? 20 : 12, bytes: 4) ?? 0
                duration = time(box.body, at: isLong ? 28 : 20, isLong)
            case "tref":
                for reference in box.body.boxes {
                    switch reference.type {
                    case "auxl": track.isAlphaOf = reference.body.number(at: 0, bytes: 4)
                    case "prem": track.isPremultipliedBy = reference.body.number(at: 0, bytes: 4)
                    default: break
                    }
                }
            case "mdia":
                let parts = box.body.boxes
                track.handler = parts.first { $0.type == "hdlr" }?.body.text(at: 8) ?? ""
                let table = parts.first { $0.type == "minf" }?.body.boxes.first { $0.type == "stbl" }?.body.boxes
                track.samples = table?.first { $0.type == "stsz" }?.body.number(at: 8, bytes: 4) ?? 0
            default: break
            }
        }
        if let edits = body.boxes.first(where: { $0.type == "edts" })?.body.boxes.first(where: { $0.type == "elst" }) {
            track.plays = plays(edits.body, duration: duration)
        }
        return track
    }

    /// How often an edit list plays: once, unless it says that it is repeated for as long as the track lasts, and for ever
    /// where that has no end.
    private static func plays(_ edits: Bytes, duration: Int?) -> Int {
        guard edits.number(at: 3, bytes: 1).map({ $0 & 1 == 1 }) == true else { return 1 }
        let isLong = edits.number(at: 0, bytes: 1) == 1
        guard let duration, let segment = time(edits, at: 8, isLong), segment > 0 else { return 0 }
        return max(1, duration / segment)
    }

    /// A time of four or eight bytes; nil where it is said to have no end: by all ones, or by the greatest signed number.
    private static func time(_ body: Bytes, at offset: Int, _ isLong: Bool) -> Int? {
        guard let first = body.number(at: offset, bytes: 4) else { return nil }
        guard first < 0x7FFF_FFFF else { return nil }
        guard isLong else { return first }
        guard let rest = body.number(at: offset + 4, bytes: 4) else { return nil }
        return first << 32 | rest
    }
}
