// The tables of all fields. A new field gets its line here, its place in the API's document and the client's type, which
// tests ask for, and its meaning where renditions are made.

extension Profile: ProfilePart {
    public static let defaults = Profile(name: "")

    public static let fields: [ProfileField<Profile>] = [
        ProfileField("name", \.name, .name, "Name of the profile."),
        ProfileField("summary", \.summary, .text, "One sentence on the purpose of the profile."),
        ProfileField(
            "deadline", \.deadline, .seconds(0.05...86_400),
            "Maximum time after acceptance; renditions that are ready by then are delivered. Null sets no deadline."),
        ProfileField(
            "retention", \.retention, .seconds(60...3_650 * 86_400),
            "How long results submitted over HTTP are kept; null keeps them until they are deleted."),
        ProfileField(
            "keeps_original", \.keepsOriginal, .flag,
            "If true, the source is kept too, as the rendition `original`."),
        ProfileField(
            "speed", \.speed, .choice,
            "Quality of scaling. `best` decodes the whole source and scales it with libvips. `standard` matches a full decode and a Lanczos 3 filter. `fast` lets the decoder scale as far as it can, up to 0.7 dB worse at 1024 pixels."
        ),
        ProfileField(
            "damaged", \.damaged, .choice,
            "If more than 2 % of a source cannot be decoded, `refuse` fails with `corrupt`. `salvage` delivers the rest as `reduced`."
        ),
        ProfileField(
            "thumbnail", \.thumbnail,
            "Policy for the small still that is made first for every visible kind; null makes none."),
        ProfileField("image", \.image, "Policy for stills; null rejects them."),
        ProfileField(
            "animation", \.animation,
            "Policy for animations, which keep their frames, delays and loops; null rejects them."),
        ProfileField(
            "video", \.video,
            "Policy for videos, which are copied if they fit and otherwise encoded; null rejects them."),
        ProfileField(
            "audio", \.audio,
            "Policy for audio, which is copied if it fits and otherwise encoded; null rejects it."),
    ]

    /// Everything that is wrong with the values, all at once; empty for a sound profile.
    public func problems() -> [ProfileProblem] {
        let isEmpty = image == nil && animation == nil && video == nil && audio == nil
        return problems
            + (isEmpty
                ? [
                    ProfileProblem(
                        key: "profile", value: name,
                        remedy: "must have at least one of image, animation, video, audio")
                ] : [])
    }
}

extension ThumbnailPolicy: Capped {
    public static let defaults = ThumbnailPolicy()

    public static let fields: [ProfileField<ThumbnailPolicy>] = [
        ProfileField("side", \.side, .integer(16...1024, of: "pixels"), "Longest side."),
        ProfileField(
            "fit", \.fit, .choice, "With `crop`, it fills a square. With `inside`, it keeps the aspect ratio."),
        .cap, .quality(\.quality),
    ]

    var minimum: MinimumEncodedSize? { .still([.jpeg, .png]) }
}

extension ImagePolicy: Aimed {
    public static let defaults = ImagePolicy()

    public static let fields: [ProfileField<ImagePolicy>] = [
        ProfileField(
            "types", \.types, .types(among: [.jpeg, .png, .webp]),
            "Output types, in order of preference. The first suitable one is used (JPEG has no transparency)."),
        .longestSide(\.longestSide),
        ProfileField(
            "fit", \.fit, .choice,
            "With `inside`, it keeps the aspect ratio. With `crop`, it fills a square of `longest_side`."
        ) { $0.fit == .inside || $0.longestSide != nil ? nil : "needs longest_side" },
        ProfileField(
            "attention", \.attention, .flag,
            "If true, a crop keeps the most salient part by default; otherwise it keeps the middle."
        ),
        .aim, .cap, .quality(\.quality),
        ProfileField(
            "minimum_quality", \.minimumQuality, .integer(1...100),
            "Lowest quality for meeting the aim. The cap is met even below it."
        ) {
            let most = max(1, min($0.quality, 100))
            return $0.minimumQuality <= most ? nil : "must be at most the quality of \(most)"
        },
        ProfileField(
            "background", \.background, .colour, "Background color if none of `types` supports transparency."
        ),
    ]

    var minimum: MinimumEncodedSize? { .still(types) }
}

extension AnimationPolicy: Aimed {
    public static let defaults = AnimationPolicy()

    public static let fields: [ProfileField<AnimationPolicy>] = [
        ProfileField(
            "type", \.type, .type(among: [.gif, .webp, .mp4, .png, .jpeg]),
            "Output type. GIF, animated WebP and MP4 (without sound) keep the animation; PNG and JPEG have only the first frame."
        ),
        .longestSide(\.longestSide), .aim, .cap,
    ]

    var minimum: MinimumEncodedSize? { .animation(type) }
}

extension VideoPolicy: Aimed {
    public static let defaults = VideoPolicy()

