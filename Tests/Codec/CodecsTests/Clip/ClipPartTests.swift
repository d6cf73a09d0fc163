import SatchelCore
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct ClipPartTests {
    @Test func `a part around a moment holds it, in its middle where the source goes far enough`() throws {
        var generator = SeededGenerator()
        for _ in 0..<3000 {
            let source = Double.random(in: 0.1...100, using: &generator)
            let moment = Double.random(in: 0...source, using: &generator)
            let length = Bool.random(using: &generator) ? Double.random(in: 0.05...120, using: &generator) : nil
            let maximum = Bool.random(using: &generator) ? Double.random(in: 0.1...60, using: &generator) : nil
            let part = try ClipPart(
                of: source, request: TrimRequest(start: nil, duration: length), around: moment, maximum: maximum,
                whenLonger: .trim)
            #expect(part.start >= 0 && part.end <= source + 1e-9)
            #expect(part.start <= moment + 1e-9 && part.end >= moment - 1e-9)
            #expect(abs(part.duration - min(source, length ?? .infinity, maximum ?? .infinity)) <= 0.021)
            let isInside = part.start > 1e-9 && part.end < source - 1e-9
            if isInside { #expect(abs(part.start + part.end - 2 * moment) < 0.021) }
        }
    }

    @Test(
        arguments: [(nil, nil, 25.0, 10.0), (0.0, nil, 0, 10), (59.9, nil, 50, 10), (nil, 4.0, 28, 4), (99, 4, 56, 4)]
            as [(Double?, Double?, Double, Double)])
    func `a part around a moment keeps within the source at its ends`(
        moment: Double?, length: Double?, start: Double, duration: Double
    ) throws {
        let part = try ClipPart(
            of: 60, request: TrimRequest(start: nil, duration: length), around: moment, maximum: 10, whenLonger: .trim)
        #expect(part.start == start)
        #expect(part.duration == duration)
    }

    @Test(
        arguments: [
            (nil, nil, 0.0, 60.0, false), (TrimRequest(start: 5), nil, 5, 55, true),
            (TrimRequest(start: 5, duration: 100), nil, 5, 55, true), (nil, 10.0, 0, 10, true),
            (TrimRequest(start: 55, duration: 10), 10, 55, 5, true),
            (TrimRequest(start: 0, duration: 60), nil, 0, 60, false),
        ] as [(TrimRequest?, Double?, Double, Double, Bool)])
    func `the part is what was asked, within the source and the profile`(
        request: TrimRequest?, maximum: Double?, start: Double, duration: Double, isTrimmed: Bool
    ) throws {
        let part = try ClipPart(of: 60, request: request, maximum: maximum, whenLonger: .trim)
        #expect(part.start == start)
        #expect(part.duration == duration)
        #expect(part.isTrimmed == isTrimmed)
    }

    @Test func `a profile that doesn't trim refuses what is longer, and takes a trim without an end as far as it goes`()
        throws
    {
        #expect(throws: AttachmentError.tooLong(seconds: 60, limit: 10)) {
            try ClipPart(of: 60, request: nil, maximum: 10, whenLonger: .refuse)
        }
        #expect(throws: AttachmentError.tooLong(seconds: 20, limit: 10)) {
            try ClipPart(of: 60, request: TrimRequest(start: 3, duration: 20), maximum: 10, whenLonger: .refuse)
        }
        let part = try ClipPart(of: 60, request: TrimRequest(start: 3), maximum: 10, whenLonger: .refuse)
        #expect(part.end == 13)
        #expect(part.isLimited)
    }

    @Test func `a trim outside the clip is refused`() {
        for request in [TrimRequest(start: 60), TrimRequest(start: 1e300), TrimRequest(start: 1, duration: 0)] {
            #expect(throws: AttachmentError.self) {
                try ClipPart(of: 60, request: request, maximum: nil, whenLonger: .trim)
            }
        }
    }
}
