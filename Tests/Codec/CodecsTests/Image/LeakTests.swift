import SatchelCore
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

    @Test(arguments: [
        "jpeg/orientation-6.jpg", "png/alpha.png", "gif/loop-3.gif", "png/animated.png", "trouble/truncated.jpg",
    ])
    func `no object of libvips outlives its rendering`(path: String) throws {
        let source = Repository.media.appending(path: path)
        try Codec.everything.prepare()
        // Other suites run beside this one and hold some dozen objects for a moment; a leak adds up.
        let rounds = Sweep.count(60, else: 30)
        let before = Libvips.liveObjects
        for _ in 0..<rounds { _ = try Rendered.refusal(of: source, in: directory.url) }
        #expect(Libvips.liveObjects - before < rounds)
    }
}
