import SatchelCore

@testable import ClipCodecs
@testable import StillCodecs

extension FuzzTarget {
    /// The boxes of HEIF, AVIF, JPEG XL and MP4, and what is looked for in them.
    static let boxes = FuzzTarget("boxes") { bytes in
        unsafe bytes.withUnsafeBytes { file in
            let properties = unsafe HEIFProperties(file)
            precondition(unsafe properties == HEIFProperties(file))
            _ = unsafe HEIFProperties.foreignCoding(of: file)
            _ = unsafe AnnouncedSize.pixels(.heif, file)
            _ = unsafe GainMap.isIn(file, .heif)
            _ = unsafe JXLHeader(file)
        }
        var turned = bytes
        let orientation = unsafe turned.withUnsafeMutableBytes { unsafe try? HEIFTurns.take(from: $0) }
        precondition(orientation.map { (1...8).contains($0) } ?? true)
        // What was taken from it isn't there any more.
        if let orientation, orientation != 1 {
            precondition(unsafe turned.withUnsafeMutableBytes { unsafe try? HEIFTurns.take(from: $0) } == 1)
        }

        let count = Int64(bytes.count)
        let read = FuzzTarget.reader(of: bytes)
        _ = FileBoxes.lackOfIndex(in: count, read)
        precondition(
            MovieProtection.count(in: count, read) >= MovieProtection.count(MovieProtection.pictures, in: count, read))
        for edit in EditList.edits(of: [0, 1, 2, 3], bytes: count, read: read).joined() {
            precondition(edit.rate.isFinite)
        }
        FileBoxes.of(count, read) { file in
            for box in file.boxes(in: file.whole) {
                precondition(file.whole.contains(box.content) || box.content.isEmpty, "a box lies outside of its file")
            }
        }
    }

    /// So many bytes at an offset; nil beyond the end.
    static func reader(of bytes: [UInt8]) -> (Int, Int64) -> [UInt8]? {
        { count, offset in
            guard count >= 0, offset >= 0, offset <= Int64(bytes.count - count) else { return nil }
            return Array(bytes[Int(offset)..<Int(offset) + count])
        }
    }
}
