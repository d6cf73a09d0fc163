// The tables of all fields. A new field gets its line here, `isLater`, its place in the API's document and the client's
// type, which tests ask for, and its meaning where renditions are made.

extension Profile: ProfilePart {
    public static let defaults = Profile(name: "")

    public static let fields: [ProfileField<Profile>] = [
        ProfileField("name", \.name, .name, "What it is called."),
        ProfileField("summary", \.summary, .text, "One sentence on what it is for."),
        ProfileField(
            "deadline", \.deadline, .seconds(0.05...86_400),
            "From acceptance; what is ready then is delivered. Null is none."),
        ProfileField(
            "retention", \.retention, .seconds(60...3_650 * 86_400),
            "How long a result that was submitted over HTTP is kept; null keeps it until it is deleted."),
        ProfileField(
            "keeps_original", \.keepsOriginal, .flag,
            "Whether the source itself is kept beside the others, as the rendition original."),
        ProfileField(
            "speed", \.speed, .choice,
            "What matters more where pictures are scaled: best takes libvips from the first step to the last, over a source decoded whole; standard is as faithful as a full decode and a Lanczos 3 filter; fast lets the decoder scale as far as it can, up to 0.7 dB worse at 1024 pixels."
        ),
        ProfileField(
            "damaged", \.damaged, .choice,
            "What becomes of a source of which more than a fiftieth can't be decoded: refuse calls it corrupt; salvage delivers what can be decoded, as reduced.",
            isLater: true),
        ProfileField(
            "thumbnail", \.thumbnail,
            "The small still that is made first, of every kind that can be shown; null for none."),
        ProfileField("image", \.image, "How stills are made; null refuses them."),
        ProfileField(
            "animation", \.animation,
            "How animations are made, whose frames, delays and loops are kept; null refuses them."),
        ProfileField(
            "video", \.video,
            "How videos are made, which are copied where they fit and encoded elsewhere; null refuses them."),
        ProfileField(
            "audio", \.audio,
            "How sounds are made, which are copied where they fit and encoded elsewhere; null refuses them."),
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
        ProfileField("side", \.side, .integer(16...1024, of: "pixels"), "The longest side."),
        ProfileField("fit", \.fit, .choice, "crop fills a square; inside keeps the shape."),
        .cap, .quality(\.quality),
    ]

    var minimum: MinimumEncodedSize? { .still([.jpeg, .png]) }
}

extension ImagePolicy: Aimed {
    public static let defaults = ImagePolicy()

    public static let fields: [ProfileField<ImagePolicy>] = [
        ProfileField(
            "types", \.types, .types(among: [.jpeg, .png, .webp]),
            "What may be written, best first: the first that suits is taken (JPEG has no transparency)."),
        .longestSide(\.longestSide),
        ProfileField(
            "fit", \.fit, .choice,
            "inside keeps the shape; crop fills a square of longest_side, and what sticks out is cut off."
        ) { $0.fit == .inside || $0.longestSide != nil ? nil : "needs longest_side" },
        ProfileField(
            "attention", \.attention, .flag,
            "Whether a crop looks for the most salient part, where the submission doesn't say; else it takes the middle."
        ),
        .aim, .cap, .quality(\.quality),
        ProfileField(
            "minimum_quality", \.minimumQuality, .integer(1...100),
            "The quality below which an aim is given up; a cap is not."
        ) {
            let most = max(1, min($0.quality, 100))
            return $0.minimumQuality <= most ? nil : "must be at most the quality of \(most)"
        },
        ProfileField(
            "background", \.background, .colour, "What transparency is laid over where none of types has any."),
    ]

    var minimum: MinimumEncodedSize? { .still(types) }
}

extension AnimationPolicy: Aimed {
    public static let defaults = AnimationPolicy()

    public static let fields: [ProfileField<AnimationPolicy>] = [
        ProfileField(
            "type", \.type, .type(among: [.gif, .webp, .mp4, .png, .jpeg]),
            "What is written: GIF, animated WebP, or a video without sound; PNG and JPEG take the first frame alone."),
        .longestSide(\.longestSide), .aim, .cap,
    ]

    var minimum: MinimumEncodedSize? { .animation(type) }
}

