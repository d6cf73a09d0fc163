import ArgumentParser
import SatchelCore

/// What is asked of one attachment beyond its profile. Rectangles and times refer to the upright, untrimmed source.
struct RequestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where a clip or an animation starts, in seconds.", valueName: "seconds"))
    var trimStart: Double?

    @Option(help: ArgumentHelp("How long a clip or an animation lasts, in seconds.", valueName: "seconds"))
    var trimDuration: Double?

    @Option(
        help: ArgumentHelp(
            "Where a clip or an animation ends, in seconds; instead of --trim-duration.", valueName: "seconds"))
    var trimEnd: Double?

    @Flag(help: "As much before --thumbnail-time as after it; instead of --trim-start and --trim-end.")
    var trimAroundThumbnail = false

    @Option(
        help: ArgumentHelp(
            "Which part of a picture: 'centre', 'attention', a point 'x,y' or a rectangle 'x,y,width,height' in 0…1.",
            valueName: "crop"),
        completion: .list(["centre", "attention"]))
    var crop: Crop?

    @Option(help: ArgumentHelp("The moment of a video that its poster shows.", valueName: "seconds"))
    var thumbnailTime: Double?

    @Option(help: ArgumentHelp("The frame of an animation that its thumbnail shows, from 0.", valueName: "number"))
    var thumbnailFrame: Int?

    @Option(help: ArgumentHelp("What the source claims to be: a media type, UTI or extension.", valueName: "type"))
    var typeHint: String?

    /// Seconds: more than any recording has.
    private static let longest = 1e9

    func validate() throws {
        for (name, seconds) in [
            ("--trim-start", trimStart), ("--trim-duration", trimDuration), ("--trim-end", trimEnd),
            ("--thumbnail-time", thumbnailTime),
        ] {
            guard let seconds, !(seconds <= Self.longest) else { continue }
            throw ValidationError("\(name) must be a number of at most \(Int(Self.longest)) seconds.")
        }
        if let trimStart, !(trimStart >= 0) { throw ValidationError("--trim-start must not be negative.") }
        if let trimDuration, !(trimDuration > 0) { throw ValidationError("--trim-duration must be more than 0.") }
        if let trimEnd, !(trimEnd > trimStart ?? 0) {
            throw ValidationError("--trim-end must be more than \(trimStart == nil ? "0" : "--trim-start").")
        }
        if trimEnd != nil && trimDuration != nil {
            throw ValidationError("--trim-end and --trim-duration exclude each other.")
        }
        if trimAroundThumbnail {
            if trimStart != nil || trimEnd != nil {
                throw ValidationError(
                    "--trim-around-thumbnail excludes --trim-start and --trim-end; --trim-duration says how long.")
            }
            if thumbnailTime == nil { throw ValidationError("--trim-around-thumbnail needs --thumbnail-time.") }
        }
        if thumbnailFrame != nil, thumbnailTime != nil {
            throw ValidationError(
                "--thumbnail-time and --thumbnail-frame exclude each other: videos have times, animations frames.")
        }
        if let thumbnailTime, !(thumbnailTime >= 0) { throw ValidationError("--thumbnail-time must not be negative.") }
        if let thumbnailFrame, thumbnailFrame < 0 { throw ValidationError("--thumbnail-frame must not be negative.") }
    }

    var request: RenditionRequest {
        RenditionRequest(
            trim: trim, crop: crop, thumbnailTime: thumbnailTime, thumbnailFrame: thumbnailFrame)
    }

    /// Those that were given and say which part is wanted.
    private var trimFlags: [String] {
        [
            trimStart.map { _ in "--trim-start" }, trimDuration.map { _ in "--trim-duration" },
            trimEnd.map { _ in "--trim-end" }, trimAroundThumbnail ? "--trim-around-thumbnail" : nil,
        ].compactMap(\.self)
    }

    /// A sentence for each option that was passed over, as the record says, by the name that it has here.
    func warnings(about record: AttachmentRecord, under profile: Profile) -> [String] {
        guard let kind = record.kind, record.steps.contains(where: { $0.name == Step.options }) else { return [] }
        return request.idleOptions(for: kind, planned: Array(record.renditions.keys), under: profile).map { idle in
            let flags = idle.name == .trim ? trimFlags : ["--" + idle.name.rawValue.replacing("_", with: "-")]
            let verb = flags.count == 1 ? "changes" : "change"
            return "\(flags.joined(separator: " and ")) \(verb) nothing, as \(idle.reason)."
        }
    }

    private var trim: TrimRequest? {
        if trimAroundThumbnail { return TrimRequest(start: nil, duration: trimDuration) }
        guard trimStart != nil || trimDuration != nil || trimEnd != nil else { return nil }
        let start = trimStart ?? 0
        return TrimRequest(start: start, duration: trimDuration ?? trimEnd.map { $0 - start })
    }

    var options: DisplayOptions {
        DisplayOptions(typeHint: typeHint, thumbnailTime: thumbnailTime ?? thumbnailFrame.map(Double.init))
    }
}
