import Foundation
import Glibc

/// What the kernel tells of a process.
struct ProcessStatus {
    var number: Int32
    var fields: [String: String]

    init?(_ number: Int32) {
        guard let text = try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8) else { return nil }
        self.number = number
        fields = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
    }

    subscript(name: String) -> String { fields[name] ?? "" }

    var parent: Int32 { Int32(self["PPid"]) ?? 0 }
    var isZombie: Bool { self["State"].hasPrefix("Z") }

    static var all: [ProcessStatus] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.compactMap { ProcessStatus($0) }
    }

    static func children(of parent: Int32) -> [ProcessStatus] {
        all.filter { $0.parent == parent }
    }

    /// The processes, other than this one, that have `path` open.
    static func holding(_ path: String) -> [Int32] {
        all.map(\.number).filter { number in
            guard number != getpid() else { return false }
            let directory = "/proc/\(number)/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\($0)")) == path
            }
        }
    }

    /// Descriptors of processes that this process has open: each process of a pool has one, beside its socket.
    static func pidfds() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.contains("pidfd")
                == true
        }
    }

    /// Descriptors that a process has open.
    static func descriptors(of number: Int32) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/fd").count) ?? 0
    }
}
