/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, Codable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Width times height, saturating.
    public var area: Int64 {
        let (product, overflow) = Int64(width).multipliedReportingOverflow(by: Int64(height))
        return overflow ? .max : product
    }
}

/// A rectangle in parts of the upright, untrimmed source: the origin is the top left corner, each value 0…1.
public struct UnitRect: Hashable, Sendable, Codable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Inside the unit square, and not empty.
    public var isValid: Bool {
        x >= 0 && y >= 0 && width > 0 && height > 0 && x + width <= 1 + 1e-9 && y + height <= 1 + 1e-9
    }
}

/// What part of a picture is kept where the profile asks for another shape than the picture has.
public enum Crop: Hashable, Sendable, Codable {
    /// This rectangle of the source, before anything else.
    case rect(UnitRect)
    /// As near to this point of the source as the shape allows; x and y in 0…1.
    case focalPoint(x: Double, y: Double)
    /// Where the most salient part is.
    case attention
    case centre
}
