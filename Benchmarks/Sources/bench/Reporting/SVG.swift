import Foundation

/// Text of a drawing. Legible on light and on dark ground: text and lines take a grey that both bear, and no ground is
/// painted.
struct SVG {
    static let ink = "#7a828e"
    static let faint = "#7a828e55"

    let width: Double
    let height: Double
    private var body: [String] = []

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    static func colour(of role: Comparison.Role) -> String {
        switch role {
        case .own: "#d9622b"
        case .peer: "#4f86c6"
        case .floor: "#8a9a5b"
        }
    }

    /// Colours of lines that have the same role, told apart.
    static let series = ["#d9622b", "#4f86c6", "#8a9a5b", "#b07cc6", "#c9a227", "#4ba3a0", "#c65b7c", "#7a828e"]

    enum Anchor: String {
        case start, middle, end
    }

    mutating func text(
        _ text: String, x: Double, y: Double, anchor: Anchor = .start, size: Double = 12, isBold: Bool = false,
        turned: Bool = false
    ) {
        let weight = isBold ? " font-weight=\"bold\"" : ""
        let turn = turned ? " transform=\"rotate(-90 \(Self.number(x)) \(Self.number(y)))\"" : ""
        body.append(
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor.rawValue)\""
                + " font-size=\"\(Self.number(size))\"\(weight)\(turn)>\(Self.escaped(text))</text>")
    }

    mutating func line(_ from: (Double, Double), _ to: (Double, Double), colour: String = ink, width: Double = 1) {
        body.append(
            "<line x1=\"\(Self.number(from.0))\" y1=\"\(Self.number(from.1))\" x2=\"\(Self.number(to.0))\""
                + " y2=\"\(Self.number(to.1))\" stroke=\"\(colour)\" stroke-width=\"\(Self.number(width))\"/>")
    }

    mutating func rectangle(x: Double, y: Double, width: Double, height: Double, colour: String) {
        body.append(
            "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(max(0, width)))\""
                + " height=\"\(Self.number(height))\" fill=\"\(colour)\"/>")
    }

    mutating func path(_ points: [(Double, Double)], colour: String) {
        let places = points.map { "\(Self.number($0.0)),\(Self.number($0.1))" }.joined(separator: " ")
        body.append("<polyline points=\"\(places)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
        for point in points {
            body.append(
                "<circle cx=\"\(Self.number(point.0))\" cy=\"\(Self.number(point.1))\" r=\"3\" fill=\"\(colour)\"/>")
        }
    }

    var content: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(width)) \(Self.number(height))" \
        width="\(Self.number(width))" height="\(Self.number(height))" \
        font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" fill="\(Self.ink)">
        \(body.joined(separator: "\n"))
        </svg>

        """
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func number(_ value: Double) -> String {
        let text = String(format: "%.1f", value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
