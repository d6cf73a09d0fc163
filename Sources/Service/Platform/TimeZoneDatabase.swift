package import SatchelCore
import Glibc
import Synchronization
package import SystemPackage

/// The rules of time zones that this machine has, as its package of the IANA database installed them: a directory of TZif
/// files.
///
/// A file is read when its zone is asked for, and kept until ``reload()``.
package final class TimeZoneDatabase: TimeZoneSource {
    private struct State {
        var version: TimeZoneRulesVersion
        var rules: [String: TimeZoneRules] = [:]
        /// Read when they are first needed.
        var names: [String]?
    }

    package let directory: FilePath
    private let state: Mutex<State>

    /// The directory of `TZDIR`, which the C library goes by too, else the usual one.
    package static var standardDirectory: FilePath {
        guard let directory = unsafe getenv("TZDIR"), unsafe directory.pointee != 0 else {
            return "/usr/share/zoneinfo"
        }
        return unsafe FilePath(platformString: directory)
    }

    package init(_ directory: FilePath = TimeZoneDatabase.standardDirectory) {
        self.directory = directory
        state = Mutex(State(version: Self.version(of: directory)))
    }

    /// Which edition it is.
    package var version: TimeZoneRulesVersion { state.withLock { $0.version } }

    /// When the edition was made, as far as can be told.
    package var date: Instant { version.date(modified: Self.modified(of: directory)) }

    /// Looks at the directory again: what was read of an earlier edition is forgotten.
    ///
    /// - Returns: Whether it is another edition than before.
    @discardableResult
    package func reload() -> Bool {
        let version = Self.version(of: directory)
        return state.withLock { state in
            let isOther = state.version != version
            // Of the same edition too: a file may have been read while the directory was changed.
            state = State(version: version)
            return isOther
        }
    }

    // MARK: Zones

    package func rules(of name: String) throws(TriggerError) -> TimeZoneRules {
        if let known = state.withLock({ $0.rules[name] }) { return known }
        guard Self.isName(name), let bytes = Self.read(name, in: directory) else {
            guard !names.isEmpty else {
                throw .unreadableTimeZone(name, reason: "'\(directory)' has no time zones")
            }
            throw .unknownTimeZone(name, nearest: nearest(to: name))
        }
        do throws(TZifError) {
            let rules = try TimeZoneRules(tzif: bytes)
            state.withLock { $0.rules[name] = rules }
            return rules
        } catch {
            throw .unreadableTimeZone(name, reason: "'\(directory.appending(name))': \(error)")
        }
    }

    /// The names of all zones, in order.
    package var names: [String] {
        if let known = state.withLock({ $0.names }) { return known }
        let names = Self.zones(in: directory)
        state.withLock { $0.names = names }
        return names
    }

    /// Names that somebody may have meant by one that isn't there, the likeliest first: those of the same city, or written
    /// alike.
    package func nearest(to name: String) -> [String] {
        func city(_ name: String) -> String {
            name.lowercased().split(separator: "/").last.map(String.init) ?? ""
        }
        let names = names
        let words = String(name.prefix(40)).lowercased()
        let same = names.filter { $0.lowercased() == words }
        let cities = names.filter { city($0) == city(words) && !same.contains($0) }
        let alike = NearestName.nearest(to: words, in: names, atMost: 3) { $0.lowercased() }
        let cityAlike = NearestName.nearest(to: city(words), in: names, atMost: 3, by: city)
        var nearest: [String] = []
        for name in same + cities + alike + cityAlike where !nearest.contains(name) { nearest.append(name) }
        return Array(nearest.prefix(3))
    }

    /// Whether it can be a zone's: a path downwards of letters, digits and a few signs. Beneath `posix` are the same zones once
    /// more, beneath `right` others with leap seconds; the others here are this machine's choices.
    private static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, !notZones.contains(String(first)), parts.count <= depth, name.utf8.count <= 128
        else { return false }
        return parts.allSatisfy { part in
            !part.isEmpty && part != "." && part != ".."
                && part.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                        || [0x2B, 0x2D, 0x2E, 0x5F].contains(byte)
                }
        }
    }

    private static let notZones = ["posix", "right", "localtime", "posixrules"]
    /// Parts of a name at most; the database has three.
    private static let depth = 4
    /// Bytes of a file at most: some ten times what the largest has that `zic` writes.
    private static let fileLimit: Int64 = 128 << 10

    /// The beginning of a file; nil where there is none. Zones may be links to others, and what isn't a file mustn't be waited
    /// for.
    private static func read(_ name: String, in directory: FilePath, atMost limit: Int64 = fileLimit) -> [UInt8]? {
        guard
            let file = try? Files.open(
                directory.appending(name), .readOnly, .nonBlocking, to: "open a time zone's file")
        else { return nil }
        return try? Files.read(0..<limit, of: file)
    }

    private static func zones(in directory: FilePath) -> [String] {
        var zones: [String] = []
        func walk(_ prefix: String, _ depth: Int) {
            for name in (try? Files.names(in: directory.appending(prefix))) ?? [] {
                let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
                guard isName(path) else { continue }
                if Files.isDirectory(directory.appending(path)) {
                    if depth > 1 { walk(path, depth - 1) }
                } else if read(path, in: directory, atMost: 4)?.elementsEqual("TZif".utf8) ?? false {
                    zones.append(path)
                }
            }
        }
        walk("", depth)
        return zones.sorted()
    }

    // MARK: The edition

    /// Files whose beginning tells the release: that of the database's source in one file, and what `make install` writes.
    private static let releaseFiles = [(name: "tzdata.zi", prefix: "# version "), (name: "+VERSION", prefix: "")]

    private static func version(of directory: FilePath) -> TimeZoneRulesVersion {
        for (name, prefix) in releaseFiles {
            guard let head = read(name, in: directory, atMost: 128) else { continue }
            let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            let release = line.dropFirst(prefix.count)
            guard line.hasPrefix(prefix), !release.isEmpty, release.utf8.count <= 64,
                release.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-+_".contains($0)) })
            else { continue }
            return TimeZoneRulesVersion(rawValue: String(release))
        }
        // FNV-1a, over names and bytes (<http://www.isthe.com/chongo/tech/comp/fnv/>).
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for zone in zones(in: directory) {
            for byte in Array(zone.utf8) + (read(zone, in: directory) ?? []) {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            }
        }
        return TimeZoneRulesVersion(modified: modified(of: directory), hash: hash)
    }

    /// When the file that tells the release was written, else the latest zone's.
    private static func modified(of directory: FilePath) -> Instant {
        func modified(_ name: String) -> Instant? {
            var status = stat()
            let path = directory.appending(name)
            guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return nil }
            return Instant(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
        }
        return releaseFiles.lazy.compactMap { modified($0.name) }.first
            ?? zones(in: directory).compactMap(modified).max() ?? Instant(milliseconds: 0)
    }
}
