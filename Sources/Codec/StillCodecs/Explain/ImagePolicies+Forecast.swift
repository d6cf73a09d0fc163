package import SatchelCore

extension ImagePolicies {
    /// What the still renditions of a picture will be.
    ///
    /// - Parameters:
    ///   - size: Of the upright source.
    ///   - hasAlpha: Whether its pixels can be transparent; only decoding tells whether they are.
    ///   - source: What may be kept; nil for what never is.
    func forecasts(of size: PixelSize, hasAlpha: Bool, keeping source: StillFacts? = nil) -> [Forecast] {
        let region = region(of: size)
        // Renditions are made from this, not from the source, and its sides are rounded.
        let working = workingSize(of: region.size)
        return stills(roles).map { still in
            let result = still.framing.resultSize(of: working)
            let mayBeKept = source.map { still.obstacle(to: $0, region: region, isWhole: true) == nil } ?? false
            let type = mayBeKept && source?.type == .jpeg ? .jpeg : still.type(transparent: hasAlpha)
            let kept = mayBeKept ? "kept if whole and small, else " : ""
            let coding = kept + still.coding(of: result, hasAlpha: hasAlpha)
            return Forecast(
                role: still.role, type: type, size: result,
                note: "\(coding); \(still.shape(of: region, in: size, size: result))")
        }
    }
}

extension StillPolicy {
    /// How it will be encoded: `JPEG quality 82 or less, PNG if of few colours, to stay under the aim of 500000 bytes`.
    ///
    /// - Parameter size: Of the rendition; nil before it is known.
    package func coding(of size: PixelSize?, hasAlpha: Bool) -> String {
        let (opaque, transparent) = (type(transparent: false), type(transparent: hasAlpha))
        var clause = opaque.format.name + (opaque == .png ? "" : " quality \(quality) or less")
        // Only decoding tells.
        var reasons = opaque == .jpeg && types.contains(.png) ? [isSmall(size) ? "smaller" : "of few colours"] : []
        if hasAlpha, minds, transparent == .png {
            reasons.insert("transparent", at: 0)
            clause = "PNG if \(reasons.joined(separator: " or ")), else \(clause)"
        } else {
            if hasAlpha, minds { clause = "\(transparent.format.name) if transparent, else \(clause)" }
            if let reason = reasons.first { clause += ", PNG if \(reason)" }
        }
        clause += ", to stay under \(bound)"
        if hasAlpha, !types.contains(where: \.hasTransparency) {
            clause += ", transparency laid over \(background.hexadecimal)"
        }
        return clause
    }

    var bound: String { Self.bound(aim, cap) }

    /// `the aim of 500000 bytes`.
    static func bound(_ aim: Int64?, _ cap: Int64) -> String {
        aim.map { "the aim of \(min($0, cap)) bytes" } ?? "the cap of \(cap) bytes"
    }

    private func isSmall(_ size: PixelSize?) -> Bool { size.map { $0.area <= FineColours.mostPixels } ?? false }
}
