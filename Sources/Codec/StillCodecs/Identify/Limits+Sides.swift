package import SatchelCore

extension Limits {
    /// Refuses a picture that is longer than what libraries, and what the service believes, can be, or has more pixels than
    /// `most`.
    package func check(_ size: PixelSize, most: Int64) throws(AttachmentError) {
        guard size.longestSide <= side else { throw .sideTooLong(pixels: size.longestSide, limit: side) }
        guard size.area <= most else { throw .tooManyPixels(pixels: size.area, limit: most) }
    }
}
