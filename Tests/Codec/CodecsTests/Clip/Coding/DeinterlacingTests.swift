import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Interlaced video, and pictures that are stored turned, mirrored or squeezed; judged by an independent decoder.
@Suite struct DeinterlacingTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// The share of pixels, in percent, that are brighter or darker than both lines beside them: the teeth of a comb.
    private func combs(_ url: URL, _ size: PixelSize) throws -> [Double] {
        let data = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-i", url.path, "-map", "0:v", "-vsync", "passthrough", "-pix_fmt", "gray", "-f",
                "rawvideo", "-",
            ])
        let raw = [UInt8](data)
        let pixels = Int(size.area)
        return stride(from: 0, to: raw.count - pixels + 1, by: pixels).map { start in
            var teeth = 0
            for y in 1..<size.height - 1 {
                for x in 0..<size.width {
                    let at = start + y * size.width + x
                    let (above, here, below) = (Int(raw[at - size.width]), Int(raw[at]), Int(raw[at + size.width]))
                    if (here - above) * (here - below) > 300 { teeth += 1 }
                }
            }
            return Double(teeth) / Double(pixels) * 100
        }
    }

    @Test(
        arguments: [
            ("a.ts", "top", ["-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-top", "1", "-q:v", "2"]),
            ("b.mpg", "bottom", ["-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-top", "0", "-q:v", "2"]),
            ("c.mp4", "top", ["-c:v", "libx264", "-x264opts", "tff=1:qp=14"]),
            ("d.mkv", "bottom", ["-c:v", "libx264", "-x264opts", "bff=1:qp=14"]),
        ])
    func `interlaced video becomes whole pictures at their own times`(
        name: String, first: String, encoding: [String]
    ) throws {
        let source = file(name)
        // Large shapes that move by eight pixels between fields.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i",
                "color=c=black:size=320x240:rate=50:duration=1,geq=lum='if(lt(mod(X+8*N,80),40),220,30)':cb=128:cr=128",
                "-vf", "tinterlace=interleave_\(first),setfield=\(first == "top" ? "tff" : "bff"),format=yuv420p",
            ] + encoding, to: source)
        let size = PixelSize(width: 320, height: 240)
        let before = try combs(source, size)
        #expect(before.allSatisfy { $0 > 10 }, "\(before)")
        let made = try #require(try Clips.render(source))
        let main = try #require(made.main)
        let after = try combs(main, size)
        #expect(after.count == before.count)
        #expect(after.allSatisfy { $0 < 1.5 }, "\(after)")
        #expect(abs(try Probe.of(main).duration - 1) < 0.05)
        let note = try #require(made.report(.main)?.note)
        #expect(note.contains("deinterlaced"), "\(note)")
        let times = try #require(try Probe.of(main, frames: true).frames?.compactMap { Double($0.ptsTime ?? "") })
        for (index, time) in times.enumerated() { #expect(abs(time - Double(index) * 0.04) < 0.002) }
        // The poster is one picture, not two fields.
        let poster = try combs(try made.file(.poster), size)
        #expect(poster.allSatisfy { $0 < 2.5 }, "\(poster)")
    }

    @Test func `DV, whose every picture is two fields, becomes whole pictures with square pixels`() throws {
        let source = file("tape.avi")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i",
                "color=c=black:size=720x576:rate=50:duration=0.4,geq=lum='if(lt(mod(X+12*N,180),90),220,30)':cb=128:cr=128",
                "-vf", "tinterlace=interleave_bottom,setfield=bff,setsar=16/15,format=yuv420p", "-c:v", "dvvideo",
            ], to: source)
        let before = try combs(source, PixelSize(width: 720, height: 576))
        #expect(before.allSatisfy { $0 > 4 }, "\(before)")
        let made = try #require(try Clips.render(source))
        let stream = try made.pictures()
        #expect(stream.width == 768 && stream.height == 576)
        #expect(stream.sampleAspectRatio == "1:1")
        let after = try combs(try #require(made.main), PixelSize(width: 768, height: 576))
        #expect(after.count == before.count)
        #expect(after.allSatisfy { $0 < 1 }, "\(after)")
    }

    @Test func `a mistaken order of fields does no harm`() throws {
        let source = file("mistaken.ts")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i",
                "color=c=black:size=320x240:rate=50:duration=0.6,geq=lum='if(lt(mod(X+8*N,80),40),220,30)':cb=128:cr=128",
                "-vf", "tinterlace=interleave_top,setfield=bff,format=yuv420p", "-c:v", "mpeg2video", "-flags",
                "+ilme+ildct", "-top", "0", "-q:v", "2",
            ], to: source)
        let made = try #require(try Clips.render(source))
        let after = try combs(try #require(made.main), PixelSize(width: 320, height: 240))
        #expect(after.count == 15)
        #expect(after.allSatisfy { $0 < 1.5 }, "\(after)")
    }

    @Test func `pictures that are whole stay as they are, whatever the stream says`() throws {
        // Fine lines that a deinterlacer would blur.
        let source = file("whole.ts")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i",
                "color=c=black:size=320x240:rate=25:duration=0.6,geq=lum='if(lt(mod(Y,2),1),180,60)':cb=128:cr=128",
                "-vf", "format=yuv420p", "-c:v", "mpeg2video", "-q:v", "2",
            ], to: source)
        let made = try #require(try Clips.render(source))
        let after = try combs(try #require(made.main), PixelSize(width: 320, height: 240))
        #expect(after.allSatisfy { $0 > 80 }, "\(after)")
    }

    /// The nine numbers of a movie's display matrix, for a picture of 64×32.
    private static let matrices: [[Int32]] = {
        let one: Int32 = 1 << 16
        return [
            [one, 0, 0, 0, one, 0, 0, 0], [0, one, 0, -one, 0, 0, 0, 0], [-one, 0, 0, 0, -one, 0, 0, 0],
            [0, -one, 0, one, 0, 0, 0, 0], [-one, 0, 0, 0, one, 0, 0, 0], [one, 0, 0, 0, -one, 0, 0, 0],
            [0, one, 0, one, 0, 0, 0, 0], [0, -one, 0, -one, 0, 0, 0, 0],
        ].map { $0 + [1 << 30] }
    }()

    @Test(arguments: 0..<8)
    func `every turn and mirroring is undone, copied or encoded`(index: Int) throws {
        let matrix = Self.matrices[index]
        let source = file("turned.mp4")
        // Quarters of four levels.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i",
                "color=c=black:size=64x32:rate=25:duration=1,geq=lum='40+lt(X,32)*60+lt(Y,16)*120':cb=128:cr=128",
                "-vf",
                "format=yuv420p", "-c:v", "libx264", "-g", "250", "-qp", "4",
            ], to: source)
        var data = try Data(contentsOf: source)
        let header = try #require(data.range(of: Data("tkhd".utf8))).lowerBound
        for (place, value) in matrix.enumerated() {
            let bytes = UInt32(bitPattern: value)
            for byte in 0..<4 { data[header + 44 + place * 4 + byte] = UInt8(bytes >> (24 - 8 * UInt32(byte)) & 255) }
        }
        try data.write(to: source)

        let turns = matrix[0] == 0
        let upright = turns ? PixelSize(width: 32, height: 64) : PixelSize(width: 64, height: 32)
        // ISO/IEC 14496-12, 6.2.2: where the middle of each quarter goes, seen from the picture's middle.
        var expected: [Int: Double] = [:]
        for (x, y) in [(-1, -1), (1, -1), (-1, 1), (1, 1)] {
            let right = Int(matrix[0].signum()) * x + Int(matrix[3].signum()) * y
            let down = Int(matrix[1].signum()) * x + Int(matrix[4].signum()) * y
            expected[(down > 0 ? 2 : 0) + (right > 0 ? 1 : 0)] = Double(40 + (x < 0 ? 60 : 0) + (y < 0 ? 120 : 0))
        }
        for trim in [nil, TrimRequest(start: 0.2, duration: 0.5)] {
            let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
            #expect(made.probeResult.size == upright)
            let main = try #require(made.main)
            if trim == nil {
                // The same matrix: what shows the source shows it.
                #expect(made.report(.main)?.encodes == 0)
                let bytes = try Data(contentsOf: main)
                let place = try #require(bytes.range(of: Data("tkhd".utf8))).lowerBound + 44
                #expect(bytes[place..<place + 20] == data[header + 44..<header + 64])
            }
            for file in [trim == nil ? nil : main, try made.file(.poster)].compactMap(\.self) {
                let raw = try Tool.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-noautorotate", "-i", file.path, "-frames:v", "1", "-vf",
                        "scale=\(upright.width):\(upright.height):out_range=tv,format=yuv420p,extractplanes=y", "-f",
                        "rawvideo", "-",
                    ])
                for (quarter, level) in expected {
                    let x = upright.width / 4 * (quarter % 2 == 1 ? 3 : 1)
                    let y = upright.height / 4 * (quarter / 2 == 1 ? 3 : 1)
                    let seen = Double(raw[y * upright.width + x])
                    #expect(
                        abs(seen - level) < 8,
                        "quarter \(quarter) is \(seen), not \(level), in \(file.lastPathComponent)")
                }
            }
        }
    }

    @Test(arguments: [("4/3", 320, 180), ("1/2", 180, 240)])
    func `pixels that aren't square become so`(aspect: String, width: Int, height: Int) throws {
        let source = file("squeezed.mkv")
        let stored = aspect == "4/3" ? "240x180" : "180x120"
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=\(stored):rate=25:duration=0.4", "-vf",
                "setsar=\(aspect),format=yuv420p", "-c:v", "mpeg4", "-q:v", "3",
            ], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.size == PixelSize(width: width, height: height))
        for role in [RenditionRole.main, .poster] {
            let stream = try made.pictures(role)
            #expect(stream.width == width && stream.height == height)
            #expect(stream.sampleAspectRatio == nil || stream.sampleAspectRatio == "1:1")
        }
    }
}
