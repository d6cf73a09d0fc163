/// The colour that stands for a picture: the mean of its most frequent colours.
enum DominantColour {
    /// Counts the opaque pixels in cells of 32 levels a channel and takes the mean of the fullest one.
    ///
    /// A picture without an opaque pixel is white.
    static func of(_ raster: Raster) -> RGB {
        struct Cell {
            var count = 0
            var red = 0
            var green = 0
            var blue = 0
        }
        var cells = [Cell](repeating: Cell(), count: 512)
        for pixel in 0..<(raster.width * raster.height) {
            let at = pixel * raster.channels
            guard raster.channels == 3 || raster.bytes[at + 3] >= 128 else { continue }
            let (red, green, blue) = (Int(raster.bytes[at]), Int(raster.bytes[at + 1]), Int(raster.bytes[at + 2]))
            let index = (red >> 5) << 6 | (green >> 5) << 3 | blue >> 5
            cells[index].count += 1
            cells[index].red += red
            cells[index].green += green
            cells[index].blue += blue
        }
        guard let fullest = cells.max(by: { $0.count < $1.count }), fullest.count > 0 else { return .white }
        func mean(_ sum: Int) -> UInt8 { UInt8((sum + fullest.count / 2) / fullest.count) }
        return RGB(red: mean(fullest.red), green: mean(fullest.green), blue: mean(fullest.blue))
    }
}
