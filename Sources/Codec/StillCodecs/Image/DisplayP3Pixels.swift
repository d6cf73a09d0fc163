import SatchelCore
import CVips

/// The pixels of a PNG in Display P3 as they are, upright: all other renditions are made of its colours in sRGB.
struct DisplayP3Pixels: Hashable, Sendable {
    private let raster: Raster

    /// Nil where it can't be decoded.
    ///
    /// - Throws: ``WorkTime/failure`` where the time is up.
    init?(_ source: borrowing SourceBytes, _ facts: StillFacts) throws(AttachmentError) {
        do {
            raster = try source.load(.png).trimmedBands().computed().upright(facts.orientation).raster()
        } catch {
            if WorkTime.isUp { throw WorkTime.failure }
            return nil
        }
    }

    /// With libvips' own profile, so that none of the source's bytes is kept.
    ///
    /// - Parameter hasAlpha: Whether any pixel is transparent.
    func picture(hasAlpha: Bool) throws -> Picture {
        let pixels = try raster.picture()
        let shown = hasAlpha ? try pixels.withoutHidden() : try pixels.withoutAlpha()
        let profile = try ColourProfile.displayP3()
        return try unsafe shown.derive { unsafe satchel_with_profile($0, $1, profile, profile.count) }.computed()
    }
}
