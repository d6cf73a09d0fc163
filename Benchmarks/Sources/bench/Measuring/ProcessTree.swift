import Foundation
import Glibc

/// A process and all beneath it, at one moment.
struct ProcessTree: Sendable {
    var processes: Set<pid_t>

    init(of root: pid_t) {
        processes = [root]
        var children: [pid_t: [pid_t]] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let id = pid_t(name), let fields = Self.fields(of: id), fields[0] != "Z",
                let parent = pid_t(fields[1])
            else { continue }
            children[parent, default: []].append(id)
        }
        var open = [root]
        while let next = open.popLast() {
            for child in children[next] ?? [] where processes.insert(child).inserted { open.append(child) }
        }
    }

    /// Bytes in memory: of what processes share, each has its part (`Pss`).
    var memory: Int64 {
        processes.reduce(0) { sum, process in
            guard let text = try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Pss:") })
            else { return sum }
            return sum + (Int64(line.filter(\.isNumber)) ?? 0) * 1024
        }
    }

    /// Seconds of processors that they took so far, and those of their children that have ended and were waited for.
    var cpu: Double {
        let ticks = processes.reduce(0.0) { sum, process in
            // After the name: state, parent, …; utime, stime, cutime and cstime are the fields 14 to 17 of them all.
            guard let fields = Self.fields(of: process), fields.count > 14 else { return sum }
            return sum + fields[11...14].compactMap { Double($0) }.reduce(0, +)
        }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The fields of `/proc/ID/stat` after the name.
    private static func fields(of process: pid_t) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? fields : nil
    }
}
