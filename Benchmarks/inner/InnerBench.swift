import SatchelCore
import ClipCodecs
import Glibc
import StillCodecs

/// What inner pieces cost, without processes around them. Prints a line for each input or question, times in
/// milliseconds unless it says otherwise.
///
///     inner-bench hashes WIDTH HEIGHT FRAMES        ThumbHash and BlurHash of each frame of a raw RGB file:
///                                                   processor time of both together
///     inner-bench trim START SECONDS LIMIT OUTPUT INPUT…
///                                                   the main rendition of each video, at most LIMIT pixels long: how it
///                                                   was cut, processor time of everything, wall time of looking and
///                                                   cutting
///     inner-bench speeds SIDE ROUNDS DIRECTORY INPUT…
///                                                   the main rendition of each image or animation, at most SIDE pixels
///                                                   long, at each speed by turns: the least processor time of ROUNDS,
///                                                   bytes, and how many times cheaper than best that is
///     inner-bench pieces SAMPLES DIRECTORY          every piece by turns, for callgrind: its name and how often
///     inner-bench store DIRECTORY COUNT…            questions to a store that holds COUNT pending jobs, attachments and
///                                                   leases, one COUNT after the other: see StoreQuestions
///     inner-bench queue URL DIRECTORY NODES GROUP JOBS
///                                                   nodes that claim and deliver jobs of a database by groups, without the
///                                                   work: how many, and seconds
@main
enum InnerBench {
    /// Not asynchronous: libdispatch would suspend the first thread in a way that valgrind 3.19 crashes on.
    static func main() {
        Task.detached {
            await run(CommandLine.arguments.dropFirst().map(\.self))
            exit(0)
        }
        while true { sleep(1000) }
    }

    private static func run(_ arguments: [String]) async {
        do {
            switch arguments.first {
            case "hashes" where arguments.count == 4:
                guard let width = Int(arguments[1]), let height = Int(arguments[2]), (1...100).contains(width),
                    (1...100).contains(height)
                else { complain("sides are 1 to 100 pixels") }
                try Hashing.measure(width: width, height: height, frames: arguments[3])
            case "trim" where arguments.count > 5:
                guard let start = Double(arguments[1]), let seconds = Double(arguments[2]),
                    let limit = Int(arguments[3])
                else { complain("start, seconds and limit are numbers") }
                try Trimming.measure(
                    start: start, seconds: seconds, limit: limit, output: arguments[4], inputs: arguments.dropFirst(5))
            case "speeds" where arguments.count > 4:
                guard let side = Int(arguments[1]), let rounds = Int(arguments[2]), rounds > 0 else {
                    complain("side and rounds are whole numbers")
                }
                try Speeds.measure(
                    side: side, rounds: rounds, directory: arguments[3], inputs: arguments.dropFirst(4))
            case "pieces" where arguments.count == 3:
                try await Piece.count(samples: arguments[1], directory: arguments[2])
            case "store" where arguments.count > 2:
                let counts = arguments.dropFirst(2).compactMap { Int($0) }
                guard counts.count == arguments.count - 2, counts == counts.sorted(), counts[0] >= 1000 else {
                    complain("counts are whole numbers from 1000, in order")
                }
                try await StoreQuestions.measure(in: arguments[1], counts: counts)
            case "queue" where arguments.count == 6:
                guard let nodes = Int(arguments[3]), let group = Int(arguments[4]), let jobs = Int(arguments[5]),
                    nodes > 0, group > 0, jobs > 0
                else { complain("nodes, group and jobs are whole numbers") }
                try await QueueWork.measure(arguments[1], in: arguments[2], nodes: nodes, group: group, jobs: jobs)
            default:
                complain(
                    "say 'hashes …', 'trim …', 'speeds …', 'pieces …', 'store …' or 'queue …': the top of InnerBench.swift says how"
                )
            }
        } catch {
            complain("\(error)")
        }
    }
}

func milliseconds(_ clock: clockid_t) -> Double {
    var now = timespec()
    unsafe clock_gettime(clock, &now)
    return Double(now.tv_sec) * 1e3 + Double(now.tv_nsec) / 1e6
}

func complain(_ text: String) -> Never {
    let line = Array("inner-bench: \(text)\n".utf8)
    _ = unsafe write(2, line, line.count)
    exit(1)
}

func opened(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { complain("\(path) can't be opened") }
    return descriptor
}
