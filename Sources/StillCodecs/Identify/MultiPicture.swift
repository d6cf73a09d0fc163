/// Pictures that stand behind the first in a JPEG (CIPA DC-007, Multi-Picture Format): another eye's, the rest of a panorama.
enum MultiPicture {
    /// How many pictures a JPEG says that it has, without previews of its first one and at most four; 1 where it says nothing.
    static func count(in file: UnsafeRawBufferPointer) -> Int {
        let head = unsafe UnsafeRawBufferPointer(rebasing: file.prefix(256 << 10))
        var start = 0
        while let place = unsafe head.place(of: "MPF\0", from: start) {
            start = place + 1
            // Within an APP2 segment, behind whose length it stands.
            guard place >= 4, unsafe head[place - 4] == 0xff, unsafe head[place - 3] == 0xe2 else { continue }
            let index = unsafe UnsafeRawBufferPointer(rebasing: head[(place + 4)...])
            guard let entries = unsafe TIFFDirectory.all(in: index).first?.numbers[TIFFDirectory.Tag.pictures] else {
                return 1
            }
            let isLittle = unsafe index[0] == 0x49
            let kinds = stride(from: 0, to: entries.count - 15, by: 16).map { entries[$0 + (isLittle ? 2 : 1)] }
            return max(1, kinds.count { $0 != largeThumbnail })
        }
        return 1
    }

    /// The class of a type code: the same picture, smaller.
    private static let largeThumbnail = 1
}
