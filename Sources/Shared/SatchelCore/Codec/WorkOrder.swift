/// What the client asked of one attachment, beyond its profile. Rectangles and times refer to the upright, untrimmed
/// source.
public struct RenditionRequest: Hashable, Sendable, Codable {
    public var trim: TrimRequest?
    public var crop: Crop?
    /// Seconds into a clip.
    public var thumbnailTime: Double?
    /// A frame of an animation.
    public var thumbnailFrame: Int?
    /// The part to show as a thumbnail, which ``Ending/thumbnailClippingRect`` gives back in terms of the output.
    public var thumbnailClippingRect: UnitRect?

    public init(
        trim: TrimRequest? = nil, crop: Crop? = nil, thumbnailTime: Double? = nil, thumbnailFrame: Int? = nil,
        thumbnailClippingRect: UnitRect? = nil
    ) {
        self.trim = trim
        self.crop = crop
        self.thumbnailTime = thumbnailTime
        self.thumbnailFrame = thumbnailFrame
        self.thumbnailClippingRect = thumbnailClippingRect
    }
}

/// The first message to a codec process; the source's descriptor, read-only, travels with it.
public struct WorkOrder: Hashable, Sendable, Codable {
    public var profile: Profile
    public var request: RenditionRequest
    public var limits: Limits
    public var ceilings: Ceilings
    /// Whether ``ProbeResult/forecasts`` are wanted, which may take reading all of a clip's part.
    public var wantsForecasts: Bool

    public init(
        profile: Profile, request: RenditionRequest = RenditionRequest(), limits: Limits = .service,
        ceilings: Ceilings = Ceilings(), wantsForecasts: Bool = false
    ) {
        self.profile = profile
        self.request = request
        self.limits = limits
        self.ceilings = ceilings
        self.wantsForecasts = wantsForecasts
    }
}

/// What a codec process may use at the most; the kernel holds it to that.
public struct Ceilings: Hashable, Sendable, Codable {
    /// Bytes of address space beyond what the process has when it receives its order.
    public var memory: Int64
    /// CPU seconds.
    public var cpuSeconds: Int
    /// Bytes of one output.
    public var fileBytes: Int64

    /// Bytes of address space on top of every memory limit: stacks of threads and malloc's arenas reserve it and
    /// never touch it. 256 MiB hold two arenas of 64 MiB and 16 stacks of 8 MiB.
    public static let addressSpaceSlack: Int64 = 256 << 20

    public init(memory: Int64 = 2 << 30, cpuSeconds: Int = 600, fileBytes: Int64 = 4_200_000_000) {
        self.memory = memory
        self.cpuSeconds = cpuSeconds
        self.fileBytes = fileBytes
    }
}
