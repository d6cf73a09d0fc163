package import SatchelCore

/// What a still rendition may be: its shape, its types, and its bytes.
package struct StillPolicy: Hashable, Sendable {
    package var role: RenditionRole
    package var framing: Framing
    /// What may be written, best first: the first that suits is taken (JPEG has no transparency).
    var types: [MediaType]
    var quality: Int
    /// The quality below which `aim`, not `cap`, is given up.
    var minimumQuality: Int
    /// Bytes aimed at.
    var aim: Int64?
    /// Whether these are the source's, not the profile's.
    var aimsAtSource = false
    /// Bytes never exceeded: quality below `minimumQuality` and pixels are given up before it is.
    var cap: Int64
    /// What transparency is laid over where no type has it.
    var background: RGB
    var speed: Speed

    package init(
        role: RenditionRole, framing: Framing, types: [MediaType] = [.jpeg, .png], quality: Int,
        minimumQuality: Int = 50,
        aim: Int64? = nil, cap: Int64, background: RGB = .white, speed: Speed = .standard
    ) {
        self.role = role
        self.framing = framing
        self.types = types
        self.quality = quality
        self.minimumQuality = minimumQuality
        self.aim = aim
        self.cap = cap
        self.background = background
        self.speed = speed
    }

    /// Whether pixels may not become fewer for the bytes' sake.
    var isFixed: Bool { framing.side == nil }

    /// Whether what is written of an opaque picture has its colours at half their resolution, where no effort is made for
    /// more.
    var halvesChroma: Bool { types.first == .jpeg || types.first == .webp }

    /// The lowest quality that an aim is worth.
    var floorQuality: Int { min(minimumQuality, quality) }

    /// The thumbnail that `profile` asks for; nil where it asks for none.
    static func thumbnail(of profile: Profile, gravity: Framing.Gravity = .centre) -> StillPolicy? {
        guard let policy = profile.thumbnail else { return nil }
        return StillPolicy(
            role: .thumbnail, framing: Framing(side: policy.side, fit: policy.fit, gravity: gravity),
            quality: policy.quality, cap: policy.cap, speed: profile.speed)
    }
}
