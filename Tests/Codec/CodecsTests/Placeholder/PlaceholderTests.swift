import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// The expected hashes were made once by the algorithms' published implementations: ThumbHash's port on PyPI
/// (thumbhash 0.1.2, its handling of alpha corrected) and BlurHash's C code (blurhash-python 1.2.2).
@Suite struct PlaceholderTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var width: Int
        var height: Int
        var hasAlpha: Bool
        var thumbhash: String
        var blurhash: String?

        var testDescription: String { "\(width)×\(height)\(hasAlpha ? " with alpha" : "")" }

        /// A picture without symmetry, whose terms lie clear of the steps they are rounded to.
        var raster: Raster {
            var bytes: [UInt8] = []
            for y in 0..<height {
                for x in 0..<width {
                    bytes += [(x * x + 3 * y) % 256, (y * y * 2 + 5 * x) % 256, (x * y + 7 * x) % 256].map(UInt8.init)
                    if hasAlpha { bytes.append(UInt8(255 - (x * 7 + y * y) % 256)) }
                }
            }
            return Raster(width: width, height: height, channels: hasAlpha ? 4 : 3, bytes: bytes)
        }
    }

    static let vectors = [
        Vector(
            width: 32, height: 20, hasAlpha: false, thumbhash: "HegJFIYgY6dFh5lmmHb6ZQOAzA==",
            blurhash: "LLF$tz1D5|BMijQoX3r{Qsn4bvjz"),
        Vector(
            width: 20, height: 32, hasAlpha: false, thumbhash: "G+gJFAggN4VZlnVYZ3nPoyZwtg==",
            blurhash: "LMEf~66G1W]#ICNEoN#@ZQieoiS%"),
        Vector(
            width: 100, height: 1, hasAlpha: false, thumbhash: "3ec5EYh3doeIiAiI0Hjad/g=",
            blurhash: "L~F$-6R8RiQr~qR8RiQr~qR8RiQr"),
        Vector(
            width: 64, height: 64, hasAlpha: false, thumbhash: "HwgCDwIEI1E0NFR1cmdnZzZ39jlV5xAJ",
            blurhash: "L6HLh[RzD6TRB-61AA7BR7v#L,%C"),
        Vector(width: 32, height: 20, hasAlpha: true, thumbhash: "2/eFC4QYEFNDdmSvdQSUyr+I6IfapnQ="),
    ]

    @Test(arguments: vectors)
    func `a ThumbHash is what the published implementation makes`(vector: Vector) {
        #expect(ThumbHash.encode(vector.raster) == vector.thumbhash)
    }

    @Test(arguments: vectors.filter { $0.blurhash != nil })
    func `a BlurHash is what the published implementation makes`(vector: Vector) {
        #expect(BlurHash.encode(vector.raster) == vector.blurhash)
    }

    /// The ThumbHash of this picture is in the tests of two ports, in Elixir and in C#, which agree.
    ///
    /// BlurHash made of go-blurhash's `fixtures/test.png` and `fixtures/octocat.png` what that repository says
    /// (`LFE.@D9F01_2%L%MIVD*9Goe-;WB`, `LNAdApj[00aymkj[TKay9}ay-Sj[`) when this was written; they are too large to be here.
    @Test func `the flower of ThumbHash's author has the ThumbHash that is known`() throws {
        let directory = try TemporaryDirectory()
        let source = directory.url.appending(path: "flower.jpg")
        try #require(Data(base64Encoded: PublishedPictures.flower, options: .ignoreUnknownCharacters)).write(to: source)
        let pixels = try Tool.run("convert", [source.path, "-depth", "8", "rgb:-"])
        let raster = Raster(width: 75, height: 100, channels: 3, bytes: Array(pixels))
        #expect(ThumbHash.encode(raster) == "k0oGLQaSVsN0BVhn2oq2Z5SQUQcZ")
    }

    @Test func `the dominant colour is the mean of the most frequent colours`() {
        // Two shades of one red, and one blue pixel; the transparent green doesn't count.
        let red: [UInt8] = [200, 10, 10, 255]
        let shade: [UInt8] = [210, 20, 10, 255]
        let raster = Raster(
            width: 5, height: 1, channels: 4, bytes: red + shade + [0, 0, 255, 255] + [0, 255, 0, 0] + [0, 255, 0, 0])
        #expect(DominantColour.of(raster).hexadecimal == "#cd0f0a")
    }
}
