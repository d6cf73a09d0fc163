import SatchelCore

/// A rectangle of a picture in pixels and parts of them.
///
/// What a decoder scaled by itself has parts of pixels at its edges: half of 2,725 pixels are 1,362½.
struct Area: Hashable, Sendable {
    var across: Span
    var down: Span

    init(_ rect: PixelRect) {
        across = Span(start: Double(rect.left), length: Double(rect.size.width))
        down = Span(start: Double(rect.top), length: Double(rect.size.height))
    }
}
