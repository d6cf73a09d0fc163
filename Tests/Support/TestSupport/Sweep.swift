import Foundation
import Glibc

/// Cases that differ by a place or a number alone: an ordinary run tries some of them, the same each time, and
/// `make test-full` all.
public enum Sweep {
    /// Whether all are tried: with `SATCHEL_TESTS=full` in the environment.
    public static let isFull: Bool = {
        let isFull = ProcessInfo.processInfo.environment["SATCHEL_TESTS"] == "full"
        if !isFull {
            let words = "Sweeps are sampled: SATCHEL_TESTS=full, which make test-full sets, tries every case.\n"
            try? FileHandle.standardError.write(contentsOf: Data(words.utf8))
        }
        return isFull
    }()

    /// All in a full run, else each `step`-th of them, beginning with that at `offset`.
    ///
    /// A test that sweeps for several arguments gives each another offset, so that together they leave out little.
    public static func of<Cases: Sequence>(_ all: Cases, every step: Int, from offset: Int = 0) -> [Cases.Element] {
        isFull ? Array(all) : all.enumerated().filter { $0.offset % step == offset % step }.map(\.element)
    }

    /// A number of rounds: of random cases, which begin alike whatever their number is, or of bytes.
    public static func count(_ all: Int, else some: Int) -> Int { isFull ? all : some }
}
