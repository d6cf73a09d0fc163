import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What became of a source in a process of its own, and what it took.
struct Survived: Codable {
    var name: String
    /// `delivered`, or an error's code, with the count and the limit where it has them.
    var outcome: String
    /// What the error tells the sender, or in what the diagnosis of a file that is delivered is wrong.
    var message: String
    /// Bytes of memory, at the peak, above those of a process that has not begun.
    var memory: Int64
    /// Of processor time.
    var seconds: Double

    /// Takes in every file of `folder`, in the order of their names, and writes what became of each into `report`, line by
    /// line: a crash leaves the lines before it.
    static func run(_ folder: URL, names: [String], renders: Bool, report: URL) throws {
        try Codec.everything.prepare()
        _ = FileManager.default.createFile(atPath: report.path, contents: nil)
        // What earlier files left in the allocator counts for the later ones.
        let rest = try memory("VmRSS")
        let lines = try FileHandle(forWritingTo: report)
        for name in names {
            try lines.write(contentsOf: Data("begin \(name)\n".utf8))
            let survived = try one(folder.appending(path: name), renders: renders, above: rest)
            try lines.write(contentsOf: try JSONEncoder().encode(survived) + Data("\n".utf8))
        }
    }

    private static func one(_ source: URL, renders: Bool, above rest: Int64) throws -> Survived {
        // The peak begins anew.
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let start = clock()
        var outcome = "delivered"
        var message = ""
        do {
            if renders {
                let directory = try TemporaryDirectory()
                message = try Rendered.of(source, in: directory.url).contradiction ?? ""
            } else {
                try withDescriptor(source) { descriptor in
                    _ = try Codec.everything.identify(descriptor, order: WorkOrder(profile: .notification))
                }
            }
        } catch let error as AttachmentError {
            outcome = [error.code.rawValue, error.counts].joined(separator: " ").trimmingCharacters(in: .whitespaces)
            message = error.message
        }
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        return Survived(
            name: source.lastPathComponent, outcome: outcome, message: message,
            memory: try memory("VmHWM") - rest, seconds: seconds)
    }

    private static func memory(_ field: String) throws -> Int64 {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(field):") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }
        guard let kilobytes else { throw Tool.Failure(description: "the kernel does not tell \(field)") }
        return kilobytes << 10
    }

    /// Reads a report; the name of the file on which the process died, if it did, is the second value.
    static func read(_ report: URL) throws -> ([Survived], diedOn: String?) {
        let lines = try String(contentsOf: report, encoding: .utf8).split(separator: "\n")
        let survived = try lines.filter { $0.hasPrefix("{") }
            .map { try JSONDecoder().decode(Survived.self, from: Data($0.utf8)) }
        let last = lines.last.flatMap { $0.hasPrefix("begin ") ? String($0.dropFirst(6)) : nil }
        return (survived, last)
    }

    /// By how much more a process may take that checks its own use of memory, as with `make sanitize`.
    static let slack: Int64 = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil ? 1 : 10

    /// Whether it is among `allowed`: an outcome as it is, or a code alone.
    func isOne(of allowed: [String]) -> Bool {
        allowed.contains { $0 == outcome || $0 == outcome.prefix { $0 != " " } }
    }
}

extension AttachmentError {
    /// The count and the limit, where it is one of a limit.
    fileprivate var counts: String {
        switch self {
        case .sourceTooLarge(let count, let limit), .tooManyPixels(let count, let limit): "\(count) \(limit)"
        case .sideTooLong(let count, let limit): "\(count) \(limit)"
        case .tooMuch(_, let count, let limit): "\(count) \(limit)"
        case .tooManyFrames(let count, let limit): "\(count) \(limit)"
        default: ""
        }
    }
}

/// Files that `Tests/Codec/hostile-media/make.py` makes.
struct LyingFiles {
    var folder: URL
    /// What may come of each file.
    var outcomes: [String: [String]]

    var names: [String] { outcomes.keys.sorted() }

    /// - Parameter group: `limits`, `bombs` or `lies`.
    init(_ group: String, in directory: URL) throws {
        folder = directory.appending(path: group)
        let script = Repository.root.appending(path: "Tests/Codec/hostile-media/make.py")
        _ = try Tool.text("python3", [script.path, directory.path, group])
        let list = try Data(contentsOf: folder.appending(path: "outcomes.json"))
        outcomes = try JSONDecoder().decode([String: [String]].self, from: list)
    }
}
