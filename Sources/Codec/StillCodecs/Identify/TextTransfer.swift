import SatchelCore

/// What becomes of a picture, sound or video on a way that takes it for text: line ends are changed, or bits are left out.
enum TextTransfer {
    /// Line feeds outside of texts that are proof enough where each has a carriage return before it: of pictures one in 256 has.
    private static let leastLineFeeds = 8

    /// How JPEG, PNG and Matroska begin when each byte is taken for a letter of Latin-1 or Windows-1252, and written in UTF-8.
    private static let recodedSigns: [[UInt8]] = [
        [0xc3, 0xbf, 0xc3, 0x98, 0xc3, 0xbf], [0xc2, 0x89, 0x50, 0x4e, 0x47], [0xe2, 0x80, 0xb0, 0x50, 0x4e, 0x47],
        [0x1a, 0x45, 0xc3, 0x9f, 0xc2, 0xa3],
    ]

    /// Whether bytes are text in UTF-8 but for control characters, with many of what stands for what is no text (U+FFFD), and among
    /// them as many other characters as are left of a picture. Where pixels alone read so they are few: U+FFFD is a colour, too.
    private static func isReplaced(_ head: [UInt8]) -> Bool {
        var (replaced, other, controls) = (0, 0, 0)
        var left: Set<UInt32> = []
        var decoder = UTF8()
        var bytes = head.makeIterator()
        reading: while true {
            switch decoder.decode(&bytes) {
            case .scalarValue("\u{fffd}"): replaced += 1
            case .scalarValue(let scalar) where scalar.value >= 0x80: other += 1
            case .scalarValue(let scalar):
                controls += scalar.value < 0x09 ? 1 : 0
                left.insert(scalar.value)
            case .emptyInput: break reading
            case .error:
                // The last character may be cut.
                if bytes.next() != nil { return false }
                break reading
            }
        }
        return replaced >= leastReplaced && replaced > other && controls > 0 && left.count >= leastLeft
    }

    /// Of a picture's bytes every other one is replaced, and the others are any of 128.
    private static let leastReplaced = 16
    private static let leastLeft = 16

    /// - Throws: ``AttachmentError/unreadable(_:)``.
    static func check(_ sniffed: Sniffed) throws(AttachmentError) {
        let head = sniffed.head
        if recodedSigns.contains(where: head.starts) { throw .unreadable(Finding(.bytesRecoded)) }
        if isReplaced(head) { throw .unreadable(Finding(.bytesReplaced)) }
        // PNG begins with what such a way changes (PNG 3, 5.2): 89 50 4E 47 0D 0A 1A 0A.
        if head.dropFirst().starts(with: [0x50, 0x4e, 0x47]) {
            if head[0] == 0x09 { throw .unreadable(Finding(.highBitsLost)) }
            let ends = head.dropFirst(4).prefix(5)
            let isChanged = ends.first == 0x0d || ends.first == 0x0a
            if head[0] == 0x89, isChanged, ends.contains(0x1a), !ends.starts(with: [0x0d, 0x0a, 0x1a, 0x0a]) {
                throw .unreadable(Finding(.lineEndsChanged))
            }
            return
        }
        if head.starts(with: [0x7f, 0x58, 0x7f]) { throw .unreadable(Finding(.highBitsLost)) }
        guard sniffed.pictureFormat != nil || ContainerFormat(sniffed: sniffed.type) != nil else { return }
        // Metadata has lines as well.
        let isBinary = { (byte: UInt8) in byte < 0x20 || byte > 0x7e }
        var feedsInBinary = 0
        // Of a file that came whole soon one has no carriage return before it: the rest isn't looked at.
        for place in head.indices where head[place] == 0x0a {
            guard place > 1, head[place - 1] == 0x0d else { return }
            if isBinary(head[place - 2]), place + 1 < head.count, isBinary(head[place + 1]) { feedsInBinary += 1 }
        }
        if feedsInBinary >= leastLineFeeds { throw .unreadable(Finding(.lineEndsChanged)) }
    }
}
