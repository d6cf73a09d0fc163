/// The messages between the service and a codec process, in this order:
///
///     service → codec   order (with the source's descriptor)
///     codec → service   probe result                            | failed | beyondDecoderSet
///     service → codec   proceed (a descriptor for each output)  | stop
///     codec → service   rendition, smallest first, one each     | failed
///     codec → service   finished
///
/// One message is one packet of a `SOCK_SEQPACKET` socket, JSON of at most ``CodecMessage/maximumBytes``.
public enum ServiceMessage: Hashable, Sendable, Codable {
    case order(WorkOrder)
    case proceed(RenderCommand)
    case stop
}

/// What a codec process says. The service believes none of it without a look: see ``ServiceMessage``.
public enum CodecMessage: Hashable, Sendable, Codable {
    case probeResult(ProbeResult)
    case rendition(RenditionReport)
    case finished(Ending)
    /// The source is refused; nothing more follows.
    case failed(AttachmentError)
    /// The source is for a process of the full decoder set; nothing more follows.
    case beyondDecoderSet

    /// A longer packet breaks the protocol.
    public static let maximumBytes = 64 << 10
}

/// What a source is, by the decoder that will decode it, before a pixel was decoded.
public struct ProbeResult: Hashable, Sendable, Codable {
    public var kind: MediaKind
    public var type: MediaType
    /// libmagic's media type.
    public var sniffedType: String
    /// Upright; nil for audio.
    public var size: PixelSize?
    /// Frames of an animation, where the container tells.
    public var frames: Int?
    /// Seconds.
    public var duration: Double?
    /// For a person: `HEIC, 4032×3024, upright after rotation by 90°`.
    public var note: String
    /// What its headers tell of it.
    public var diagnosis: Diagnosis
    /// The renditions that will be made for the order's profile, smallest first.
    public var planned: [RenditionRole]
    public var estimate: Estimate
    /// What will be made, one for each of ``planned``, where the order wants to know; else empty.
    public var forecasts: [Forecast]
    /// Seconds that identifying took.
    public var seconds: Double

    public init(
        kind: MediaKind, type: MediaType, sniffedType: String, size: PixelSize? = nil, frames: Int? = nil,
        duration: Double? = nil, note: String, diagnosis: Diagnosis = Diagnosis(), planned: [RenditionRole],
        estimate: Estimate, forecasts: [Forecast] = [], seconds: Double = 0
    ) {
        self.kind = kind
        self.type = type
        self.sniffedType = sniffedType
        self.size = size
        self.frames = frames
        self.duration = duration
        self.note = note
        self.diagnosis = diagnosis
        self.planned = planned
        self.estimate = estimate
        self.forecasts = forecasts
        self.seconds = seconds
    }
}

/// What a rendition will be, as far as it can be told before a pixel is decoded.
public struct Forecast: Hashable, Sendable, Codable {
    public var role: RenditionRole
    public var type: MediaType
    @Nullable public var size: PixelSize?
    /// Seconds.
    @Nullable public var duration: Double?
    /// How a clip will be cut.
    @Nullable public var method: TrimMethod?
    /// What will be done and why, for a person, in the words of the step that will tell of it.
    public var note: String

    public init(
        role: RenditionRole, type: MediaType, size: PixelSize? = nil, duration: Double? = nil,
        method: TrimMethod? = nil, note: String
    ) {
        self.role = role
        self.type = type
        self.size = size
        self.duration = duration
        self.method = method
        self.note = note
    }
}

/// What making the planned renditions is expected to cost.
public struct Estimate: Hashable, Sendable, Codable {
    /// Bytes of memory at the peak.
    public var memory: Int64
    public var cpuSeconds: Double

    public init(memory: Int64, cpuSeconds: Double) {
        self.memory = memory
        self.cpuSeconds = cpuSeconds
    }
}

/// The service's consent to the renditions in `outputs`; their descriptors, opened for reading and writing, travel
/// with it in the same order.
public struct RenderCommand: Hashable, Sendable, Codable {
    /// Bytes of memory granted; the process's limit was lowered to it.
    public var memory: Int64
    public var outputs: [RenditionRole]
    /// What the process adds to its nice value, 0 to 19: work that must not hold up other work.
    public var niceness: Int
    /// Seconds, from when the codec process receives this, until it should be done; nil for no hurry. What is not ready by
    /// then is not waited for: the process is killed soon after.
    public var secondsLeft: Double?