    public static let fields: [ProfileField<VideoPolicy>] = [
        ProfileField(
            "type", \.type, .type(among: [.mp4]), "Output type: MP4 with H.264 and AAC, with the index first."),
        .longestSide(\.longestSide), .aim, .cap, .maximumDuration(\.maximumDuration), .whenLonger(\.whenLonger),
        ProfileField(
            "rate_factor", \.rateFactor, .integer(10...45),
            "x264's constant rate factor, if the size limits allow it; lower is better."),
        ProfileField(
            "check", \.check, .choice,
            "Check of a copied video for damage. `structure` reads its index, headers and times, and decodes doubtful groups of frames. `decode` decodes every frame."
        ),
        ProfileField("poster", \.poster, "Policy for the JPEG that represents the video; null makes none."),
    ]

    var minimum: MinimumEncodedSize? { .video(seconds: MinimumEncodedSize.seconds(maximumDuration)) }
}

extension PosterPolicy: Capped {
    public static let defaults = PosterPolicy()

    public static let fields: [ProfileField<PosterPolicy>] = [
        ProfileField(
            "longest_side", \.longestSide, .sides, "Maximum length of the longer side. Posters are never enlarged."),
        .cap, .quality(\.quality),
    ]

    var minimum: MinimumEncodedSize? { .still([.jpeg]) }
}

extension AudioPolicy: Aimed {
    public static let defaults = AudioPolicy()

    public static let fields: [ProfileField<AudioPolicy>] = [
        ProfileField(
            "types", \.types, .types(among: [.m4a, .mp3, .wav]),
            "Output types, in order of preference. Encoding uses the first one; sources that fit another one are copied."
        ) {
            $0.types.first == .mp3
                ? "must not begin with \(MediaType.mp3.rawValue): MP3 is only copied, never encoded" : nil
        },
        .aim, .cap, .maximumDuration(\.maximumDuration), .whenLonger(\.whenLonger),
        ProfileField(
            "bit_rate", \.bitRate, .integer(16_000...320_000, of: "bits per second"),
            "Bit rate for encoding, if the size limits allow it."),
        ProfileField(
            "waveform", \.waveform,
            "Policy for the PNG that represents the audio, and for the peaks in its placeholder; null makes none."),
    ]

    var minimum: MinimumEncodedSize? { .audio(types, seconds: MinimumEncodedSize.seconds(maximumDuration)) }
}

extension WaveformPolicy: Capped {
    public static let defaults = WaveformPolicy()

    public static let fields: [ProfileField<WaveformPolicy>] = [
        ProfileField("width", \.width, .integer(16...4096, of: "pixels"), "Width of the picture."),
        ProfileField("height", \.height, .integer(16...4096, of: "pixels"), "Height of the picture."),
        ProfileField("buckets", \.buckets, .integer(8...1024), "Number of peaks in the placeholder."),
        .cap,
    ]

    var minimum: MinimumEncodedSize? { .still([.png]) }
}

// MARK: What several have

/// A policy whose results have a cap.
protocol Capped: ProfilePart {
    var cap: Int64 { get set }
    /// Below which nothing fits; nil where the types are wrong already.
    var minimum: MinimumEncodedSize? { get }
}

/// A policy whose results also have an aim.
protocol Aimed: Capped {
    var aim: Int64? { get set }
}

extension ProfileField where Part: Capped {
    static var cap: Self {
        ProfileField(
            "cap", \.cap, .bytes,
            "Maximum size, never exceeded. Quality is lowered first, then dimensions, as far as the type has them."
        ) {
            part in
            guard let minimum = part.minimum else { return part.cap >= 1 ? nil : "must be at least 1 byte" }
            return part.cap >= minimum.bytes
                ? nil : "must be at least \(minimum.bytes) bytes: \(minimum.what) take that"
        }
    }
}

extension ProfileField where Part: Aimed {
    static var aim: Self {
        ProfileField("aim", \.aim, .bytes, "Target size, met as long as the quality allows; null sets none.") { part in
            let least = part.minimum?.bytes ?? 1
            guard let aim = part.aim, aim < least || aim > part.cap else { return nil }
            return "must be between \(least) and the cap of \(part.cap) bytes"
        }
    }
}

extension ProfileField {
    static func quality(_ path: any Path<Int>) -> Self {
        ProfileField(
            "quality", path, .integer(1...100), "Encoder quality on libjpeg's scale, if the size limits allow it.")
    }

    static func longestSide(_ path: any Path<Int?>) -> Self {
        ProfileField(
            "longest_side", path, FieldKind.sides,
            "Maximum length of the upright picture's longer side; null keeps the resolution. Pictures are never enlarged."
        )
    }

    static func maximumDuration(_ path: any Path<Double?>) -> Self {
        ProfileField("maximum_duration", path, .seconds(0.1...86_400), "Maximum duration; null sets none.")
    }

    static func whenLonger(_ path: any Path<WhenLonger>) -> Self {
        ProfileField(
            "when_longer", path, .choice,
            "If a source is longer and no trim was requested, `trim` keeps its start. `refuse` fails with `too_long`."
        )
    }
}

extension FieldKind<Int> {
    /// Sides beyond this are beyond what JPEG and WebP encoders and players take.
    fileprivate static var sides: Self { integer(16...16_383, of: "pixels") }
}

extension MinimumEncodedSize {
    /// What a clip lasts at the most; 0 where nothing bounds it, or the bound is wrong.
    fileprivate static func seconds(_ maximum: Double?) -> Double {
        guard let maximum, maximum.isFinite, maximum > 0 else { return 0 }
        return maximum
    }
}
