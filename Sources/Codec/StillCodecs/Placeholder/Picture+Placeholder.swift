package import SatchelCore

extension Raster {
    /// ThumbHash, BlurHash and dominant colour of this picture.
    package func placeholder() throws(AttachmentError) -> Placeholder {
        let picture = try picture()
        return try picture.placeholder()
    }
}

extension Placeholder {
    /// Longest side of what is hashed: the most that ThumbHash takes.
    package static let side = 100
}

extension Picture {
    /// ThumbHash, BlurHash and dominant colour of a computed sRGB picture with 8 bits.
    func placeholder(
        by downscaler: any StillDownscaler = PlanarJPEGDownscaler()
    ) throws(AttachmentError) -> Placeholder {
        do {
            let raster = try downscaler.scaled(
                self, to: Framing(side: Placeholder.side, fit: .inside).scaledSize(of: size)
            ).raster()
            return Placeholder(
                thumbhash: ThumbHash.encode(raster), blurhash: BlurHash.encode(raster),
                color: DominantColour.of(raster).hexadecimal)
        } catch {
            if WorkTime.isUp { throw WorkTime.failure }
            throw .codecCrashed(reason: "the placeholder failed: \(error.text)")
        }
    }
}
