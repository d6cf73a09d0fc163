package import SatchelCore

// What renditions and forecasts say of a still, in the same words: a clause each, put together with semicolons.

extension StillPolicy {
    /// The type that is written: the first that suits.
    package func type(transparent: Bool) -> MediaType {
        types.first { !transparent || $0.hasTransparency } ?? .jpeg
    }

    /// Whether a picture with transparency comes out as another type than one without.
    var minds: Bool { type(transparent: true) != type(transparent: false) && types.contains(where: \.hasTransparency) }

    /// Which part of a picture is shown, how large, and why: `1038×779 because the longest side may be 1038`.
    ///
    /// - Parameters:
    ///   - region: The part of the source that was asked for; all of it, where none was.
    ///   - source: The upright source.
    ///   - size: Of the rendition; nil before it is made.
    package func shape(of region: PixelRect, in source: PixelSize, size: PixelSize? = nil) -> String {
        let framed = framing.resultSize(of: region.size)
        let size = size ?? framed
        var clause = size.words
        switch (framing.side, framing.fit) {
        case (_, .inside) where role == .waveform && size == region.size: clause += " as its profile draws it"
        case (nil, .inside): clause += " because its profile keeps the size"
        case (let side?, _) where size == region.size: clause += " as it is, not over \(side)"
        case (let side?, .inside):
            // An encoder that had to shrink it says so itself.
            clause += size.longestSide < min(side, framed.longestSide) ? "" : " because the longest side may be \(side)"
        case (_, .crop): clause += ", square by its profile" + (isCut(region.size) ? ", \(gravity)" : "")
        }
        if region != PixelRect(source) {
            clause += "; of the rectangle \(region.size.words) at \(region.left), \(region.top)"
        }
        return clause
    }

    private func isCut(_ size: PixelSize) -> Bool { framing.scaledSize(of: size) != framing.resultSize(of: size) }

    private var gravity: String {
        switch framing.gravity {
        case .centre: "cropped to its middle"
        case .attention: "cropped to what catches the eye"
        case .point(let x, let y): "cropped to the focal point \(hundredths(x)), \(hundredths(y))"
        }
    }
}

extension PixelSize {
    /// `1038×779`.
    package var words: String { "\(width)×\(height)" }
}

/// `0.5`, `0.33`.
private func hundredths(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
}
