import SatchelCore
import ClipCodecs
import Glibc
import StillCodecs

/// What each speed takes of a picture or an animation, beside `best`, in one process.
enum Speeds {
    static func measure(side: Int, rounds: Int, directory: String, inputs: ArraySlice<String>) throws {
        try Codec.everything.prepare()
        for input in inputs {
            var least: [Speed: (time: Double, bytes: Int64)] = [:]
            for _ in 0..<rounds {
                for speed in Speed.allCases {
                    let (time, bytes) = try render(input, speed, side: side, directory: directory)
                    if time < least[speed]?.time ?? .infinity { least[speed] = (time, bytes) }
                }
            }
            guard let best = least[.best] else { continue }
            for speed in Speed.allCases {
                guard let found = least[speed] else { continue }
                print(input, speed.rawValue, found.time, found.bytes, best.time / found.time)
            }
        }
    }

    /// Milliseconds of the processor's, from the look at it to the end, and bytes.
    private static func render(
        _ input: String, _ speed: Speed, side: Int, directory: String
    ) throws -> (Double, Int64) {
        var profile = Profile(name: "bench", speed: speed)
        profile.image = .defaults
        profile.image?.longestSide = side
        profile.image?.cap = 100_000_000
        profile.animation = .defaults
        profile.animation?.longestSide = side
        profile.animation?.cap = 100_000_000
        let source = opened(input, O_RDONLY)
        defer { close(source) }
        let result = opened("\(directory)/\(speed.rawValue)", O_RDWR | O_CREAT | O_TRUNC)
        let start = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
        let identified = try Codec.everything.identify(source, order: WorkOrder(profile: profile))
        var bytes: Int64 = 0
        _ = try Codec.everything.render(
            identified, command: RenderCommand(memory: 4 << 30, outputs: [.main]), outputs: [.main: result]
        ) { report in bytes = report.bytes }
        let end = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
        close(result)
        return (end - start, bytes)
    }
}
