import ArgumentParser
import Attachments

/// What is asked of one attachment beyond its profile. Rectangles and times refer to the upright, untrimmed source.
struct RequestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where a clip starts, in seconds.", valueName: "seconds"))
    var trimStart: Double?

    @Option(help: ArgumentHelp("How long a clip lasts, in seconds.", valueName: "seconds"))
    var trimDuration: Double?

    @Option(
        help: ArgumentHelp(
            "Which part of a picture: 'centre', 'attention', a point 'x,y' or a rectangle 'x,y,width,height' in 0…1.",
            valueName: "crop"))
    var crop: Crop?

    @Option(help: ArgumentHelp("The moment of a video that its poster shows.", valueName: "seconds"))
    var thumbnailTime: Double?

    @Option(help: ArgumentHelp("The frame of an animation that its thumbnail shows, from 0.", valueName: "number"))
    var thumbnailFrame: Int?

    @Option(help: ArgumentHelp("What the source claims to be: a media type, UTI or extension.", valueName: "type"))
    var typeHint: String?

    func validate() throws {
        if let trimStart, !(trimStart >= 0) { throw ValidationError("--trim-start must not be negative.") }
        if let trimDuration, !(trimDuration > 0) { throw ValidationError("--trim-duration must be more than 0.") }
        if let thumbnailTime, !(thumbnailTime >= 0) { throw ValidationError("--thumbnail-time must not be negative.") }
        if let thumbnailFrame, thumbnailFrame < 0 { throw ValidationError("--thumbnail-frame must not be negative.") }
    }

    var request: RenditionRequest {
        let isTrimmed = trimStart != nil || trimDuration != nil
        return RenditionRequest(
            trim: isTrimmed ? TrimRequest(start: trimStart ?? 0, duration: trimDuration) : nil, crop: crop,
            thumbnailTime: thumbnailTime, thumbnailFrame: thumbnailFrame)
    }

    var options: DisplayOptions {
        DisplayOptions(typeHint: typeHint, thumbnailTime: thumbnailTime ?? thumbnailFrame.map(Double.init))
    }
}
