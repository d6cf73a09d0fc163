import Foundation
import Glibc

/// What a run was measured on and with.
struct Machine: Sendable, Codable {
    var processor: String
    /// That this process may run on.
    var cores: Int
    var memoryBytes: Int64
    /// Processes that wanted a processor in the minute before the run, on average.
    var load: Double
    var kernel: String
    var satchel: String
    /// Versions of the peers that there are, in order.
    var peers: [Tool]

    struct Tool: Sendable, Codable {
        var name: String
        var version: String
    }

    init(satchel: String, peers: [Tool] = []) {
        processor = Self.line(of: "/proc/cpuinfo", "model name")
        cores = Self.usableCores.count
        memoryBytes = Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        var loads = [0.0, 0, 0]
        load = unsafe getloadavg(&loads, 3) > 0 ? loads[0] : 0
        kernel = Self.firstLine(of: "uname", ["-sr"])
        self.satchel = Self.firstLine(of: satchel, ["--version"])
        self.peers = peers
    }

    /// Others were at work: wall times, and the gain of a second core, say little.
    var isBusy: Bool { load > Double(cores) * 0.4 }

    /// Processors that this process may run on: those of a `taskset` or a cpuset.
    static let usableCores = cores(inList: line(of: "/proc/self/status", "Cpus_allowed_list"))

    /// The numbers in the kernel's notation: `0-2,7`.
    static func cores(inList list: String) -> [Int] {
        list.split(separator: ",").flatMap { part in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [Int]() }
            return Array(first...last)
        }
    }

    var text: String {
        let memory = String(format: "%.1f", Double(memoryBytes) / 1e9)
        let tools = ([Tool(name: "satchel", version: satchel)] + peers).map { "\($0.name) \($0.version)" }
        return "\(processor), \(cores) cores, \(memory) GB; \(kernel); \(tools.joined(separator: ", "))"
    }

    private static func line(of path: String, _ key: String) -> String {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "?"
    }

    /// What a program says first; nil where it fails.
    static func answer(of program: String, _ arguments: [String]) -> String? {
        let url = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        var command = Command(program, arguments)
        command.output = url
        guard (try? command.run()) != nil, let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
        return text
    }

    private static func firstLine(of program: String, _ arguments: [String]) -> String {
        answer(of: program, arguments)?.split(separator: "\n").first.map(String.init) ?? "?"
    }
}
