import Testing

@testable import StillCodecs

/// What is changed in the chunks of a PNG beside its decoder.
@Suite struct PNGChunksTests {
    @Test func `a colour of a palette that is quite transparent becomes black`() {
        let cleared = clearHidden(in: file(transparency: [0, 128]))
        #expect(cleared[palette] == [0, 0, 0, 40, 50, 60])
        // By zlib's crc32.
        #expect(cleared[palette.upperBound..<palette.upperBound + 4] == [0x51, 0x26, 0x86, 0x61])
    }

    @Test(arguments: [[0, 0, 0], [0, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
    func `a list of more transparencies than there are colours counts for nothing`(transparency: [UInt8]) {
        let file = file(transparency: transparency)
        #expect(clearHidden(in: file) == file)
    }

    /// Of two colours.
    private func file(transparency: [UInt8]) -> [UInt8] {
        [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A] + chunk("PLTE", [10, 20, 30, 40, 50, 60])
            + chunk("tRNS", transparency) + chunk("IEND", [])
    }

    private let palette = 16..<22

    private func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(data.count)] + Array(name.utf8) + data + [1, 2, 3, 4]
    }

    private func clearHidden(in file: [UInt8]) -> [UInt8] {
        var changed = file
        unsafe changed.withUnsafeMutableBytes { unsafe PNGChunks.clearHidden(in: $0) }
        return changed
    }
}
