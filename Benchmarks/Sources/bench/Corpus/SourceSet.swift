import Foundation

/// What a contest is about: sources that everybody can read, with what is to be said of them.
struct SourceSet: Sendable {
    struct Source: Hashable, Sendable {
        var path: String
        /// As stored.
        var width: Int
        var height: Int
        var frames: Int
        var bytes: Int
    }

    /// A file of the user's own that nobody is measured with.
    struct LeftOut: Hashable, Sendable {
        /// Beneath the user's directory.
        var name: String
        var reason: String
    }

    var sources: [Source]
    var leftOut: [LeftOut] = []

    var files: [String] { sources.map(\.path) }

    /// `24 photographs of 1.9 to 24 MP`
    var photographs: String { counted("photograph", sources.map { Double($0.width * $0.height) / 1e6 }, "MP") }

    /// `8 GIFs of 44 to 125 frames`
    var animations: String { counted("GIF", sources.map { Double($0.frames) }, "frames") }

    /// `1000 pictures of 17 to 23 kB`
    var pictures: String { counted("picture", sources.map { Double($0.bytes) / 1e3 }, "kB") }

    private func counted(_ item: String, _ values: [Double], _ unit: String) -> String {
        let things = "\(sources.count) \(item)\(sources.count == 1 ? "" : "s")"
        guard let least = values.min(), let most = values.max() else { return things }
        let (from, to) = (Self.short(least), Self.short(most))
        return "\(things) of \(from == to ? to : "\(from) to \(to)") \(unit)"
    }

    /// Two digits, or all before the point.
    private static func short(_ value: Double) -> String {
        let text = String(format: value < 9.95 ? "%.1f" : "%.0f", value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// What was left out, a line for each; of many the first.
    var notes: [String] {
        let shown = 20
        let lines = leftOut.prefix(shown).map { "Left out for everybody: \($0.name): \($0.reason)" }
        return leftOut.count <= shown ? lines : lines + ["Left out for everybody: \(leftOut.count - shown) more"]
    }
}

extension SourceSet {
    /// What `sources.py` found out about files.
    ///
    /// - Parameters:
    ///   - names: Of each, for people.
    ///   - answers: Lines of the script, one for each.
    /// - Throws: ``CommandFailure`` where nothing is left.
    init(_ files: [String], names: [String], answers: [String]) throws {
        sources = []
        for (index, file) in files.enumerated() {
            let words = index < answers.count ? answers[index].split(separator: " ") : []
            let numbers = words.compactMap { Int($0) }
            if numbers.count == 3, words.count == 3 {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                sources.append(
                    Source(
                        path: file, width: numbers[0], height: numbers[1], frames: numbers[2],
                        bytes: attributes[.size] as? Int ?? 0))
            } else {
                leftOut.append(
                    LeftOut(name: names[index], reason: words.dropFirst().joined(separator: " ").orUnknown))
            }
        }
        try checkRest()
    }

    /// Leaves out further files.
    ///
    /// - Parameters:
    ///   - reasons: By path.
    ///   - names: By path, for people.
    /// - Throws: ``CommandFailure`` where nothing is left.
    mutating func leaveOut(_ reasons: [String: String], names: [String: String]) throws {
        leftOut += sources.compactMap { source in
            reasons[source.path].map { LeftOut(name: names[source.path] ?? source.path, reason: $0) }
        }
        sources.removeAll { reasons[$0.path] != nil }
        try checkRest()
    }

    private func checkRest() throws {
        guard sources.isEmpty else { return }
        throw CommandFailure(
            command: ["--corpus"], reason: (["nothing is left to measure"] + notes).joined(separator: "\n"))
    }
}

extension String {
    fileprivate var orUnknown: String { isEmpty ? "it can't be decoded" : self }
}

extension RunContext {
    /// The user's files of a kind, without those that not everybody can make something of; else synthetic ones.
    ///
    /// - Parameters:
    ///   - kind: ``NamedCorpus/Kind/photographs`` or ``NamedCorpus/Kind/animations``.
    ///   - refusals: Why Satchel delivers nothing, or something else, of which of some files.
    func sources(
        _ kind: NamedCorpus.Kind, synthetic: () throws -> Directory, refusals: ([String]) throws -> [String: String]
    ) throws -> SourceSet {
        guard let corpus else {
            let files = try synthetic().files
            return try look(files, names: files, kind)
        }
        let found = try corpus.sources(kind)
        var set = try look(found.files, names: found.names, kind)
        try remove(found.files, but: set)
        try set.leaveOut(
            try refusals(set.files), names: Dictionary(uniqueKeysWithValues: zip(found.files, found.names)))
        try remove(found.files, but: set)
        for note in set.notes { Progress.note(note) }
        return set
    }

    private func look(_ files: [String], names: [String], _ kind: NamedCorpus.Kind) throws -> SourceSet {
        let list = workplace.scratch.appending(path: "sources-\(UUID().uuidString)")
        let answers = workplace.scratch.appending(path: "answers-\(UUID().uuidString)")
        defer { for file in [list, answers] { try? FileManager.default.removeItem(at: file) } }
        try Data(files.map { "\($0)\n" }.joined().utf8).write(to: list)
        let script = options.peerFiles.appending(path: "sources.py").path(percentEncoded: false)
        var command = Command(
            "/usr/bin/python3", [script, kind == .animations ? "GIF" : "JPEG", list.path(percentEncoded: false)])
        command.output = answers
        try command.run()
        let lines = try String(contentsOf: answers, encoding: .utf8).split(separator: "\n").map(String.init)
        guard lines.count == files.count else {
            throw CommandFailure(command: command.line, reason: "looked at \(lines.count) of \(files.count) files")
        }
        return try SourceSet(files, names: names, answers: lines)
    }

    /// Some contenders take whole directories.
    private func remove(_ files: [String], but set: SourceSet) throws {
        let kept = Set(set.files)
        for file in files where !kept.contains(file) && FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }
}
