import SatchelCore
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// Whether the container's own count of its bytes goes beyond the end of the file; false where it has none.
    var isCutOff: Bool { declaredBytes.map { $0 > bytes } ?? false }

    /// Seconds that an ASF's header announces, which FFmpeg doesn't believe of one that is cut off; nil of others.
    var statedSeconds: Double? {
        guard format?.length == .fileObject, isCutOff else { return nil }
        return bytes(Int(min(4096, bytes)), at: 0).flatMap { DeclaredSize.fileObject($0)?.seconds }
    }

    /// `true` if a Matroska file ends within a cluster.
    var endsWithinCluster: Bool {
        format?.length == .segment && DeclaredSize.endsWithinCluster(of: bytes) { bytes($0, at: $1) }
    }

    /// How much longer a file of RIFF would be if it weren't cut off: 1 where it isn't.
    var shortening: Double {
        guard format?.length == .riff, let declaredBytes, declaredBytes > bytes, bytes > 0 else { return 1 }
        return Double(declaredBytes) / Double(bytes)
    }

    private var declaredBytes: Int64? {
        guard let start = bytes(Int(min(64, bytes)), at: 0), start.count >= 16 else { return nil }
        return switch format?.length {
        case .riff: DeclaredSize.chunk(start, isBigEndian: false)
        case .iff: DeclaredSize.chunk(start, isBigEndian: true)
        case .segment: DeclaredSize.segment(start)
        case .firstFrame: DeclaredSize.frames { bytes($0, at: $1) }
        case .pages: lastPageEnd
        case .packets: DeclaredSize.packets(in: bytes, start: start) { bytes($0, at: $1) }
        case .fileObject: bytes(Int(min(4096, bytes)), at: 0).flatMap { DeclaredSize.fileObject($0)?.bytes }
        case .samples: .max
        case .open, nil: nil
        }
    }

    /// Where the last page begins is looked for in as many bytes as two pages have at most.
    private var lastPageEnd: Int64? {
        let count = min(bytes, 128 << 10)
        guard let tail = bytes(Int(count), at: bytes - count), let end = DeclaredSize.pages(tail)?.end else {
            return nil
        }
        return bytes - count + Int64(end)
    }

    /// `true` if an Ogg file ends with a whole page that isn't marked as the last one: some recorders mark none.
    var lacksEndMark: Bool {
        let count = min(bytes, 128 << 10)
        guard format?.length == .pages, let tail = bytes(Int(count), at: bytes - count) else { return false }
        return DeclaredSize.pages(tail).map { $0.end <= tail.count && !$0.isMarked } ?? false
    }
}

/// How many bytes containers say that they have.
enum DeclaredSize {
    /// Of RIFF and AIFF, by their first twelve bytes; nil where whoever wrote it didn't know.
    static func chunk(_ start: [UInt8], isBigEndian: Bool) -> Int64? {
        guard start.count >= 8, start.starts(with: Array((isBigEndian ? "FORM" : "RIFF").utf8)) else { return nil }
        let size = Int64(isBigEndian ? start[4..<8].bigEndian : start[4..<8].littleEndian)
        // Written to a pipe: zero, the greatest number, or nearly that.
        guard size > 0, size < 0x7fff_0000 else { return nil }
        return size + 8
    }

    /// Of Matroska, by its first bytes: RFC 8794, section 4, and RFC 9559, section 5.1.
    static func segment(_ start: [UInt8]) -> Int64? {
        guard start.starts(with: [0x1a, 0x45, 0xdf, 0xa3]), let header = number(start, at: 4),
            let length = header.value, length < 1 << 16
        else { return nil }
        let segment = 4 + header.bytes + Int(length)
        guard start.count >= segment + 4, start[segment..<segment + 4].elementsEqual([0x18, 0x53, 0x80, 0x67]),
            let size = number(start, at: segment + 4), let content = size.value
        else { return nil }
        return Int64(segment + 4 + size.bytes) + content
    }

    /// Whether a Matroska file ends within a cluster, by the sizes of its elements, be they the clusters' or, of clusters that
    /// don't tell theirs, what is in them: RFC 9559, section 5.1.
    static func endsWithinCluster(of bytes: Int64, read: (Int, Int64) -> [UInt8]?) -> Bool {
        var isCut = false
        elements(of: bytes, read) { name, _, isWhole in isCut = !isWhole && [cluster, block, blockGroup].contains(name)
        }
        return isCut
    }

