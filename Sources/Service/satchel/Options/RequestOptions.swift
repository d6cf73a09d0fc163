import ArgumentParser
import SatchelCore

/// Options for one attachment, in addition to its profile. Rectangles and times refer to the upright, untrimmed source.
struct RequestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Start of the kept part of a clip or animation, in seconds.", valueName: "seconds"))
    var trimStart: Double?

    @Option(help: ArgumentHelp("Duration of the kept part, in seconds.", valueName: "seconds"))
    var trimDuration: Double?

    @Option(
        help: ArgumentHelp(
            "End of the kept part, in seconds; instead of --trim-duration.", valueName: "seconds"))
    var trimEnd: Double?

    @Flag(help: "Center the kept part on --thumbnail-time; instead of --trim-start and --trim-end.")
    var trimAroundThumbnail = false

    @Option(
        help: ArgumentHelp(
            "Part of an image to keep: 'center', 'attention', a point 'x,y' or a rectangle 'x,y,width,height' (0 to 1).",
            valueName: "crop"),
        completion: .list(["center", "attention"]))
    var crop: Crop?

    @Option(help: ArgumentHelp("Time of the video frame that the poster shows, in seconds.", valueName: "seconds"))
    var thumbnailTime: Double?

    @Option(
        help: ArgumentHelp(
            "Number of the animation frame that the thumbnail shows, starting with 0.", valueName: "number"))
    var thumbnailFrame: Int?

    /// More seconds than any recording has.
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
            throw ValidationError("--trim-end and --trim-duration cannot be combined.")
        }
        if trimAroundThumbnail {
            if trimStart != nil || trimEnd != nil {
                throw ValidationError(
                    "--trim-around-thumbnail cannot be combined with --trim-start or --trim-end. Use --trim-duration.")
            }
            if thumbnailTime == nil { throw ValidationError("--trim-around-thumbnail needs --thumbnail-time.") }
        }
        if thumbnailFrame != nil, thumbnailTime != nil {
            throw ValidationError(
                "--thumbnail-time and --thumbnail-frame cannot be combined. The first is for videos, the second for animations."
            )
        }
        if let thumbnailTime, !(thumbnailTime >= 0) { throw ValidationError("--thumbnail-time must not be negative.") }
        if let thumbnailFrame, thumbnailFrame < 0 { throw ValidationError("--thumbnail-frame must not be negative.") }
    }

    var request: RenditionRequest {
        RenditionRequest(
            trim: trim, crop: crop, thumbnailTime: thumbnailTime, thumbnailFrame: thumbnailFrame)
    }

    /// The given flags that select the part to keep.
    private var trimFlags: [String] {
        [
            trimStart.map { _ in "--trim-start" }, trimDuration.map { _ in "--trim-duration" },
            trimEnd.map { _ in "--trim-end" }, trimAroundThumbnail ? "--trim-around-thumbnail" : nil,
        ].compactMap(\.self)
    }

    /// Returns a warning for each flag that had no effect according to the record.
    func warnings(about record: AttachmentRecord, under profile: Profile) -> [String] {
        guard let kind = record.kind, record.steps.contains(where: { $0.name == Step.options }) else { return [] }
        return request.idleOptions(for: kind, planned: Array(record.renditions.keys), under: profile).map { idle in
            let flags = idle.name == .trim ? trimFlags : ["--" + idle.name.rawValue.replacing("_", with: "-")]
            let verb = flags.count == 1 ? "has" : "have"
            return "\(flags.joined(separator: " and ")) \(verb) no effect: \(idle.reason)."
        }
    }

    private var trim: TrimRequest? {
        if trimAroundThumbnail { return TrimRequest(start: nil, duration: trimDuration) }
        guard trimStart != nil || trimDuration != nil || trimEnd != nil else { return nil }
        let start = trimStart ?? 0
        return TrimRequest(start: start, duration: trimDuration ?? trimEnd.map { $0 - start })
    }

    func options(typeHint: String?) -> DisplayOptions {
        DisplayOptions(typeHint: typeHint, thumbnailTime: thumbnailTime ?? thumbnailFrame.map(Double.init))
    }
}
