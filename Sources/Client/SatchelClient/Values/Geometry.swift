public import Foundation

/// A rectangle in parts of the upright picture: the origin is the top left corner, each value 0…1.
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
}

/// What part of a picture is kept where the profile asks for another shape than the picture has.
public enum Crop: Hashable, Sendable, Encodable {
    case rect(UnitRect)
    /// As near to this point as the shape allows; x and y in 0…1.
    case focalPoint(x: Double, y: Double)
    /// Where the most salient part is.
    case attention
    case centre

    private enum CodingKeys: CodingKey {
        case rect, focalPoint
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .rect(let rect):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(rect, forKey: .rect)
        case .focalPoint(let x, let y):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(["x": x, "y": y], forKey: .focalPoint)
        case .attention:
            var container = encoder.singleValueContainer()
            try container.encode("attention")
        case .centre:
            var container = encoder.singleValueContainer()
            try container.encode("centre")
        }
    }
}

/// The part of a clip or of an animation that is wanted; seconds of the source.
public struct Trim: Hashable, Sendable, Encodable {
    /// Where a part of a clip may lie.
    public enum Centre: String, Hashable, Sendable, Encodable {
        /// As much before ``Source/thumbnailTime`` as after it, as far as the source goes.
        case thumbnailTime = "thumbnail_time"
    }

    /// Nil where the part is around a time.
    public var start: TimeInterval?
    /// To the end, or as long as the profile takes, where nil.
    public var duration: TimeInterval?
    /// Nil where the part has a start.
    public var around: Centre?

    public init(start: TimeInterval, duration: TimeInterval? = nil) {
        self.start = start
        self.duration = duration
    }

    /// A part around a time, which the source has to name.
    public init(around centre: Centre, duration: TimeInterval? = nil) {
        around = centre
        self.duration = duration
    }
}
