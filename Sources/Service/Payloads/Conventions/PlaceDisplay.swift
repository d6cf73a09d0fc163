import SatchelCore

/// What a place of a payload can show.
enum PlaceDisplay: Hashable, Sendable {
    /// Whatever the app's extension attaches.
    case anything
    /// Pictures alone.
    ///
    /// - Parameters:
    ///   - viewer: Who shows them, in words.
    ///   - limit: Bytes, at most; nil where none is stated.
    case pictures(viewer: String, limit: Int64?)

    /// "Images for notifications are limited to 1MB in size" (Firebase, *Send an image in the notification payload*), taken
    /// as the smaller of the two that this may be.
    static let android = PlaceDisplay.pictures(viewer: "Android", limit: 1_000_000)
    static let browser = PlaceDisplay.pictures(viewer: "a browser", limit: nil)

    /// What a place shows of a medium: the rendition itself, or a picture that stands for one that is none.
    ///
    /// - Parameter pointer: The place.
    func choice(of medium: DeliveredMedium, _ identifier: String, at pointer: JSONPointer) -> Result<
        DeliveredMedium.File, MediumFailure
    > {
        guard case .pictures(let viewer, let limit) = self else { return .success(medium.file) }
        let pictures = (medium.file.isPicture ? [medium.file] : medium.standIns).filter(\.isPicture)
        guard let first = pictures.first else {
            return .failure(
                MediumFailure(
                    code: "not_an_image",
                    message:
                        "'\(identifier)' is \(medium.type.rawValue), but \(viewer) shows only pictures at '\(pointer)'. Name a picture there, or omit it."
                ))
        }
        guard let limit else { return .success(first) }
        if let picture = pictures.first(where: { $0.bytes <= limit }) { return .success(picture) }
        return .failure(
            MediumFailure(
                code: "image_too_large",
                message:
                    "'\(identifier)' has \(first.bytes) bytes, but \(viewer) shows pictures of at most \(limit) bytes at '\(pointer)'. Choose a profile that makes smaller pictures."
            ))
    }
}
