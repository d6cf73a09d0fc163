import SatchelCore
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// Why an MP4's edit lists can't be followed, where they can't: FFmpeg passes over the speeds that they ask for.
    ///
    /// - Parameter streams: Those which are used.
    func refusalOfEdits(to streams: [Int]) -> AttachmentError? {
        let rates = edits(of: streams).flatMap { $0 }.filter { !$0.isEmpty }.map(\.rate)
        guard let rate = rates.first(where: { $0 != 1 }) else { return nil }
        return .unsupported(rate == 0 ? .stillEdit : .editSpeed, rounded(rate))
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

    /// Edits of a track that are looked at.
    private static let mostEdits: UInt32 = 4_096

    /// Of each track that has a list.
    ///
    /// - Parameters:
    ///   - tracks: By their identifiers.
    ///   - bytes: Of the file.
    ///   - read: So many of its bytes from an offset; nil where there are fewer.
    static func edits(of tracks: [Int], bytes: Int64, read: (Int, Int64) -> [UInt8]?) -> [[Edit]] {
        FileBoxes.of(bytes, read) { edits(of: tracks, in: $0, read) }
    }

    private static func edits(of tracks: [Int], in file: FileBoxes, _ read: (Int, Int64) -> [UInt8]?) -> [[Edit]] {
        guard let movie = file.first("moov", in: file.whole) else { return [] }
        var found: [[Edit]] = []
        for track in file.boxes(in: movie) where track.type == "trak" && track.isWhole {
            guard let header = file.first("tkhd", in: track.content), let version = read(1, header.lowerBound)?[0],
                let identifier = read(4, header.lowerBound + (version == 1 ? 20 : 12)),
                tracks.contains(Int(FileBoxes.number(identifier, at: 0))),
                let container = file.first("edts", in: track.content),
                let list = file.first("elst", in: container),
                let head = read(8, list.lowerBound)
            else { continue }
            let length = head[0] == 1 ? 20 : 12
            var edits: [Edit] = []
            for index in 0..<Int64(min(FileBoxes.number(head, at: 4), mostEdits)) {
                let offset = list.lowerBound + 8 + index * Int64(length)
                guard offset + Int64(length) <= list.upperBound, let edit = read(length, offset) else { break }
                // The time of an empty edit is -1.
                let isEmpty = edit[(length - 4) / 2..<length - 4].allSatisfy { $0 == 0xff }
                let rate = Double(Int32(bitPattern: FileBoxes.number(edit, at: length - 4))) / 65_536
                edits.append(Edit(isEmpty: isEmpty, rate: rate))
            }
            found.append(edits)
        }
        return found
    }
}
