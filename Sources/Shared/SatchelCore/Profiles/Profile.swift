/// A named policy: sizes, types, durations, aims and caps in bytes, deadline, retention.
///
/// Bytes are decimal: 5, 10 and 50 million for the caps of UNNotificationAttachment. Durations are seconds. A kind
/// without a policy is refused.
public struct Profile: Hashable, Sendable {
    public var name: String
    /// One sentence on what it is for.
    public var summary: String
    /// Seconds from acceptance; nil for none.
    public var deadline: Double?
    /// Seconds that a result submitted over HTTP is kept; nil until it is deleted.
    public var retention: Double?
    /// Whether the source itself is kept as the rendition `original`.
    public var keepsOriginal: Bool
    public var speed: Speed
    public var damaged: WhenDamaged
    public var thumbnail: ThumbnailPolicy?
    public var image: ImagePolicy?
    public var animation: AnimationPolicy?
    public var video: VideoPolicy?
    public var audio: AudioPolicy?

    public init(
        name: String, summary: String = "", deadline: Double? = nil, retention: Double? = nil,
        keepsOriginal: Bool = false, speed: Speed = .standard, damaged: WhenDamaged = .refuse,
        thumbnail: ThumbnailPolicy? = nil, image: ImagePolicy? = nil,
        animation: AnimationPolicy? = nil, video: VideoPolicy? = nil, audio: AudioPolicy? = nil
    ) {
        self.name = name
        self.summary = summary
        self.deadline = deadline
        self.retention = retention
        self.keepsOriginal = keepsOriginal
        self.speed = speed
        self.damaged = damaged
        self.thumbnail = thumbnail
        self.image = image
        self.animation = animation
        self.video = video
        self.audio = audio
    }

    /// Whether the profile has a policy for `kind`.
    public func accepts(_ kind: MediaKind) -> Bool {
        switch kind {
        case .image: image != nil
        case .animation: animation != nil
        case .video: video != nil
        case .audio: audio != nil
        }
    }

    /// Bytes that all that is made of one source may have together; the source itself, where it is kept, isn't.
    public var largestOutputs: Int64 {
        MediaKind.allCases.map { kind in
            RenditionRole.allCases.filter { $0 != .original }.reduce(0) { sum, role in
                // A profile's caps may be as high as they like.
                let (sum, isTooMuch) = sum.addingReportingOverflow(cap(of: role, for: kind) ?? 0)
                return isTooMuch ? .max : sum
            }
        }.max() ?? 0
    }

    /// The cap in bytes of `role` for a source of `kind`; nil where nothing of that role is made.
    public func cap(of role: RenditionRole, for kind: MediaKind) -> Int64? {
        switch (role, kind) {
        case (.main, .image): image?.cap
        case (.main, .animation): animation?.cap
        case (.main, .video): video?.cap
        case (.main, .audio): audio?.cap
        case (.thumbnail, _): thumbnail?.cap
        case (.poster, .video): video?.poster?.cap
        case (.waveform, .audio): audio?.waveform?.cap
        case (.poster, _), (.waveform, _): nil
        case (.original, _): keepsOriginal ? .max : nil
        }
    }
}

/// What matters more where pictures are scaled.
public enum Speed: String, Hashable, Sendable, Codable, CaseIterable {
    /// libvips from the first step to the last, of a source that was decoded whole: what the others are compared with.
    case best
    /// As faithful as a full decode and a Lanczos 3 filter.
    case standard
    /// The decoder scales as far as it can: up to 0.7 dB worse at 1024 pixels.
    case fast
}

/// What becomes of a source of which more than ``Damage/tolerance`` can't be decoded.
public enum WhenDamaged: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is refused as `corrupt`.
    case refuse
    /// What can be decoded is delivered, `reduced`.
    case salvage
}

/// A small square or boxed still; made first, of every kind that can be shown.
public struct ThumbnailPolicy: Hashable, Sendable {
    /// Longest side in pixels.
    public var side = 256
    /// `crop` fills a square; `inside` keeps the shape.
    public var fit: Fit = .crop
    public var cap: Int64 = 200_000
    public var quality = 78
}

