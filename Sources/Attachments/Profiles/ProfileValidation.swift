/// One thing that is wrong with a profile, in the words of its file.
public struct ProfileProblem: Hashable, Sendable, CustomStringConvertible {
    /// The key with its parents: `image.quality`.
    public var key: String
    /// The value as it was read.
    public var value: String
    /// What would do: `must be between 1 and 100`.
    public var remedy: String

    public init(key: String, value: String, remedy: String) {
        self.key = key
        self.value = value
        self.remedy = remedy
    }

    public var description: String {
        value.isEmpty ? "\(key): \(remedy)" : "\(key): \(value) \(remedy)"
    }
}

extension Profile {
    /// Everything that is wrong with the values, all at once; empty for a sound profile.
    public func problems() -> [ProfileProblem] {
        var check = ProfileCheck()
        check.require(!name.isEmpty && name.allSatisfy(\.isNameCharacter), "name", name) {
            "must be made of letters, digits, '-' and '_'"
        }
        check.range(deadline, 0.05...86_400, "deadline", unit: "seconds")
        check.range(retention, 60...3_650 * 86_400, "retention", unit: "seconds")
        check.require(image != nil || animation != nil || video != nil || audio != nil, "profile", name) {
            "must have at least one of image, animation, video, audio"
        }
        if let thumbnail {
            check.range(thumbnail.side, 16...1024, "thumbnail.side", unit: "pixels")
            check.range(thumbnail.quality, 1...100, "thumbnail.quality")
            check.cap(thumbnail.cap, aim: nil, floor: .still([.jpeg, .png]), "thumbnail")
        }
        if let image { check.image(image) }
        if let animation { check.animation(animation) }
        if let video { check.video(video) }
        if let audio { check.audio(audio) }
        return check.problems
    }
}

/// Collects what is wrong.
private struct ProfileCheck {
    /// Sides beyond this are beyond what JPEG and WebP encoders and players take.
    static let sides = 16...16_383
    var problems: [ProfileProblem] = []

    mutating func require(_ holds: Bool, _ key: String, _ value: String, _ remedy: () -> String) {
        if !holds { problems.append(ProfileProblem(key: key, value: value, remedy: remedy())) }
    }

    mutating func range<Value: Comparable>(
        _ value: Value?, _ range: ClosedRange<Value>, _ key: String, unit: String = ""
    ) {
        guard let value else { return }
        require(range.contains(value), key, "\(value)") {
            "must be between \(range.lowerBound) and \(range.upperBound)" + (unit.isEmpty ? "" : " \(unit)")
        }
    }

    mutating func types(_ types: [MediaType], among allowed: [MediaType], _ key: String) {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        require(!types.isEmpty, key, "[]") { "must name at least one of \(names)" }
        for type in types where !allowed.contains(type) {
            require(false, key, type.rawValue) { "must be one of \(names)" }
        }
    }

    /// - Parameter floor: Nil where `types` or the like are wrong already.
    mutating func cap(_ cap: Int64, aim: Int64?, floor: Floor?, _ policy: String) {
        let least = floor?.bytes ?? 1
        require(cap >= least, "\(policy).cap", "\(cap)") {
            "must be at least \(least) bytes" + (floor.map { ": \($0.what) take that" } ?? "")
        }
        guard let aim else { return }
        require(aim >= least && aim <= cap, "\(policy).aim", "\(aim)") {
            "must be between \(least) and the cap of \(cap) bytes"
        }
    }

    /// What a clip lasts at the most; 0 where nothing bounds it, or the bound is wrong.
    private func seconds(_ maximum: Double?) -> Double {
        guard let maximum, maximum.isFinite, maximum > 0 else { return 0 }
        return maximum
    }

    mutating func image(_ image: ImagePolicy) {
        types(image.types, among: [.jpeg, .png, .webp], "image.types")
        range(image.longestSide, Self.sides, "image.longest_side", unit: "pixels")
        range(image.quality, 1...100, "image.quality")
        range(image.minimumQuality, 1...max(1, min(image.quality, 100)), "image.minimum_quality")
        cap(image.cap, aim: image.aim, floor: .still(image.types), "image")
        require(image.background.isColor, "image.background", image.background) { "must be a colour such as #ffffff" }
        require(image.fit == .inside || image.longestSide != nil, "image.fit", image.fit.rawValue) {
            "needs image.longest_side"
        }
    }

    mutating func animation(_ animation: AnimationPolicy) {
        types([animation.type], among: [.gif, .webp, .mp4, .png, .jpeg], "animation.type")
        range(animation.longestSide, Self.sides, "animation.longest_side", unit: "pixels")
        cap(animation.cap, aim: animation.aim, floor: .animation(animation.type), "animation")
    }

    mutating func video(_ video: VideoPolicy) {
        types([video.type], among: [.mp4], "video.type")
        range(video.longestSide, Self.sides, "video.longest_side", unit: "pixels")
        range(video.maximumDuration, 0.1...86_400, "video.maximum_duration", unit: "seconds")
        range(video.rateFactor, 10...45, "video.rate_factor")
        cap(video.cap, aim: video.aim, floor: .video(seconds: seconds(video.maximumDuration)), "video")
        guard let poster = video.poster else { return }
        range(poster.longestSide, Self.sides, "video.poster.longest_side", unit: "pixels")
        range(poster.quality, 1...100, "video.poster.quality")
        cap(poster.cap, aim: nil, floor: .still([.jpeg]), "video.poster")
    }

    mutating func audio(_ audio: AudioPolicy) {
        types(audio.types, among: [.m4a, .mp3, .wav], "audio.types")
        require(audio.types.first != .mp3, "audio.types", MediaType.mp3.rawValue) {
            "can't come first: MP3 is only copied, never encoded"
        }
        range(audio.maximumDuration, 0.1...86_400, "audio.maximum_duration", unit: "seconds")
        range(audio.bitRate, 16_000...320_000, "audio.bit_rate", unit: "bits per second")
        cap(audio.cap, aim: audio.aim, floor: .audio(audio.types, seconds: seconds(audio.maximumDuration)), "audio")
        guard let waveform = audio.waveform else { return }
        range(waveform.width, 16...4096, "audio.waveform.width", unit: "pixels")
        range(waveform.height, 16...4096, "audio.waveform.height", unit: "pixels")
        range(waveform.buckets, 8...1024, "audio.waveform.buckets")
        cap(waveform.cap, aim: nil, floor: .still([.png]), "audio.waveform")
    }
}

extension Character {
    fileprivate var isNameCharacter: Bool {
        isASCII && (isLetter || isNumber || self == "-" || self == "_")
    }
}

extension String {
    /// `#rrggbb`.
    fileprivate var isColor: Bool {
        count == 7 && first == "#" && dropFirst().allSatisfy(\.isHexDigit)
    }
}