    /// For a costly source and for bulk work: about a tenth of the processor time of another process that wants it all (the kernel's
    /// weights are 110 at 10 and 1024 at 0), and all that nobody wants.
    public static let sparingNiceness = 10

    public init(
        memory: Int64, outputs: [RenditionRole], niceness: Int = 0, secondsLeft: Double? = nil
    ) {
        self.memory = memory
        self.outputs = outputs
        self.niceness = niceness
        self.secondsLeft = secondsLeft
    }
}

/// What a second look at a written clip found of a track.
public struct DeliveredTrack: Hashable, Sendable, Codable {
    public var kind: Diagnosis.Track.Kind
    /// Those that are played.
    public var packets: Int
    /// When the last one ends, in seconds.
    public var end: Double
    /// Seconds in which nothing begins, although other seconds have ten packets.
    public var empty: Double

    public init(_ kind: Diagnosis.Track.Kind, packets: Int = 0, end: Double = 0, empty: Double = 0) {
        self.kind = kind
        self.packets = packets
        self.end = end
        self.empty = empty
    }

    /// Seconds without a beginning, of at least one each and as long as ten usual packets.
    ///
    /// - Parameters:
    ///   - times: When each packet begins, in any order.
    ///   - end: When the clip ends.
    package static func gaps(in times: [Double], until end: Double) -> Double {
        let sorted = times.sorted() + [end]
        let steps = zip(sorted.dropFirst(), sorted).map { $0 - $1 }
        guard !steps.isEmpty, case let usual = steps.sorted()[steps.count / 2], usual.isFinite else { return 0 }
        return steps.filter { $0 > max(1, usual * 10) }.reduce(0) { $0 + $1 - usual }
    }
}

/// One finished output. By then the codec has closed its descriptor.
public struct RenditionReport: Hashable, Sendable, Codable {
    public var role: RenditionRole
    public var type: MediaType
    public var size: PixelSize?
    /// Seconds.
    public var duration: Double?
    public var bytes: Int64
    /// Seconds that making it took.
    public var seconds: Double
    /// For a person: `JPEG quality 82, 1 encode, under the aim of 500000 bytes`.
    public var note: String
    /// The reason for cheaper settings; nil where none were used.
    public var haste: Finding?
    /// How often it was encoded until its bytes suited; 0 where packets were copied or coefficients kept.
    public var encodes: Int
    /// The tracks of a clip.
    public var tracks: [DeliveredTrack]

    public init(
        role: RenditionRole, type: MediaType, size: PixelSize? = nil, duration: Double? = nil, bytes: Int64,
        seconds: Double = 0, note: String, haste: Finding? = nil, encodes: Int = 1,
        tracks: [DeliveredTrack] = []
    ) {
        self.role = role
        self.type = type
        self.size = size
        self.duration = duration
        self.bytes = bytes
        self.seconds = seconds
        self.note = note
        self.haste = haste
        self.encodes = encodes
        self.tracks = tracks
    }
}

/// The last word of a codec process: what is known only when all is made.
public struct Ending: Hashable, Sendable, Codable {
    public var trim: TrimReport?
    public var placeholder: Placeholder?
    /// The clipping rectangle and time that the client asked for, in terms of the output.
    public var thumbnailClippingRect: UnitRect?
    public var thumbnailTime: Double?
    /// What a decoder said of what it could work around, in its own words.
    public var warnings: [String]
    /// What the file is, and what was found, left out, lost and changed, renditions that weren't made among it.
    public var diagnosis: Diagnosis

    public init(
        trim: TrimReport? = nil, placeholder: Placeholder? = nil, thumbnailClippingRect: UnitRect? = nil,
        thumbnailTime: Double? = nil, warnings: [String] = [], diagnosis: Diagnosis = Diagnosis()
    ) {
        self.trim = trim
        self.placeholder = placeholder
        self.thumbnailClippingRect = thumbnailClippingRect
        self.thumbnailTime = thumbnailTime
        self.warnings = warnings
        self.diagnosis = diagnosis
    }
}
