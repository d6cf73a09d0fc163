import Foundation

/// Writes scenes as cameras write photographs: baseline JPEG, colours at half the resolution, with EXIF.
enum CameraJPEG {
    /// How a picture is to be turned to stand upright, as EXIF numbers it.
    enum Orientation: UInt8, CaseIterable {
        case upright = 1
        case halfTurn = 3
        case quarterTurn = 6
        case threeQuarterTurn = 8

        var isPortrait: Bool { self == .quarterTurn || self == .threeQuarterTurn }
    }

    /// Encodes with libjpeg's `cjpeg`, in the quality whose file comes nearest to so many bytes.
    ///
    /// - Parameters:
    ///   - bytes: What the file is to have.
    ///   - scratch: Where to put what is thrown away.
    static func write(
        _ scene: Scene, to file: URL, bytes: Int, orientation: Orientation, scratch: URL
    ) throws {
        let name = UUID().uuidString
        let source = scratch.appending(path: "\(name).ppm")
        let made = scratch.appending(path: "\(name).jpg")
        defer {
            try? FileManager.default.removeItem(at: source)
            try? FileManager.default.removeItem(at: made)
        }
        try scene.ppm.write(to: source)
        func encoded(quality: Int) throws -> Data {
            try Command(
                "cjpeg",
                [
                    "-quality", "\(quality)", "-sample", "2x2", "-outfile", made.path(percentEncoded: false),
                    source.path(percentEncoded: false),
                ]
            ).run()
            return try Data(contentsOf: made)
        }
        var (low, high) = (60, 97)
        var best: Data?
        while low <= high {
            let quality = (low + high) / 2
            let data = try encoded(quality: quality)
            if abs(data.count - bytes) < abs((best?.count ?? .max / 2) - bytes) { best = data }
            if data.count > bytes { high = quality - 1 } else { low = quality + 1 }
        }
        guard let best else { return }
        try withEXIF(best, orientation: orientation).write(to: file, options: .atomic)
    }

    /// The same with an EXIF segment that says the orientation.
    static func withEXIF(_ jpeg: Data, orientation: Orientation) -> Data {
        // Big-endian TIFF with one entry in its directory: tag 0x0112, SHORT, 1 value.
        let tiff: [UInt8] = [
            0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation.rawValue, 0, 0, 0, 0, 0,
            0,
        ]
        let body = Array("Exif".utf8) + [0, 0] + tiff
        let length = body.count + 2
        return jpeg.prefix(2) + Data([0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + body) + jpeg.dropFirst(2)
    }
}
