import SatchelCore
import Foundation
import Synchronization
import TestSupport

/// Zones for tests: the system's files, and in front of them some that are made up.
final class ZoneFiles: TimeZoneSource {
    static let system = ZoneFiles()
    static let directory = URL(filePath: "/usr/share/zoneinfo")

    private let known: Mutex<[String: TimeZoneRules]>

    init(_ made: [String: TZifFile] = [:]) {
        known = Mutex(
            made.mapValues { file in
                guard let rules = try? TimeZoneRules(tzif: file.bytes) else { preconditionFailure("no sound file") }
                return rules
            })
    }

    func rules(of name: String) throws(TriggerError) -> TimeZoneRules {
        if let rules = known.withLock({ $0[name] }) { return rules }
        guard let bytes = try? Data(contentsOf: Self.directory.appending(path: name)),
            let rules = try? TimeZoneRules(tzif: Array(bytes))
        else { throw .unknownTimeZone(name, nearest: []) }
        known.withLock { $0[name] = rules }
        return rules
    }

    /// The names of the system's zones, as the index of its package has them and as far as they have a file.
    static let names: [String] = {
        let index = (try? String(contentsOf: directory.appending(path: "tzdata.zi"), encoding: .utf8)) ?? ""
        let names = index.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            switch words.first {
            case "Z": return String(words[1])
            case "L": return String(words[2])
            default: return nil
            }
        }
        return names.filter {
            FileManager.default.fileExists(atPath: directory.appending(path: $0).path(percentEncoded: false))
        }
        .sorted()
    }()
}

extension Instant {
    /// Of a text with an offset.
    init(written text: String) throws {
        guard let instant = WrittenTime(text)?.instant else { throw NoTime(text: text) }
        self = instant
    }

    private struct NoTime: Error {
        var text: String
    }
}

extension Trigger {
    /// The next occurrences after an instant, from one position to the next.
    func occurrences(
        after instant: Instant, _ count: Int, in zones: some TimeZoneSource = ZoneFiles.system
    ) throws -> [Occurrence] {
        var occurrences: [Occurrence] = []
        while occurrences.count < count,
            let next = try next(after: occurrences.last?.position, accepted: instant, in: zones)
        {
            occurrences.append(next)
        }
        return occurrences
    }

    /// The same after a written time, as local times.
    func locals(
        after text: String, _ count: Int, in zones: some TimeZoneSource = ZoneFiles.system
    ) throws -> [String?] {
        try occurrences(after: Instant(written: text), count, in: zones).map(\.local)
    }
}
