import GIF

/// All that a GIF shows at a frame, as one frame over nothing: what a part of it begins with.
struct WholeFrame {
    private(set) var frame: GIFFile.Frame
    private(set) var indices: [UInt8] = []
    private(set) var palette: [UInt32] = []
    /// What is shown when its time is over is what the file shows then.
    let endsAsFrame: Bool

    /// - Parameters:
    ///   - canvas: With the frame drawn.
    ///   - region: What is kept of it.
    ///   - frame: That was drawn last.
    /// - Returns: Nil where it has more colours than a palette.
    init?(_ canvas: borrowing Canvas, _ region: Rectangle, as frame: GIFFile.Frame) {
        var places: [UInt32: UInt8] = [:]
        var isClearOutside = true
        indices.reserveCapacity(region.width * region.height)
        for row in region.top..<region.top + region.height {
            for column in region.left..<region.left + region.width {
                let colour = canvas.pixels[row * canvas.width + column]
                if let place = places[colour] {
                    indices.append(place)
                } else {
                    guard let place = UInt8(exactly: palette.count) else { return nil }
                    places[colour] = place
                    palette.append(colour)
                    indices.append(place)
                }
                let own = frame.area
                let isInside =
                    own.left..<own.left + own.width ~= column && own.top..<own.top + own.height ~= row
                if colour != 0, !isInside { isClearOutside = false }
            }
        }
        self.frame = frame
        self.frame.area = region
        self.frame.isInterlaced = false
        self.frame.transparent = places[0]
        // Cleared away as a whole, where not all of it stays.
        self.frame.disposal = frame.disposal < 2 ? 1 : 2
        // Its own, wherever that is.
        self.frame.palette = 0..<0
        endsAsFrame = frame.disposal < 2 || frame.disposal == 2 && isClearOutside
    }
}
