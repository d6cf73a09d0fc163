import Foundation

/// Writes scenes as cameras, phones and editors write photographs, with EXIF.
struct CameraJPEG: Hashable, Sendable {
    /// How a picture is to be turned to stand upright, as EXIF numbers it.
    enum Orientation: UInt8, CaseIterable {
        case upright = 1
        case halfTurn = 3
        case quarterTurn = 6
        case threeQuarterTurn = 8

        var isPortrait: Bool { self == .quarterTurn || self == .threeQuarterTurn }
    }

    /// How many pixels share a colour, across and down, as libjpeg's programs say it.
    enum Sampling: String, CaseIterable {
        /// 4:2:0: phones, and most compact cameras.
        case quarter = "2x2"
        /// 4:2:2: most single-lens reflex cameras.
        case half = "2x1"
        /// 4:4:4: editors, at high quality.
        case full = "1x1"
    }

    var quality: Int
    var sampling = Sampling.quarter
    var isProgressive = false
    var orientation = Orientation.upright
    /// A preview of 160 pixels and the maker's notes in EXIF, else the orientation alone.
    var hasPreview = false

    /// - Parameter scratch: Where to put what is thrown away.
    func write(_ scene: Scene, to file: URL, scratch: URL) throws {
        let jpeg = try Self.encoded(scene.ppm, arguments, scratch: scratch)
        var exif = EXIF(orientation: orientation)
        if hasPreview {
            exif.preview = try Self.encoded(scene.preview(side: 160), ["-quality", "80"], scratch: scratch)
            // Of no sense to anybody else, 2 to 10 kB.
            var random = SplitMix(seed: UInt64(jpeg.count), "maker's notes")
            exif.makerNotes = Data((0..<2000 + jpeg.count % 8000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
        try exif.inserted(in: jpeg).write(to: file, options: .atomic)
    }

    /// Baseline and 4:2:0, in the quality whose file comes nearest to so many bytes.
    static func write(
        _ scene: Scene, to file: URL, bytes: Int, orientation: Orientation, scratch: URL
    ) throws {
        let ppm = scene.ppm
        var (low, high) = (60, 97)
        var best: Data?
        while low <= high {
            let quality = (low + high) / 2
            let data = try encoded(ppm, CameraJPEG(quality: quality).arguments, scratch: scratch)
            if abs(data.count - bytes) < abs((best?.count ?? .max / 2) - bytes) { best = data }
            if data.count > bytes { high = quality - 1 } else { low = quality + 1 }
        }
        guard let best else { return }
        try EXIF(orientation: orientation).inserted(in: best).write(to: file, options: .atomic)
    }

    private var arguments: [String] {
        ["-quality", "\(quality)", "-sample", sampling.rawValue] + (isProgressive ? ["-progressive"] : [])
    }

    /// What libjpeg's `cjpeg` makes of a PPM.
    private static func encoded(_ ppm: Data, _ arguments: [String], scratch: URL) throws -> Data {
        let name = UUID().uuidString
        let source = scratch.appending(path: "\(name).ppm")
        let made = scratch.appending(path: "\(name).jpg")
        defer { for file in [source, made] { try? FileManager.default.removeItem(at: file) } }
        try ppm.write(to: source)
        try Command(
            "cjpeg",
            arguments + ["-outfile", made.path(percentEncoded: false), source.path(percentEncoded: false)]
        ).run()
        return try Data(contentsOf: made)
    }
}

/// What cameras say of a photograph.
private struct EXIF {
    var orientation: CameraJPEG.Orientation
    var preview = Data()
    var makerNotes = Data()

    /// A JPEG with this as its first segment.
    func inserted(in jpeg: Data) -> Data {
        let body = Data("Exif\0\0".utf8) + tiff
        let length = body.count + 2
        precondition(length < 65_536)
        return jpeg.prefix(2) + Data([0xFF, 0xE1]) + Self.number(length, bytes: 2) + body + jpeg.dropFirst(2)
    }

    /// Types of values in TIFF.
    private enum Kind: Int {
        case text = 2
        case short = 3
        case long = 4
        case undefined = 7
    }

    private struct Entry {
        var tag: Int
        var kind: Kind
        var count: Int
        /// Four bytes at most stand in the entry itself.
        var value: Data

        static func short(_ tag: Int, _ value: Int) -> Entry {
            Entry(tag: tag, kind: .short, count: 1, value: number(value, bytes: 2))
        }

        static func long(_ tag: Int, _ value: Int) -> Entry {
            Entry(tag: tag, kind: .long, count: 1, value: number(value, bytes: 4))
        }

        static func bytes(_ tag: Int, _ kind: Kind, _ value: Data) -> Entry {
            Entry(tag: tag, kind: kind, count: value.count, value: value)
        }
    }

    /// Big-endian, with a directory of the picture, one of EXIF's own, and one of the preview.
    private var tiff: Data {
        let header = Data([0x4D, 0x4D, 0, 42, 0, 0, 0, 8])
        guard !preview.isEmpty else {
            return header + Self.directory([.short(0x0112, Int(orientation.rawValue))], at: 8, next: 0)
        }
        func picture(_ details: Int) -> [Entry] {
            [
                .bytes(0x010F, .text, Data("Benchmark\0".utf8)), .bytes(0x0110, .text, Data("Dead leaves\0".utf8)),
                .short(0x0112, Int(orientation.rawValue)),
                .bytes(0x0132, .text, Data("2026:07:01 12:00:00\0".utf8)), .long(0x8769, details),
            ]
        }
        // Places don't change lengths: once for those, once for the places.
        let details = header.count + Self.directory(picture(0), at: header.count, next: 0).count
        let own = Self.directory(
            [.short(0x8827, 400), .bytes(0x927C, .undefined, makerNotes)], at: details, next: 0)
        let second = details + own.count
        func small(_ place: Int) -> Data {
            Self.directory(
                [.short(0x0103, 6), .long(0x0201, place), .long(0x0202, preview.count)], at: second, next: 0)
        }
        return header + Self.directory(picture(details), at: header.count, next: second) + own
            + small(second + small(0).count) + preview
    }

    /// A directory at a place, with what doesn't fit into its entries behind it, and the place of the next.
    private static func directory(_ entries: [Entry], at place: Int, next: Int) -> Data {
        var list = number(entries.count, bytes: 2)
        var behind = Data()
        let end = place + 2 + entries.count * 12 + 4
        for entry in entries {
            list += number(entry.tag, bytes: 2) + number(entry.kind.rawValue, bytes: 2) + number(entry.count, bytes: 4)
            if entry.value.count <= 4 {
                list += entry.value + Data(count: 4 - entry.value.count)
            } else {
                list += number(end + behind.count, bytes: 4)
                behind += entry.value + Data(count: entry.value.count % 2)
            }
        }
        return list + number(next, bytes: 4) + behind
    }

    private static func number(_ value: Int, bytes: Int) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }
}
