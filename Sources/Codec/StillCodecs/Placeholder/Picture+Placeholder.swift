package import SatchelCore

extension Raster {
    /// ThumbHash, BlurHash and dominant colour of this picture.
    package func placeholder() throws(AttachmentError) -> Placeholder {
        if Placeholder.framing.scaledSize(of: size) == size { return Placeholder(of: self) }
        let picture = try picture()
        return try picture.placeholder()
    }
}

extension Placeholder {
    /// Longest side of what is hashed: the most that ThumbHash takes.
    package static let side = 100

    fileprivate static let framing = Framing(side: side, fit: .inside)

    /// - Parameter raster: Scaled to what is hashed.
    fileprivate init(of raster: Raster) {
        self.init(
            thumbhash: ThumbHash.encode(raster), blurhash: BlurHash.encode(raster),
            color: DominantColour.of(raster).hexadecimal)
    }
}

extension Picture {
    /// ThumbHash, BlurHash and dominant colour of a computed sRGB picture with 8 bits.
    func placeholder(
        by downscaler: any StillDownscaler = PlanarJPEGDownscaler()
    ) throws(AttachmentError) -> Placeholder {
        do {
            return Placeholder(of: try downscaler.scaled(self, to: Placeholder.framing.scaledSize(of: size)).raster())
        } catch {
            if WorkTime.isUp { throw WorkTime.failure }
            throw .codecCrashed(reason: "the placeholder failed: \(error.text)")
        }
    }
}
