import Foundation
import TestSupport

/// Puts edit lists into MP4s whose index is last, as FFmpeg writes them.
enum EditLists {
    /// One edit; seconds.
    struct Edit: Sendable {
        var duration: Double
        /// Where in the media it begins; nil for an empty one.
        var start: Double?
        var rate = 1.0

        static func empty(_ duration: Double) -> Edit { Edit(duration: duration, start: nil) }
        static func of(_ start: Double, _ end: Double, rate: Double = 1) -> Edit {
            Edit(duration: (end - start) / (rate > 0 ? rate : 1), start: start, rate: rate)
        }
    }

    /// - Parameters:
    ///   - edits: Of each track; nil leaves it as it is. Times are those of its first edit's zero: what delays it stays.
    static func write(_ edits: [[Edit]?], into file: URL, as other: URL) throws {
        var data = [UInt8](try Data(contentsOf: file))
        guard let movie = boxes(in: data, 0..<data.count).first(where: { $0.name == "moov" }),
            movie.range.upperBound == data.count
        else { throw Tool.Failure(description: "its index is not last") }
        let header = boxes(in: data, movie.content).first { $0.name == "mvhd" }
        guard let header else { throw Tool.Failure(description: "no mvhd") }
        let movieScale = Double(number(data, header.content.lowerBound + 12))
        var parts: [UInt8] = []
        var track = 0
        var longest = 0.0
        for box in boxes(in: data, movie.content) {
            guard box.name == "trak" else {
                parts += data[box.range]
                continue
            }
            defer { track += 1 }
            guard track < edits.count, let list = edits[track] else {
                parts += data[box.range]
                continue
            }
            let inside = boxes(in: data, box.content)
            var delay: Int64 = 0
            if let edts = inside.first(where: { $0.name == "edts" }),
                let elst = boxes(in: data, edts.content).first(where: { $0.name == "elst" })
            {
                let count = Int(number(data, elst.content.lowerBound + 4))
                for entry in 0..<count {
                    let time = number(data, elst.content.lowerBound + 8 + entry * 12 + 4)
                    if time != .max { delay = Int64(time) }
                }
            }
            guard let media = inside.first(where: { $0.name == "mdia" }),
                let mediaHeader = boxes(in: data, media.content).first(where: { $0.name == "mdhd" })
            else { throw Tool.Failure(description: "no mdhd") }
            let scale = Double(number(data, mediaHeader.content.lowerBound + 12))
            var entries: [UInt8] = []
            for edit in list {
                entries += bytes(UInt32((edit.duration * movieScale).rounded()))
                entries += bytes(edit.start.map { UInt32(Int64(($0 * scale).rounded()) + delay) } ?? .max)
                entries += bytes(UInt32((edit.rate * 65_536).rounded()))
            }
            let elst = boxed("elst", bytes(0) + bytes(UInt32(list.count)) + entries)
            var content: [UInt8] = []
            for child in inside where child.name != "edts" {
                content += data[child.range]
                if child.name == "tkhd" { content += boxed("edts", elst) }
            }
            parts += boxed("trak", content)
            longest = max(longest, list.reduce(0) { $0 + $1.duration })
        }
        let whole = boxed("moov", parts)
        data.removeSubrange(movie.range)
        data += whole
        try Data(data).write(to: other)
    }

    private struct Box {
        var name: String
        var range: Range<Int>
        var content: Range<Int> { range.lowerBound + 8..<range.upperBound }
    }

    private static func boxes(in data: [UInt8], _ range: Range<Int>) -> [Box] {
        var found: [Box] = []
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            let length = Int(number(data, position))
            guard length >= 8, position + length <= range.upperBound else { break }
            found.append(
                Box(
                    name: String(decoding: data[position + 4..<position + 8], as: UTF8.self),
                    range: position..<position + length))
            position += length
        }
        return found
    }

    private static func number(_ data: [UInt8], _ offset: Int) -> UInt32 {
        data[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func boxed(_ name: String, _ content: [UInt8]) -> [UInt8] {
        bytes(UInt32(content.count + 8)) + Array(name.utf8) + content
    }
}