    /// Calls `body` with each element of Matroska's upper levels: its name, where it begins, and whether the file holds all of
    /// it. Those of what has no end of its own are among them.
    static func elements(of bytes: Int64, _ read: (Int, Int64) -> [UInt8]?, _ body: (Int, Int64, Bool) -> Void) {
        guard read(4, 0) == [0x1a, 0x45, 0xdf, 0xa3] else { return }
        var at: Int64 = 0
        for _ in 0..<mostElements where at < bytes {
            guard let head = read(Int(min(12, bytes - at)), at), let first = head.first, first >= 0x10 else { return }
            let name = head.prefix(first.leadingZeroBitCount + 1).bigEndian
            guard let size = number(head, at: first.leadingZeroBitCount + 1) else { return body(name, at, false) }
            let content = at + Int64(first.leadingZeroBitCount + 1 + size.bytes)
            // Into the segment, and into what doesn't say how long it is.
            let end = name == segment ? content : size.value.map { content + $0 } ?? content
            body(name, at, end <= bytes)
            at = end
        }
    }

    static let header = 0x1a45_dfa3
    private static let (segment, cluster, block, blockGroup) = (0x1853_8067, 0x1f43_b675, 0xa3, 0xa0)
    /// Elements that are looked at.
    private static let mostElements = 20_000

    /// A number whose length its first byte tells; its value is nil where it is unknown.
    private static func number(_ bytes: [UInt8], at index: Int) -> (value: Int64?, bytes: Int)? {
        guard index < bytes.count, bytes[index] != 0 else { return nil }
        let count = bytes[index].leadingZeroBitCount + 1
        guard index + count <= bytes.count else { return nil }
        let all = Int64(bytes[index..<index + count].bigEndian)
        let mask = Int64(1) << (7 * count) - 1
        return (all & mask == mask ? nil : all & mask, count)
    }

    /// Of Ogg, by the last bytes of a file: where its last page ends, as from their beginning, and whether that is marked as the
    /// end of its stream (RFC 3533, section 6). Nil where there is none, or something else behind it.
    static func pages(_ tail: [UInt8]) -> (end: Int, isMarked: Bool)? {
        let mark = Array("OggS".utf8)
        var at = 0
        // The first may begin anywhere; what looks like one within a page is passed over with it.
        while let page = (at..<tail.count).first(where: { tail[$0] == mark[0] && tail[$0...].prefix(4) == mark[...] }) {
            guard page + 27 <= tail.count else { return (tail.count + 1, false) }
            let segments = page + 27 + Int(tail[page + 26])
            guard segments <= tail.count else { return (tail.count + 1, false) }
            at = tail[page + 27..<segments].reduce(segments) { $0 + Int($1) }
            if at >= tail.count { return (at, tail[page + 5] & 4 != 0) }
        }
        return at > 0 && mark.starts(with: tail[at...]) ? (tail.count + 1, false) : nil
    }

    /// Of a transport stream, by the size of its packets: where the last one would end, of which there is only a part; nil
    /// where all are whole, or something else follows them.
    static func packets(in bytes: Int64, start: [UInt8], read: (Int, Int64) -> [UInt8]?) -> Int64? {
        for (size, mark) in TransportPacket.layouts {
            let marks = (0..<4).map { read(1, Int64(mark + $0 * size)) == [TransportPacket.mark] }
            guard !marks.contains(false) else { continue }
            let last = bytes / Int64(size) * Int64(size)
            guard last < bytes, last + Int64(mark) >= bytes || read(1, last + Int64(mark)) == [TransportPacket.mark]
            else { return nil }
            return last + Int64(size)
        }
        return nil
    }

    /// Of ASF, by the object of its header that tells of the file, and how long it plays; nil of a broadcast, which has none.
    static func fileObject(_ start: [UInt8]) -> (bytes: Int64, seconds: Double)? {
        let mark: [UInt8] = [
            0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0x00, 0xc0, 0x0c, 0x20, 0x53, 0x65,
        ]
        guard let object = start.firstRange(of: mark)?.lowerBound, object + 88 <= start.count else { return nil }
        func number(_ place: Int) -> UInt64 {
            start[object + place..<object + place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        // Behind the object's own size and the file's identifier; hundreds of nanoseconds, and milliseconds that come before.
        let (size, length, lead) = (number(40), number(64), number(80))
        guard size > 0, size < 1 << 62 else { return nil }
        return (Int64(size), max(0, Double(length) / 1e7 - Double(lead) / 1e3))
    }

    /// Of MP3, by what LAME's first frame says.
    static func frames(_ read: (Int, Int64) -> [UInt8]?) -> Int64? {
        guard let head = read(10, 0) else { return nil }
        var at: Int64 = 0
        if head.starts(with: Array("ID3".utf8)) {
            at = 10 + head[6..<10].reduce(Int64(0)) { $0 << 7 | Int64($1 & 0x7f) }
        }
        // Behind the header and the side information, whose length depends on version and channels.
        guard let frame = read(60, at), MP3Frame.header(frame[0], frame[1], frame[2]) != nil else { return nil }
        for offset in [13, 21, 36] {
            let mark = String(decoding: frame[offset..<offset + 4], as: UTF8.self)
            guard mark == "Xing" || mark == "Info", frame[offset + 7] & 3 == 3 else { continue }
            let size = Int64(frame[offset + 12..<offset + 16].bigEndian)
            return size > 0 ? at + size : nil
        }
        return nil
    }
}
