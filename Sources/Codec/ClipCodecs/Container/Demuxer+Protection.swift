import SatchelCore
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// Refuses what is encrypted, be it one track or a part of one: what decoders make of such packets looks like damage.
    func requireClear() throws(FFmpegFailure) {
        let isEncrypted =
            switch format?.protection {
            case .sampleDescriptions: MovieProtection.count(in: bytes) { bytes($0, at: $1) } > 0
            case .trackKeys: hasEncryptedTrack
            case .headerObjects: WindowsProtection.isFound(in: start)
            case .scrambledPackets: hasEncryptedStream || Scrambling.isFound(in: start)
            case nil: false
            }
        guard isEncrypted else { return }
        var hasPictures = false
        var sounds = 0
        for index in 0..<streamCount {
            guard let stream = unsafe stream(index), let parameters = unsafe stream.pointee.codecpar else { continue }
            let isAttached = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            if unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO, !isAttached { hasPictures = true }
            if unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO { sounds += 1 }
        }
        if format?.protection == .sampleDescriptions,
            MovieProtection.count(MovieProtection.pictures, in: bytes, { bytes($0, at: $1) }) == 0
        {
            let encrypted = MovieProtection.count(in: bytes) { bytes($0, at: $1) }
            guard encrypted >= sounds else {
                throw Self.refusal(
                    of: encrypted == 1
                        ? "one of its sound tracks is" : "\(encrypted) of its \(sounds) sound tracks are")
            }
            if hasPictures { throw Self.refusal(of: "the sound of this video is") }
        }
        throw Self.refusal(hasPictures: hasPictures)
    }

    /// Why a file of the MP4 family can't be opened, where that is that it is encrypted: FFmpeg 7.1 opens no fragments whose
    /// pictures are.
    static func encryption(of io: borrowing DescriptorIO, named name: String, bytes: Int64) -> FFmpegFailure? {
        guard ContainerFormat(demuxer: name)?.protection == .sampleDescriptions,
            MovieProtection.count(in: bytes, { io.bytes($0, at: $1) }) > 0
        else { return nil }
        let hasPictures = MovieProtection.count(MovieProtection.pictures, in: bytes) { io.bytes($0, at: $1) } > 0
        return refusal(hasPictures: hasPictures)
    }

    private static func refusal(hasPictures: Bool) -> FFmpegFailure {
        refusal(of: "this \(hasPictures ? "video" : "sound") is")
    }

    private static func refusal(of what: String) -> FFmpegFailure {
        FFmpegFailure(refusal: .unsupported(.encrypted, what))
    }

    /// Of the source, as much as is looked through.
    private var start: [UInt8] { bytes(Int(min(512 << 10, bytes)), at: 0) ?? [] }

    /// Of Matroska: FFmpeg tells of a track's key, and complains of a track that is encrypted without naming one.
    private var hasEncryptedTrack: Bool {
        for index in 0..<streamCount {
            if let stream = unsafe stream(index), unsafe tag("enc_key_id", of: stream) != nil { return true }
        }
        return FFmpegLibraries.loggedErrors.contains { $0.contains("Unsupported encoding type") }
    }

    /// Of a transport stream: the types that Apple's sample encryption gives to H.264 and AAC.
    private var hasEncryptedStream: Bool {
        for index in 0..<streamCount {
            guard let parameters = unsafe stream(index)?.pointee.codecpar else { continue }
            if unsafe [0xdb, 0xcf].contains(parameters.pointee.codec_tag) { return true }
        }
        return false
    }
}

/// Sample descriptions of the MP4 family that say that samples are encrypted: ISO/IEC 14496-12, 8.12, and those of
/// Apple's stores.
enum MovieProtection {
    static let pictures = ["encv", "drmi"]
    static let all = pictures + ["enca", "drms"]
    /// How many there are.
    ///
    /// - Parameters:
    ///   - marks: Those that are looked for.
    ///   - bytes: Of the file.
    ///   - read: So many bytes at an offset; nil beyond the end.
    static func count(_ marks: [String] = all, in bytes: Int64, _ read: (Int, Int64) -> [UInt8]?) -> Int {
        FileBoxes.of(bytes, read) { file in
            /// Counts those within; `path` are the boxes that lead there.
            func count(_ range: Range<Int64>, _ path: ArraySlice<String>) -> Int {
                let boxes = file.boxes(in: range)
                guard let next = path.first else { return boxes.count { marks.contains($0.type) } }
                return boxes.filter { $0.type == next }.reduce(0) { sum, box in
                    // A table of descriptions begins with a version and their count.
                    let start = min(box.content.lowerBound + (next == "stsd" ? 8 : 0), box.content.upperBound)
                    return sum + count(start..<box.content.upperBound, path.dropFirst())
                }
            }
            return count(file.whole, ["moov", "trak", "mdia", "minf", "stbl", "stsd"])
        }
    }
}

/// Headers of Windows Media that say that its packets are encrypted.
enum WindowsProtection {
    /// The objects of content encryption, its extension, and the advanced one, as they are stored.
    private static let marks: [[UInt8]] = [
        [0xfb, 0xb3, 0x11, 0x22, 0x23, 0xbd, 0xd2, 0x11, 0xb4, 0xb7, 0x00, 0xa0, 0xc9, 0x55, 0xfc, 0x6e],
        [0x14, 0xe6, 0x8a, 0x29, 0x22, 0x26, 0x17, 0x4c, 0xb9, 0x35, 0xda, 0xe0, 0x7e, 0xe9, 0x28, 0x9c],
        [0x33, 0x85, 0x05, 0x43, 0x81, 0x69, 0xe6, 0x49, 0x9b, 0x74, 0xad, 0x12, 0xcb, 0x86, 0xd5, 0x8c],
    ]

    /// Whether one is among the objects of the header with which `bytes` begin.
    static func isFound(in bytes: [UInt8]) -> Bool {
        // A header's identifier, its length, the count of its objects, and two bytes.
        var at = 30
        for _ in 0..<200 {
            guard at + 24 <= bytes.count else { return false }
            if marks.contains(where: { bytes[at..<at + 16].elementsEqual($0) }) { return true }
            let length = bytes[at + 16..<at + 24].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard length >= 24, length < UInt64(bytes.count) else { return false }
            at += Int(length)
        }
        return false
    }
}

/// A transport stream's packets: ISO/IEC 13818-1, 2.4.3.2.
enum TransportPacket {
    /// Bytes of each, and at which of them its mark is: as they are, with four bytes of time before each, and with 16 of
    /// correction behind.
    static let layouts = [(188, 0), (192, 4), (204, 0)]
    static let mark: UInt8 = 0x47
}

/// Packets of a transport stream whose payload is scrambled: ISO/IEC 13818-1, 2.4.3.3.
enum Scrambling {
    /// Of its packets: less is an error of transmission.
    private static let share = 8

    static func isFound(in bytes: [UInt8]) -> Bool {
        for (size, first) in TransportPacket.layouts {
            let starts = stride(from: first, to: bytes.count - 3, by: size)
            guard starts.prefix(8).allSatisfy({ bytes[$0] == TransportPacket.mark }) else { continue }
            var packets = 0
            var scrambled = 0
            for at in starts where bytes[at] == TransportPacket.mark {
                packets += 1
                if bytes[at + 3] & 0xc0 != 0 { scrambled += 1 }
            }
            return scrambled * share > packets
        }
        return false
    }
}
