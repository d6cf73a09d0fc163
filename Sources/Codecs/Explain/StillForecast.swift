import Attachments

extension ImagePolicies {
    /// What the still renditions of a picture will be.
    ///
    /// - Parameters:
    ///   - size: Of the upright source.
    ///   - hasAlpha: Whether its pixels can be transparent; only decoding tells whether they are.
    func forecasts(of size: PixelSize, hasAlpha: Bool) -> [Forecast] {
        let region = region(of: size)
        // Renditions are made from this, not from the source, and its sides are rounded.
        let working = workingSize(of: region.size)
        return stills(roles).map { still in
            let result = still.framing.resultSize(of: working)
            return Forecast(
                role: still.role, type: still.type(transparent: hasAlpha), size: result,
                note: "\(still.coding(hasAlpha: hasAlpha)); \(still.shape(of: region, in: size, size: result))")
        }
    }
}

extension StillPolicy {
    /// How it will be encoded: `JPEG quality 82 or less, to stay under the aim of 500000 bytes`.
    func coding(hasAlpha: Bool) -> String {
        var type = type(transparent: hasAlpha).imageName
        if hasAlpha, minds {
            type += " if anything is transparent, else \(self.type(transparent: false).imageName)"
        }
        if self.type(transparent: false) != .png { type += " quality \(quality) or less" }
        let bytes = aim.map { "the aim of \(min($0, cap)) bytes" } ?? "the cap of \(cap) bytes"
        var clause = "\(type), to stay under \(bytes)"
        if hasAlpha, !types.contains(where: \.hasTransparency) {
            clause += ", transparency laid over \(background.hexadecimal)"
        }
        return clause
    }
}
