package import SatchelCore
import CVips

/// What pixels of frames stand for, by numbers or by a profile that fits them.
struct FrameColours: Hashable, Sendable {
    var coded: CodedColour?
    var profile: [UInt8]

    /// Of what libvips reads as a still; nil where it is sRGB, or nothing is said.
    init?(_ header: borrowing Picture, coded: CodedColour?) {
        self.coded = coded
        profile = header.needsProfile ? unsafe header.withBlob("icc-profile-data") { unsafe Array($0) } : []
        let isStated = coded.map { !$0.isStandard } ?? !profile.isEmpty
        guard isStated else { return nil }
        if coded == nil { self.coded = unsafe profile.withUnsafeBytes { unsafe CodedColour(profile: $0) } }
    }

    /// Converts to sRGB with the same number of channels.
    func standard(_ pixels: borrowing Picture) throws(VipsFailure) -> Picture {
        if let coded { return try pixels.standardColour(from: coded) }
        let isGrey = unsafe profile.withUnsafeBytes {
            unsafe ColourProfile.fits($0, VIPS_INTERPRETATION_B_W) && !ColourProfile.fits($0, VIPS_INTERPRETATION_sRGB)
        }
        let own = isGrey ? try unsafe pixels.derive { unsafe satchel_grey($0, $1) } : pixels.shared()
        return try unsafe own.derive { unsafe satchel_with_profile($0, $1, profile, profile.count) }.standardColour()
    }
}

extension AnimationFacts {
    /// A frame's pixels, whole, in sRGB.
    package func standardColours(_ pixels: [UInt8]) throws(AttachmentError) -> [UInt8] {
        guard let colours else { return pixels }
        let channels = pixels.count / max(1, size.width * size.height)
        let picture = try Raster(width: size.width, height: size.height, channels: channels, bytes: pixels).picture()
        return try scaling { () throws(VipsFailure) in try colours.standard(picture).raster().bytes }
    }
}
