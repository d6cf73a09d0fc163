/// What a source of a known format has that is not supported: the one place with its words.
///
/// Formats that are not supported as a whole are in ``ForeignFormat``.
package enum UnsupportedFeature: CaseIterable, Sendable {
    case pictures, sound, picture, nothingToPlay, noneOfIt, firstPart, flacBits, sequence
    case stillEdit, editSpeed, demuxer, foreignPicture, encrypted
    case rawPhoto, variant, formatVariant, openRows, samples, matrix, alphaTurns, colorMasks, bareBMP, deepAPNG
    case channels, inks, oldLibrary

    /// Clauses and sentences in which `…` stands for the name.
    var words: (reason: String, advice: String) {
        switch self {
        case .pictures: ("its pictures are …, which is not supported", "Convert it to H.264.")
        case .sound: ("its sound is …, which is not supported", "Convert it to AAC.")
        case .picture: ("its picture is …, which is not supported", "Export it as JPEG.")
        case .nothingToPlay: ("it holds neither pictures nor sound", "Send a file with one of them.")
        case .noneOfIt: ("it holds no …", "Send a file with … in it.")
        case .firstPart:
            (
                "this is the first part of a stream, without any of what comes after it",
                "Send the whole stream as one file."
            )
        case .flacBits: ("its sound is FLAC with … bits a sample, which is not supported", "Convert it to 24 bits.")
        case .sequence: ("the coding of its pictures is not taken", "Convert it to AVIF, or to a video.")
        case .stillEdit: ("its edit list holds a picture or a sound still, which is not supported", Self.withoutEdits)
        case .editSpeed: ("its edit list plays it at … times its speed, which is not supported", Self.withoutEdits)
        case .demuxer:
            (
                "it begins like …, which is not supported",
                "Convert it to MP4, or to M4A, MP3 or FLAC where it is sound."
            )
        case .foreignPicture: ("it begins like a … picture, which is not supported", ForeignFormat.Kind.picture.advice)
        case .encrypted: ("… encrypted", "Send it without copy protection.")
        case .rawPhoto: ("this is … RAW photograph, which is not supported", "Export it as JPEG.")
        case .variant: ("this is …, which is not supported", ForeignFormat.Kind.picture.advice)
        case .formatVariant: ("its variant of … is not taken", ForeignFormat.Kind.picture.advice)
        case .openRows:
            (
                "its header leaves open how many rows it has, which is not supported",
                ForeignFormat.Kind.picture.advice
            )
        case .samples:
            (
                "its samples are …, which are not taken",
                "Export it as RGB with 8 or 16 bits a sample, or convert it to JPEG or PNG."
            )
        case .matrix: ("its colors are coded as …, which is not supported", "Export it as JPEG.")
        case .alphaTurns:
            (
                "its transparency is cropped or turned otherwise than its colors, which is not supported",
                "Export it as PNG, or without transparency."
            )
        case .colorMasks: ("the masks of its colors are of a kind that is not taken", "Save it as PNG.")
        case .bareBMP: ("this is a BMP without its file header, which is not supported", "Convert it to JPEG or PNG.")
        case .deepAPNG:
            (
                "this is an APNG of 16 bits whose frames are laid over each other, which is not supported",
                "Save it with 8 bits."
            )
        case .channels:
            (
                "it has … channels, which are not taken of JPEG XL", "Export it with its colors and transparency alone."
            )
        case .inks: ("its colors are CMYK, which is not supported of JPEG XL", "Export it as RGB.")
        case .oldLibrary:
            (
                "the installed libvips is too old for it (…)",
                "The operator can find that version with satchel doctor."
            )
        }
    }

    private static let withoutEdits = "Export it from the program that edited it, so that it needs no edit list."
}

extension AttachmentError {
    /// The refusal of a source for a feature, in the words of its row.
    ///
    /// - Parameter name: What was found: a coding, a number, a format.
    package static func unsupported(_ feature: UnsupportedFeature, _ name: String = "") -> AttachmentError {
        let (reason, advice) = feature.words
        return .unsupportedFeature(
            reason: reason.replacing("…", with: name), advice: advice.replacing("…", with: name))
    }
}
