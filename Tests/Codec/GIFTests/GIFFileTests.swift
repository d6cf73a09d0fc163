import Foundation
import GIF
import TestSupport
import Testing

/// Blocks and pixels of the sample GIFs, against gifsicle's list and ImageMagick's composition.
@Suite struct GIFFileTests {
    static let samples = ((try? MediaManifest.load().files) ?? []).filter {
        $0.path.hasPrefix("gif/") && $0.expect.state == "delivered" && !$0.traits.contains("truncated")
    }

    private static func lines(_ tool: String, _ arguments: [String]) throws -> [String] {
        let result = try Program.tool(tool).run(arguments)
        #expect(result.status == 0, "\(result.errorText)")
        return result.outputText.split(separator: "\n").map(String.init)
    }

    @Test func `there are samples`() {
        #expect(Self.samples.count > 10)
    }

    @Test(arguments: samples)
    func `frames, places and delays are those that gifsicle lists`(sample: MediaSample) throws {
        let file = GIFFile([UInt8](try Data(contentsOf: sample.url)), keeping: 5_000)
        let images = try Self.lines("gifsicle", ["--info", sample.url.path])
        let sizes = images.filter { $0.contains("+ image #") }.compactMap { line in
            line.split(separator: " ").first { $0.contains("x") && $0.first?.isNumber == true }.map(String.init)
        }
        #expect(file.end == .marked && file.lost == 0)
        #expect(file.frames.map { "\($0.area.width)x\($0.area.height)" } == sizes)
        let delays = images.compactMap { line in
            line.range(of: "delay ").flatMap { Double(line[$0.upperBound...].prefix { $0 != "s" }) }
        }
        #expect(file.frames.map(\.delay).filter { $0 > 0 } == delays.map { Int(($0 * 100).rounded()) })
    }

    @Test(arguments: samples)
    func `frame by frame the canvas shows what ImageMagick composes`(sample: MediaSample) throws {
        let bytes = [UInt8](try Data(contentsOf: sample.url))
        let file = GIFFile(bytes, keeping: 40)
        let composed = try Program.tool("convert").run(
            ["gif:\(sample.url.path)[0-\(max(0, file.frames.count - 1))]", "-coalesce", "-depth", "8", "rgba:-"])
        let frameBytes = file.width * file.height * 4
        try #require(composed.output.count == frameBytes * file.frames.count)
        var canvas = Canvas(width: file.width, height: file.height)
        for (index, frame) in file.frames.enumerated() {
            let before = canvas.copy(of: frame.area)
            try Self.draw(frame, of: file, in: bytes, on: &canvas)
            let expected = [UInt8](
                composed.output[(composed.output.startIndex + index * frameBytes)...].prefix(frameBytes))
            // What full transparency hides is nobody's.
            let wanted = stride(from: 0, to: frameBytes, by: 4).flatMap { at in
                expected[at + 3] == 0 ? [0, 0, 0, 0] : expected[at..<at + 4]
            }
            #expect(PixelBytes.rgba(canvas.pixels) == wanted, "frame \(index)")
            if frame.disposal == 2 { canvas.clear(frame.area) }
            if frame.disposal == 3 { canvas.restore(frame.area, from: before) }
        }
    }

    private static func draw(
        _ frame: GIFFile.Frame, of file: GIFFile, in bytes: [UInt8], on canvas: inout Canvas
    ) throws {
        var data: [UInt8] = []
        GIFFile.join(frame, in: bytes, into: &data)
        var indices = [UInt8](repeating: 0, count: frame.area.width * frame.area.height)
        var pixels = indices.mutableSpan
        var decoder = LZWDecoder()
        #expect(decoder.decode(data.span, codeSize: frame.codeSize, into: &pixels) == .complete)
        var palette = file.colours(frame.palette ?? file.palette, in: bytes)
        palette += Array(repeating: 0, count: 256 - palette.count)
        if let transparent = frame.transparent { palette[Int(transparent)] = 0 }
        canvas.draw(indices, palette: palette, area: frame.area, isInterlaced: frame.isInterlaced)
    }

    @Test(arguments: samples)
    func `cut off anywhere or damaged, it is read without harm, and has no more frames than it had`(
        sample: MediaSample
    ) throws {
        let bytes = [UInt8](try Data(contentsOf: sample.url))
        let whole = GIFFile(bytes, keeping: 5_000)
        var random = SeededGenerator(seed: UInt64(bytes.count))
        for _ in 0..<40 {
            let count = Int.random(in: 6..<bytes.count, using: &random)
            let cut = GIFFile(Array(bytes[..<count]), keeping: 5_000)
            #expect(cut.frameCount <= whole.frameCount && cut.end != .marked || count == bytes.count, "\(count) bytes")
            var damaged = bytes
            for _ in 0..<8 {
                damaged[Int.random(in: 6..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let file = GIFFile(damaged, keeping: 10)
            for frame in file.frames {
                #expect(frame.data <= frame.end && frame.end <= damaged.count)
                if frame.area.width * frame.area.height < 1 << 20 { _ = GIFFile.isWhole(frame, in: damaged) }
            }
        }
    }
}
