import StillCodecs

/// What the header of a frame of MP3 or of AAC in ADTS says that all frames of a recording have in common.
enum AudioFrame {
    /// Bytes of the frame, and a number for its version, rate and channels; nil of what is none.
    static func kind(_ head: some RandomAccessCollection<UInt8>) -> (bytes: Int, kind: Int)? {
        let first = Array(head.prefix(10)).map(Int.init)
        guard first.count == 10 else { return nil }
        if let bytes = MP3Frame.length(head) {
            return (bytes, (first[1] & 0x18) << 8 | (first[2] & 0x0c) << 4 | (first[3] >> 6 == 3 ? 1 : 2))
        }
        guard let bytes = AACElements.frameBytes(head) else { return nil }
        return (bytes, 1 << 16 | (first[2] & 0xfd) << 8 | first[3] & 0xc0)
    }
}

/// What an MP3 frame says of itself.
enum MP3Frame {
    /// Kilobits a second of layer III, by their number in a header: of MPEG 1, and of MPEG 2 and 2.5. ISO/IEC 11172-3,
    /// 2.4.2.3, and ISO/IEC 13818-3, 2.4.2.3.
    private static let bitRates = [
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
    private static let rates = [44_100, 48_000, 32_000]

    /// Bytes of a frame, samples a second and in the frame, and bytes without rounding and padding, by its header; nil where its
    /// bit rate is free, and of what is no header of layer III.
    static func header(
        _ first: UInt8, _ second: UInt8, _ third: UInt8
    ) -> (bytes: Int, rate: Int, samples: Int, mean: Double)? {
        guard first == 0xff, second & 0xe6 == 0xe2 else { return nil }
        let version = Int(second) >> 3 & 3
        let bitRate = Int(third) >> 4
        let rate = Int(third) >> 2 & 3
        let padding = Int(third) >> 1 & 1
        guard (1...14).contains(bitRate), rate < 3, version != 1 else { return nil }
        let isVersion1 = version == 3
        let samples = rates[rate] >> (isVersion1 ? 0 : version == 2 ? 1 : 2)
        let bits = bitRates[isVersion1 ? 0 : 1][bitRate] * 1000
        let product = (isVersion1 ? 144 : 72) * bits
        let mean = Double(product) / Double(samples)
        return (product / samples + padding, samples, isVersion1 ? 1152 : 576, mean)
    }

    /// Bytes of the frame that `packet` begins with; nil of what is none, and where its bit rate is free.
    static func length(_ packet: some RandomAccessCollection<UInt8>) -> Int? {
        let head = Array(packet.prefix(3))
        return head.count == 3 ? header(head[0], head[1], head[2])?.bytes : nil
    }

    /// Bytes that frames of the same version and rate may have.
    static func lengths(like frame: [UInt8]) -> Set<Int> {
        Set((0x10...0xef).compactMap { header(frame[0], frame[1], frame[2] & 0x0c | $0 & 0xf2)?.bytes })
    }

    /// Whether bytes that are no frame are what taggers put before, between and behind them, and not a damaged frame.
    static func isTag(_ bytes: some Collection<UInt8>) -> Bool {
        let content = bytes.drop { $0 == 0 }
        return ["TAG", "ID3", "3DI", "APETAGEX", "LYRICSBEGIN"].contains { content.starts(with: $0.utf8) }
    }

    /// Seconds of sound from `offset` to the end, counted by the frames' headers; nil where anything else lies between
    /// whole frames of one kind, but for an ID3v1 tag at the end.
    ///
    /// - Parameters:
    ///   - bytes: Of the file.
    ///   - read: So many bytes at an offset; nil beyond the end.
    static func seconds(from offset: Int64, of bytes: Int64, read: (Int, Int64) -> [UInt8]?) -> Double? {
        let tag: Int64 = 128
        let hasTag = bytes >= offset + tag && read(3, bytes - tag).map { $0.elementsEqual("TAG".utf8) } == true
        let end = hasTag ? bytes - tag : bytes
        let window: Int64 = 256 << 10
        var (start, held): (Int64, [UInt8]) = (0, [])
        var at = offset
        var frames = 0
        var kind: (rate: Int, samples: Int)?
        while at < end {
            if at < start || at + 4 > start + Int64(held.count) {
                guard at + 4 <= end, let next = read(Int(min(window, end - at)), at) else { return nil }
                (start, held) = (at, next)
            }
            let index = Int(at - start)
            guard let found = header(held[index], held[index + 1], held[index + 2]) else { return nil }
            if let kind, kind != (found.rate, found.samples) { return nil }
            kind = (found.rate, found.samples)
            frames += 1
            at += Int64(found.bytes)
        }
        guard at == end, let kind else { return nil }
        return Double(frames) * Double(kind.samples) / Double(kind.rate)
    }
}
