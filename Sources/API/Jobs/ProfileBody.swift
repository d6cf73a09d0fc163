import Attachments

/// A profile as the API shows it: the same as ``Profile``, but nothing that is absent is left out.
struct ProfileBody: Encodable {
    struct Image: Encodable {
        var types: [MediaType]
        @Nullable var longestSide: Int?
        var fit: Fit
        @Nullable var aim: Int64?
        var cap: Int64
    }

    struct Animation: Encodable {
        var type: MediaType
        @Nullable var longestSide: Int?
        @Nullable var aim: Int64?
        var cap: Int64
    }

    struct Video: Encodable {
        var type: MediaType
        @Nullable var longestSide: Int?
        @Nullable var aim: Int64?
        var cap: Int64
        @Nullable var maximumDuration: Double?
        var whenLonger: WhenLonger
        @Nullable var poster: PosterPolicy?
    }

    struct Audio: Encodable {
        var types: [MediaType]
        @Nullable var aim: Int64?
        var cap: Int64
        @Nullable var maximumDuration: Double?
        var whenLonger: WhenLonger
        @Nullable var waveform: WaveformPolicy?
    }

    var name: String
    var summary: String
    @Nullable var deadline: Double?
    @Nullable var retention: Double?
    var keepsOriginal: Bool
    var damaged: WhenDamaged
    @Nullable var thumbnail: ThumbnailPolicy?
    @Nullable var image: Image?
    @Nullable var animation: Animation?
    @Nullable var video: Video?
    @Nullable var audio: Audio?

    init(_ profile: Profile) {
        name = profile.name
        summary = profile.summary
        deadline = profile.deadline
        retention = profile.retention
        keepsOriginal = profile.keepsOriginal
        damaged = profile.damaged
        thumbnail = profile.thumbnail
        image = profile.image.map {
            Image(types: $0.types, longestSide: $0.longestSide, fit: $0.fit, aim: $0.aim, cap: $0.cap)
        }
        animation = profile.animation.map {
            Animation(type: $0.type, longestSide: $0.longestSide, aim: $0.aim, cap: $0.cap)
        }
        video = profile.video.map {
            Video(
                type: $0.type, longestSide: $0.longestSide, aim: $0.aim, cap: $0.cap,
                maximumDuration: $0.maximumDuration, whenLonger: $0.whenLonger, poster: $0.poster)
        }
        audio = profile.audio.map {
            Audio(
                types: $0.types, aim: $0.aim, cap: $0.cap, maximumDuration: $0.maximumDuration,
                whenLonger: $0.whenLonger, waveform: $0.waveform)
        }
    }
}
