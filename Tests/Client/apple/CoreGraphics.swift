public import Foundation

extension CGRect {
    public var dictionaryRepresentation: NSDictionary {
        ["X": origin.x, "Y": origin.y, "Width": width, "Height": height]
    }
}

public struct CGAffineTransform: Sendable {
    public init(rotationAngle angle: CGFloat) {}
}
