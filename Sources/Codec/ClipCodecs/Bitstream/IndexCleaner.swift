import StillCodecs

/// Finds what FFmpeg writes about a movie beside its tracks: an empty list of tags, which nobody asked for.
///
/// A decision over bytes, without input or output.
enum IndexCleaner {
    /// Boxes with user data or metadata, which have no place in what is delivered.
    private static let unwanted: [[UInt8]] = [Array("udta".utf8), Array("meta".utf8)]
    /// Boxes that hold boxes.
    private static let parents: [[UInt8]] = [Array("moov".utf8), Array("trak".utf8)]

    /// The bytes of the type and the contents of each unwanted box among `index`.
    ///
    /// - Parameter index: The movie box, with its header.
    static func unwanted(in index: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var open = [0..<index.count]
        while let range = open.popLast() {
            var at = range.lowerBound
            while at + 8 <= range.upperBound {
                let length = index[at..<at + 4].bigEndian
                guard length >= 8, length <= range.upperBound - at else { break }
                let type = Array(index[at + 4..<at + 8])
                if unwanted.contains(type) { found.append(at + 4..<at + length) }
                if parents.contains(type) { open.append(at + 8..<at + length) }
                at += length
            }
        }
        return found
    }
}
