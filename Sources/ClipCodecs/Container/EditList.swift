import Attachments
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// Why an MP4's edit lists can't be followed, where they can't: FFmpeg passes over the speeds that they ask for.
    ///
    /// - Parameter streams: Those which are used.
    func refusalOfEdits(to streams: [Int]) -> AttachmentError? {
        let rates = edits(of: streams).flatMap { $0 }.filter { !$0.isEmpty }.map(\.rate)
        guard let rate = rates.first(where: { $0 != 1 }) else { return nil }
        let reason =
            rate == 0
            ? "its edit list holds a picture or a sound still, which is not supported"
            : "its edit list plays it at \(rounded(rate)) times its speed, which is not supported"
        return .unsupportedFeature(
            reason: reason, advice: "Export it from the program that edited it, so that it needs no edit list.")
    }

    /// Whether an MP4 says that it begins with nothing in any of `streams`.
    func beginsEmpty(_ streams: [Int]) -> Bool {
        let edits = edits(of: streams)
        return edits.count == streams.count && edits.allSatisfy { $0.first?.isEmpty == true }
    }

    private func edits(of streams: [Int]) -> [[EditList.Edit]] {
        guard hasSampleTable else { return [] }
        let tracks = streams.compactMap { index in unsafe stream(index).map { unsafe Int($0.pointee.id) } }
        return EditList.edits(of: tracks, bytes: bytes) { bytes($0, at: $1) }
    }
}

/// The edit lists of an MP4 (ISO/IEC 14496-12, clause 8.6.6).
enum EditList {
    struct Edit: Hashable, Sendable {
        /// Nothing is shown or heard.
        var isEmpty: Bool
        /// 0 holds what is shown at its beginning.
        var rate: Double
    }

    private struct Box {
        var type: [UInt8]
        var content: Range<Int64>
    }

    /// Boxes that are looked at within one.
    private static let mostBoxes = 10_000
    /// Edits of a track that are looked at.
    private static let mostEdits: UInt32 = 4_096

    /// Of each track that has a list.
    ///
    /// - Parameters:
    ///   - tracks: By their identifiers.
    ///   - bytes: Of the file.
    ///   - read: So many of its bytes from an offset; nil where there are fewer.
    static func edits(of tracks: [Int], bytes: Int64, read: (Int, Int64) -> [UInt8]?) -> [[Edit]] {
        func boxes(in range: Range<Int64>, until last: String? = nil) -> [Box] {
            var found: [Box] = []
            var position = range.lowerBound
            while found.count < mostBoxes, position + 8 <= range.upperBound, let header = read(8, position) {
                var (start, length) = (position + 8, Int64(number(header, at: 0)))
                if length == 1, let large = read(8, start) {
                    length = Int64(number(large, at: 0)) << 32 | Int64(number(large, at: 4))
                    start += 8
                } else if length == 0 {
                    length = range.upperBound - position
                }
                guard length >= start - position, length <= range.upperBound - position else { break }
                found.append(Box(type: Array(header[4...]), content: start..<position + length))
                position += length
                if let last, header[4...].elementsEqual(last.utf8) { break }
            }
            return found
        }
        func first(_ type: String, in range: Range<Int64>) -> Box? {
            boxes(in: range, until: type).first { $0.type.elementsEqual(type.utf8) }
        }
        guard let movie = first("moov", in: 0..<bytes) else { return [] }
        var found: [[Edit]] = []
        for track in boxes(in: movie.content) where track.type.elementsEqual("trak".utf8) {
            guard let header = first("tkhd", in: track.content)?.content, let version = read(1, header.lowerBound)?[0],
                let identifier = read(4, header.lowerBound + (version == 1 ? 20 : 12)),
                tracks.contains(Int(number(identifier, at: 0))),
                let container = first("edts", in: track.content),
                let list = first("elst", in: container.content)?.content,
                let head = read(8, list.lowerBound)
            else { continue }
            let length = head[0] == 1 ? 20 : 12
            var edits: [Edit] = []
            for index in 0..<Int64(min(number(head, at: 4), mostEdits)) {
                let offset = list.lowerBound + 8 + index * Int64(length)
                guard offset + Int64(length) <= list.upperBound, let edit = read(length, offset) else { break }
                // The time of an empty edit is -1.
                let isEmpty = edit[(length - 4) / 2..<length - 4].allSatisfy { $0 == 0xff }
                let rate = Double(Int32(bitPattern: number(edit, at: length - 4))) / 65_536
                edits.append(Edit(isEmpty: isEmpty, rate: rate))
            }
            found.append(edits)
        }
        return found
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
