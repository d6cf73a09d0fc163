public import Foundation

/// A rectangle in the upright picture. The origin is the top left corner, and each value is in 0…1.
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

/// The part of a picture to keep if the profile requires another aspect ratio.
public enum Crop: Hashable, Sendable, Encodable {
    case rect(UnitRect)
    /// As close to this point as possible; x and y in 0…1.
    case focalPoint(x: Double, y: Double)
    /// The most salient part.
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

/// The part of a clip or animation to keep, in seconds of the source.
public struct Trim: Hashable, Sendable, Encodable {
    /// The position of the part.
    public enum Centre: String, Hashable, Sendable, Encodable {
        /// Centered on ``Source/thumbnailTime``, within the source.
        case thumbnailTime = "thumbnail_time"
    }

    /// `nil` if the part is centered on a time.
    public var start: TimeInterval?
    /// `nil` to keep the rest, up to the limit of the profile.
    public var duration: TimeInterval?
    /// `nil` if the part has a start.
    public var around: Centre?

    public init(start: TimeInterval, duration: TimeInterval? = nil) {
        self.start = start
        self.duration = duration
    }

    /// A part centered on the source's thumbnail time.
    public init(around centre: Centre, duration: TimeInterval? = nil) {
        around = centre
        self.duration = duration
    }
}
