import Hummingbird

/// How a preview is looked at, as the page's query says.
struct PreviewAppearance: Hashable, Sendable {
    enum Theme: String, Sendable, CaseIterable {
        case auto
        case light
        case dark
    }

    enum TextSize: String, Sendable, CaseIterable {
        case normal
        case large
        case largest
    }

    enum Direction: String, Sendable, CaseIterable {
        case leftToRight = "ltr"
        case rightToLeft = "rtl"
    }

    /// Points that phones are wide.
    static let widths = 320...430

    var theme = Theme.auto
    /// Of the phone, in points.
    var width = 390
    var textSize = TextSize.normal
    var direction = Direction.leftToRight
}

extension PreviewAppearance {
    /// What can't be understood is as by default: it is only a view.
    init(_ request: Request) {
        guard let query = try? Query(request) else { return }
        for (name, value) in query.parameters {
            switch name {
            case "theme": theme = Theme(rawValue: value) ?? theme
            case "width":
                width = Int(value).map { min(max($0, Self.widths.lowerBound), Self.widths.upperBound) } ?? width
            case "text": textSize = TextSize(rawValue: value) ?? textSize
            case "direction": direction = Direction(rawValue: value) ?? direction
            default: break
            }
        }
    }
}