/// How a picture meets its box.
public enum Fit: String, Hashable, Sendable, Codable, CaseIterable {
    /// The whole picture, its longest side at most the box's.
    case inside
    /// A square filled by the picture; what sticks out is cropped.
    case crop
}

/// Rules for stills. Sides are pixels of the upright picture, aims and caps bytes, qualities 1…100 as libjpeg has them.
public struct ImagePolicy: Hashable, Sendable {
    /// What may be written, best first: the first that suits is taken (JPEG has no transparency).
    public var types: [MediaType] = [.jpeg, .png]
    /// Pixels; nil keeps the resolution. Pictures are never enlarged.
    public var longestSide: Int?
    public var fit: Fit = .inside
    /// Where a crop looks by default: the middle, or the most salient part.
    public var attention = false
    /// Bytes aimed at.
    public var aim: Int64?
    /// Bytes never exceeded.
    public var cap: Int64 = 10_000_000
    public var quality = 82
    /// The quality below which an aim, not a cap, is given up.
    public var minimumQuality = 50
    /// `#rrggbb`: transparency is flattened over it where no type of `types` has transparency.
    public var background = "#ffffff"
}

/// Rules for animations. Frames, delays and loops are kept if the type has them.
public struct AnimationPolicy: Hashable, Sendable {
    /// `image/gif`, `image/webp` (animated) or `video/mp4` (H.264 without sound); a still type takes the first frame only.
    public var type: MediaType = .gif
    public var longestSide: Int?
    public var aim: Int64?
    public var cap: Int64 = 10_000_000
}

/// What becomes of a clip that is longer than its profile takes and for which no trim was asked.
public enum WhenLonger: String, Hashable, Sendable, Codable, CaseIterable {
    /// Trimmed from its start.
    case trim
    /// Refused as `too_long`.
    case refuse
}

/// How a copied video is checked for damage.
public enum CopyCheck: String, Hashable, Sendable, Codable, CaseIterable {
    /// Reads its index, headers and times, and decodes only groups of frames in doubt. Damage within a frame's data stays.
    case structure
    /// Decodes every frame.
    case decode
}

/// How videos are made: copied where coding, size and bit rate fit, else encoded.
public struct VideoPolicy: Hashable, Sendable {
    /// `video/mp4`: H.264 and AAC with the index first.
    public var type: MediaType = .mp4
    public var longestSide: Int?
    public var aim: Int64?
    public var cap: Int64 = 50_000_000
    /// Seconds.
    public var maximumDuration: Double?
    public var whenLonger: WhenLonger = .trim
    /// x264's constant rate factor where the aim leaves room; lower is better.
    public var rateFactor = 23
    public var check: CopyCheck = .structure
    public var poster: PosterPolicy? = .defaults
}

/// The still that stands for a video; JPEG.
public struct PosterPolicy: Hashable, Sendable {
    public var longestSide = 1038
    public var cap: Int64 = 2_000_000
    public var quality = 80
}

/// How sounds are made: copied where coding and bit rate fit, else encoded.
public struct AudioPolicy: Hashable, Sendable {
    /// What may be written, best first: the first is what is encoded to; a source whose coding one of them holds is
    /// copied. `audio/mp4`, `audio/mpeg` (copies only) and `audio/wav`.
    public var types: [MediaType] = [.m4a, .mp3, .wav]
    public var aim: Int64?
    public var cap: Int64 = 5_000_000
    /// Seconds.
    public var maximumDuration: Double?
    public var whenLonger: WhenLonger = .trim
    /// Bits per second that are encoded at where the aim leaves room.
    public var bitRate = 128_000
    public var waveform: WaveformPolicy? = WaveformPolicy()
}

/// The picture that stands for a sound; PNG with transparency.
public struct WaveformPolicy: Hashable, Sendable {
    public var width = 480
    public var height = 120
    /// Number of peaks in the placeholder.
    public var buckets = 64
    public var cap: Int64 = 200_000
}