extension VideoPolicy: Aimed {
    public static let defaults = VideoPolicy()

    public static let fields: [ProfileField<VideoPolicy>] = [
        ProfileField("type", \.type, .type(among: [.mp4]), "What is written: H.264 and AAC, the index first."),
        .longestSide(\.longestSide), .aim, .cap, .maximumDuration(\.maximumDuration), .whenLonger(\.whenLonger),
        ProfileField(
            "rate_factor", \.rateFactor, .integer(10...45),
            "x264's constant rate factor where the aim leaves room; lower is better."),
        ProfileField("poster", \.poster, "The JPEG that stands for the video; null for none."),
    ]

    var minimum: MinimumEncodedSize? { .video(seconds: MinimumEncodedSize.seconds(maximumDuration)) }
}

extension PosterPolicy: Capped {
    public static let defaults = PosterPolicy()

    public static let fields: [ProfileField<PosterPolicy>] = [
        ProfileField("longest_side", \.longestSide, .sides, "Posters are never enlarged."), .cap, .quality(\.quality),
    ]

    var minimum: MinimumEncodedSize? { .still([.jpeg]) }
}

extension AudioPolicy: Aimed {
    public static let defaults = AudioPolicy()

    public static let fields: [ProfileField<AudioPolicy>] = [
        ProfileField(
            "types", \.types, .types(among: [.m4a, .mp3, .wav]),
            "What may be written, best first: the first is what is encoded to; what one of them can hold is copied."
        ) {
            $0.types.first == .mp3
                ? "must not begin with \(MediaType.mp3.rawValue): MP3 is only copied, never encoded" : nil
        },
        .aim, .cap, .maximumDuration(\.maximumDuration), .whenLonger(\.whenLonger),
        ProfileField(
            "bit_rate", \.bitRate, .integer(16_000...320_000, of: "bits per second"),
            "What is encoded at where the aim leaves room."),
        ProfileField(
            "waveform", \.waveform,
            "The PNG that stands for the sound, and the peaks of its placeholder; null for none."),
    ]

    var minimum: MinimumEncodedSize? { .audio(types, seconds: MinimumEncodedSize.seconds(maximumDuration)) }
}

extension WaveformPolicy: Capped {
    public static let defaults = WaveformPolicy()

    public static let fields: [ProfileField<WaveformPolicy>] = [
        ProfileField("width", \.width, .integer(16...4096, of: "pixels"), "Of the picture."),
        ProfileField("height", \.height, .integer(16...4096, of: "pixels"), "Of the picture."),
        ProfileField("buckets", \.buckets, .integer(8...1024), "How many peaks the placeholder has."),
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
        ProfileField("cap", \.cap, .bytes, "Never exceeded: quality gives way first, then size.") { part in
            guard let minimum = part.minimum else { return part.cap >= 1 ? nil : "must be at least 1 byte" }
            return part.cap >= minimum.bytes
                ? nil : "must be at least \(minimum.bytes) bytes: \(minimum.what) take that"
        }
    }
}

extension ProfileField where Part: Aimed {
    static var aim: Self {
        ProfileField("aim", \.aim, .bytes, "What is aimed at, while the quality holds; null aims at nothing.") { part in
            let least = part.minimum?.bytes ?? 1
            guard let aim = part.aim, aim < least || aim > part.cap else { return nil }
            return "must be between \(least) and the cap of \(part.cap) bytes"
        }
    }
}

extension ProfileField {
    static func quality(_ path: any Path<Int>) -> Self {
        ProfileField("quality", path, .integer(1...100), "Where the aim leaves room; as libjpeg has it.")
    }

    static func longestSide(_ path: any Path<Int?>) -> Self {
        ProfileField(
            "longest_side", path, FieldKind.sides,
            "Of the upright picture, which is never enlarged; null keeps the resolution.")
    }

    static func maximumDuration(_ path: any Path<Double?>) -> Self {
        ProfileField("maximum_duration", path, .seconds(0.1...86_400), "What one may last; null is as long as it is.")
    }

    static func whenLonger(_ path: any Path<WhenLonger>) -> Self {
        ProfileField(
            "when_longer", path, .choice,
            "What becomes of one that lasts longer and for which no trim was asked: trim cuts it from its start; refuse calls it too long."
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
