import SatchelCore
import CVips
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct LeakTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Objects of libvips that are alive in this process: what VIPS_LEAK=1 would list at its end.
    private static var liveObjects: Int {
        var count = 0
        unsafe withUnsafeMutablePointer(to: &count) { count in
            unsafe _ = vips_object_map(
                { _, count, _ in
                    unsafe count?.assumingMemoryBound(to: Int.self).pointee += 1
                    return nil
                }, count, nil)
        }
        return count
    }

    @Test(arguments: [
        "jpeg/orientation-6.jpg", "png/alpha.png", "gif/loop-3.gif", "png/animated.png", "trouble/truncated.jpg",
    ])
    func `no object of libvips outlives its rendering`(path: String) throws {
        let source = Repository.media.appending(path: path)
        try Codec.everything.prepare()
        // Other suites run beside this one and hold some dozen objects for a moment; a leak adds up.
        let rounds = Sweep.count(60, else: 30)
        let before = Self.liveObjects
        for _ in 0..<rounds { _ = try Rendered.refusal(of: source, in: directory.url) }
        #expect(Self.liveObjects - before < rounds)
    }
}
