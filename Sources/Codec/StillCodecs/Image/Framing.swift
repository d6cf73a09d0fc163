package import SatchelCore

/// A rectangle of whole pixels.
package struct PixelRect: Hashable, Sendable {
    var left: Int
    var top: Int
    package var size: PixelSize

    init(left: Int, top: Int, size: PixelSize) {
        self.left = left
        self.top = top
        self.size = size
    }

    /// All of a picture.
    init(_ size: PixelSize) {
        self.init(left: 0, top: 0, size: size)
    }

    /// The pixels that `rect` touches in a picture of `size`: at least one.
    init(_ rect: UnitRect, in size: PixelSize) {
        func span(_ start: Double, _ length: Double, _ whole: Int) -> (Int, Int) {
            let first = min(max(0, Int((start * Double(whole)).rounded())), whole - 1)
            let end = min(max(first + 1, Int(((start + length) * Double(whole)).rounded())), whole)
            return (first, end - first)
        }
        let (left, width) = span(rect.x, rect.width, size.width)
        let (top, height) = span(rect.y, rect.height, size.height)
        self.init(left: left, top: top, size: PixelSize(width: width, height: height))
    }

    /// The same part of the picture as it is stored, given that `orientation` (EXIF's) turns it upright.
    ///
    /// - Parameter size: The upright picture's.
    func stored(orientation: Int, upright size: PixelSize) -> PixelRect {
        let right = size.width - left - self.size.width
        let bottom = size.height - top - self.size.height
        let swapped = self.size.swapped
        return switch orientation {
        case 2: PixelRect(left: right, top: top, size: self.size)
        case 3: PixelRect(left: right, top: bottom, size: self.size)
        case 4: PixelRect(left: left, top: bottom, size: self.size)
        case 5: PixelRect(left: top, top: left, size: swapped)
        case 6: PixelRect(left: top, top: right, size: swapped)
        case 7: PixelRect(left: bottom, top: right, size: swapped)
        case 8: PixelRect(left: bottom, top: left, size: swapped)
        default: self
        }
    }

    /// The same part of a picture that was scaled from `size` to `scaled`.
    func scaled(from size: PixelSize, to scaled: PixelSize) -> PixelRect {
        guard size != scaled else { return self }
        return PixelRect(
            UnitRect(
                x: Double(left) / Double(size.width), y: Double(top) / Double(size.height),
                width: Double(self.size.width) / Double(size.width),
                height: Double(self.size.height) / Double(size.height)),
            in: scaled)
    }
}

extension PixelSize {
    package var swapped: PixelSize { PixelSize(width: height, height: width) }
    package var longestSide: Int { max(width, height) }
    var shortestSide: Int { min(width, height) }

    /// As wide and high as `part` of every `whole` pixels makes it, at least one pixel.
    func scaled(to part: Int, of whole: Int) -> PixelSize {
        // Multiplied first: a scale of 1038 ÷ 4032 would turn 778.5 into 778.499…
        func side(_ length: Int) -> Int { max(1, Int((Double(length * part) / Double(whole)).rounded())) }
        return PixelSize(width: side(width), height: side(height))
    }
}

/// How large a picture becomes, and which part of it: a decision without pixels.
package struct Framing: Hashable, Sendable {
    /// Longest side of the box, or the square's side; nil keeps the resolution.
    var side: Int?
    var fit: Fit
    /// Where a square is taken from.
    var gravity: Gravity

    /// Which part of a picture a crop to a square keeps.
    package enum Gravity: Hashable, Sendable {
        case centre
        case attention
        /// Parts of the picture's width and height.
        case point(x: Double, y: Double)
    }

    package init(side: Int?, fit: Fit, gravity: Gravity = .centre) {
        self.side = side
        self.fit = fit
        self.gravity = gravity
    }

    /// The size to which the whole picture is scaled, before a square is taken from it. Never larger than it is.
    package func scaledSize(of size: PixelSize) -> PixelSize {
        guard let side else { return size }
        let measure = fit == .crop ? size.shortestSide : size.longestSide
        guard measure > side else { return size }
        return size.scaled(to: side, of: measure)
    }

    package func resultSize(of size: PixelSize) -> PixelSize {
        let scaled = scaledSize(of: size)
        guard fit == .crop else { return scaled }
        let side = min(scaled.shortestSide, self.side ?? .max)
        return PixelSize(width: side, height: side)
    }

    /// The square around a point of a picture, as near to it as the edges allow.
    static func square(of side: Int, around x: Double, _ y: Double, in size: PixelSize) -> PixelRect {
        func start(_ centre: Double, _ whole: Int) -> Int {
            let ideal = Int((centre * Double(whole) - Double(side) / 2).rounded())
            return min(max(0, ideal), whole - side)
        }
        return PixelRect(
            left: start(x, size.width), top: start(y, size.height), size: PixelSize(width: side, height: side))
    }
}

extension PixelSize {
    /// With square pixels, at most `longestSide` and never enlarged, of even sides: H.264 has whole pixels of colour for every
    /// four.
    package func even(longestSide: Int?) -> PixelSize {
        let longest = max(width, height)
        let scale = min(1, Double(longestSide ?? longest) / Double(longest))
        func even(_ side: Int) -> Int { max(2, Int((Double(side) * scale / 2).rounded()) * 2) }
        return PixelSize(width: even(width), height: even(height))
    }
}
