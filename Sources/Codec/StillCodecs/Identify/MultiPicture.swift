import SatchelCore

/// What stands behind the first picture of a JPEG: another eye's, the rest of a panorama (CIPA DC-007, Multi-Picture Format), a
/// webcam's next picture, a phone's video.
package enum MultiPicture {
    private static let headBytes = 256 << 10

    /// How many pictures a JPEG says that it has, without previews of its first one and at most four; nil where it says nothing.
    static func count(in file: UnsafeRawBufferPointer) -> Int? {
        let head = unsafe file.prefix(headBytes).rebased
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
        return nil
    }

    /// Whether a picture of which the header says nothing begins where the first one ends: a stream of JPEGs.
    static func isStream(_ file: UnsafeRawBufferPointer) -> Bool {
        unsafe file.prefix(headBytes).rebased.place(of: [0xff, 0xd9, 0xff, 0xd8, 0xff], from: 0) != nil
    }

    /// Puts an MP4 that was appended to a HEIF into the box that motion photos have it in: libheif takes the last brands of a
    /// file for the picture's.
    package static func encloseAppended(in file: UnsafeMutableRawBufferPointer) {
        let boxes = unsafe Bytes(whole: UnsafeRawBufferPointer(file)).boxes
        guard let start = boxes.dropFirst().first(where: { $0.type == "ftyp" })?.start else { return }
        for (place, number) in [(start, UInt32(clamping: file.count - start)), (start + 4, 0x6d70_7664)] {
            unsafe file.storeBytes(of: number.bigEndian, toByteOffset: place, as: UInt32.self)
        }
    }

    /// Returns whether the file also has a video, as the motion photos of phones do.
    static func hasVideo(_ file: UnsafeRawBufferPointer, _ format: PictureFormat) -> Bool {
        // A JPEG that ends with its picture isn't searched.
        if format == .jpeg, unsafe file.suffix(64).rebased.place(of: [0xff, 0xd9], from: 0) == nil {
            return unsafe hasFile(file, from: 0)
        }
        guard format == .heif else { return false }
        let boxes = unsafe Bytes(whole: file).boxes
        if boxes.contains(where: { $0.type == "mpvd" }) { return true }
        let tracks = boxes.filter { $0.type == "moov" }.flatMap(\.body.boxes).filter { $0.type == "trak" }
        let media = tracks.flatMap(\.body.boxes).filter { $0.type == "mdia" }.flatMap(\.body.boxes)
        if media.contains(where: { $0.type == "hdlr" && $0.body.text(at: 8) == "vide" }) { return true }
        // Its own type is at the beginning.
        return unsafe hasFile(file, from: 8)
    }

    /// Returns whether a file of the MP4 family begins at this offset or later.
    private static func hasFile(_ file: UnsafeRawBufferPointer, from start: Int) -> Bool {
        var start = start
        while let place = unsafe file.place(of: "ftyp", from: start) {
            // Before its name a box has its size (ISO/IEC 14496-12), of which this one needs the last byte.
            if place >= 4, unsafe file[place - 4..<place - 1].allSatisfy({ $0 == 0 }) { return true }
            start = place + 1
        }
        return false
    }

    /// The class of a type code: the same picture, smaller.
    private static let largeThumbnail = 1
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var rebased: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: self) }
}
