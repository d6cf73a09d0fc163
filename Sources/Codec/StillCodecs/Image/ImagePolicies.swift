package import SatchelCore

/// What an order asks of a picture: which part of it, and the still renditions, smallest first.
package struct ImagePolicies: Hashable, Sendable {
    package private(set) var thumbnail: StillPolicy?
    /// Nil where the main rendition is an animation.
    private(set) var main: StillPolicy?
    private let crop: UnitRect?
    let roles: [RenditionRole]

    package init(order: WorkOrder, kind: MediaKind) {
        let profile = order.profile
        let gravity: Framing.Gravity =
            switch order.request.crop {
            case .focalPoint(let x, let y): .point(x: min(max(x, 0), 1), y: min(max(y, 0), 1))
            case .attention: .attention
            case .centre: .centre
            case .rect, nil: profile.image?.attention == true ? .attention : .centre
            }
        if case .rect(let rect) = order.request.crop, rect.isValid { crop = rect } else { crop = nil }
        thumbnail = .thumbnail(of: profile, gravity: gravity)
        switch kind {
        case .image: main = profile.image.map { Self.main($0, gravity: gravity, speed: profile.speed) }
        case .animation:
            main = profile.animation.flatMap {
                Self.still($0, beside: profile.image, gravity: gravity, speed: profile.speed)
            }
        case .audio, .video: main = nil
        }
        roles = (thumbnail == nil ? [] : [.thumbnail]) + (profile.accepts(kind) ? [.main] : [])
    }

    private static func main(_ policy: ImagePolicy, gravity: Framing.Gravity, speed: Speed) -> StillPolicy {
        StillPolicy(
            role: .main, framing: Framing(side: policy.longestSide, fit: policy.fit, gravity: gravity),
            types: policy.types, quality: policy.quality, minimumQuality: policy.minimumQuality, aim: policy.aim,
            cap: policy.cap, background: RGB(policy.background) ?? .white, speed: speed)
    }

    /// An animation's first frame, where its policy wants a still; shaped as the profile shapes images.
    private static func still(
        _ policy: AnimationPolicy, beside image: ImagePolicy?, gravity: Framing.Gravity, speed: Speed
    ) -> StillPolicy? {
        guard policy.type.format.animation == nil else { return nil }
        var still = main(image ?? .defaults, gravity: gravity, speed: speed)
        still.types = [policy.type]
        still.framing.side = policy.longestSide
        still.aim = policy.aim
        still.cap = policy.cap
        return still
    }

    /// The same for a deadline that is near: a main rendition of half the sides, so that a decoder that can shrinks twice as
    /// far, and a quarter of the pixels is scaled and encoded.
    ///
    /// - Parameter size: Of the upright source.
    func reduced(for size: PixelSize) -> ImagePolicies {
        var policies = self
        guard let framing = main?.framing else { return self }
        let shown = framing.resultSize(of: region(of: size).size).longestSide
        policies.main?.framing.side = max(1, shown / 2, thumbnail?.framing.side ?? 1)
        return policies
    }

    /// The still renditions among `roles`, smallest first.
    func stills(_ roles: [RenditionRole]) -> [StillPolicy] {
        [thumbnail, main].compactMap(\.self).filter { roles.contains($0.role) }
    }

    /// The part of an upright picture that is shown at all.
    package func region(of size: PixelSize) -> PixelRect {
        crop.map { PixelRect($0, in: size) } ?? PixelRect(size)
    }

    /// The size to which a region is decoded so that every still rendition can be made from it.
    func workingSize(of region: PixelSize) -> PixelSize {
        stills([.thumbnail, .main]).map { $0.framing.scaledSize(of: region) }.max { $0.area < $1.area } ?? region
    }
}
