package import SatchelCore

extension Limits {
    /// Refuses a picture that is longer than what libraries, and what the service believes, can be.
    package func checkSides(of size: PixelSize) throws(AttachmentError) {
        let longest = max(size.width, size.height)
        guard longest <= side else { throw .sideTooLong(pixels: longest, limit: side) }
    }
}
