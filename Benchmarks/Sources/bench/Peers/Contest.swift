import Foundation

/// Contenders side by side: first a look at what each makes, then rounds in which they take turns.
struct Contest {
    /// Of the comparison.
    var name: String
    var title: String
    /// What one of the sources is called, in the singular.
    var item: String
    var contenders: [Contender]
    var sources: [String]
    /// As many again as `sources`, and others: what these cost beside the first is the cost of one more. Empty where
    /// that isn't asked.
    var moreSources: [String] = []
    /// How often that is looked at.
    var moreRounds = Int.max
    /// Whose CPU is the measure of all others.
    var measure: String
    var rounds: Int
    let workplace: Workplace
    /// Columns of what the look finds.
    var lookColumns: [Comparison.Column] = []

    /// - Parameter look: Says what is to be said of what a contender made in a directory, and throws where that isn't what
    ///   is measured: a contender like that has no figures.
    func hold(look: (Contender, _ place: URL) throws -> [Comparison.Figure]) throws -> Comparison {
        var entries: [Entry] = []
        for contender in contenders {
            Progress.say("\(name): a look at what \(contender.title) makes")
            entries.append(inspect(contender, look))
        }
        for round in 0..<rounds {
            for turn in entries.indices {
                // Another one begins in each round.
                let index = (turn + round) % entries.count
                guard entries[index].absence == nil, round == 0 || !isSlow(entries[index]) else {
                    continue
                }
                Progress.say("\(name), round \(round + 1) of \(rounds): \(entries[index].contender.title)")
                do {
                    try run(&entries[index], withMore: round < moreRounds)
                } catch {
                    entries[index].absence = Self.reason(error)
                }
            }
        }
        let reference = entries.first { $0.contender.name == measure && $0.absence == nil }?.cpu
        return Comparison(
            name: name, title: title, columns: columns(reference: reference),
            rows: entries.map { row($0, reference: reference) })
    }

    /// Seconds: a peer that took longer to make everything in the look has one round alone.
    private static let patience = 15.0

    private func isSlow(_ entry: Entry) -> Bool {
        entry.contender.role == .peer && entry.contender.name != measure && entry.lookSeconds > Self.patience
    }

    private struct Entry {
        var contender: Contender
        var absence: String?
        var memory: Int64 = 0
        var lookSeconds = 0.0
        var looks: [Comparison.Figure] = []
        /// Milliseconds for each source.
        var cpu: [Double] = []
        var wall: [Double] = []
        var more: [Double] = []
    }

    /// For a table that others read as well: a line, without the directories of this machine.
    private static func reason(_ error: any Error) -> String {
        let text = "\(error)".replacing(FileManager.default.currentDirectoryPath + "/", with: "")
        return String(text.split(separator: "\n").joined(separator: " ").prefix(300))
    }

    private func inspect(_ contender: Contender, _ look: (Contender, URL) throws -> [Comparison.Figure]) -> Entry {
        var entry = Entry(contender: contender)
        do {
            let place = try emptyPlace()
            defer { try? FileManager.default.removeItem(at: place) }
            let make = contender.makeToLook ?? contender.make
            let (usage, memory) = try MemoryWatch.peak(with: contender.services) { try make(sources, place) }
            entry.memory = memory
            entry.lookSeconds = usage.wall
            entry.looks = try look(contender, place)
        } catch {
            entry.absence = Self.reason(error)
            Progress.note("\(name): no figure for \(contender.title): \(error)")
        }
        return entry
    }

    private func run(_ entry: inout Entry, withMore: Bool) throws {
        let contender = entry.contender
        let count = Double(sources.count)
        let usage = try make(sources, contender.make)
        entry.cpu.append(usage.cpu / count * 1000)
        let soonest = try contender.makeSoonest.map { try make(sources, $0) } ?? usage
        entry.wall.append(soonest.wall / count * 1000)
        if withMore, contender.startsOnce, !moreSources.isEmpty {
            let all = try make(sources + moreSources, contender.make)
            entry.more.append((all.cpu - usage.cpu) / Double(moreSources.count) * 1000)
        }
    }

    private func make(_ sources: [String], _ body: ([String], URL) throws -> Usage) throws -> Usage {
        let place = try emptyPlace()
        defer { try? FileManager.default.removeItem(at: place) }
        return try body(sources, place)
    }

    private func emptyPlace() throws -> URL {
        let place = workplace.scratch.appending(path: "contest-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    private func columns(reference: [Double]?) -> [Comparison.Column] {
        var columns = [Comparison.Column(name: "cpu", title: "CPU per \(item)", unit: .milliseconds)]
        if reference != nil {
            columns.append(Comparison.Column(name: "multiple", title: "times as little as \(measure)", unit: .ratio))
        }
        if !moreSources.isEmpty {
            columns.append(Comparison.Column(name: "cpu_more", title: "CPU of one more", unit: .milliseconds))
        }
        return columns + [
            Comparison.Column(name: "wall", title: "wall time per \(item)", unit: .milliseconds),
            Comparison.Column(name: "rate", title: "\(item)s", unit: .perSecond),
            Comparison.Column(name: "memory", title: "peak memory of all processes", unit: .megabytes),
        ] + lookColumns
    }

    private func row(_ entry: Entry, reference: [Double]?) -> Comparison.Row {
        var row = Comparison.Row(
            name: entry.contender.name, title: entry.contender.title, role: entry.contender.role, figures: [],
            absence: entry.absence)
        guard entry.absence == nil, !entry.cpu.isEmpty else {
            row.absence = entry.absence ?? "was not measured"
            return row
        }
        func add(_ column: String, _ samples: [Double]) {
            if !samples.isEmpty { row.figures.append(Comparison.Figure(column: column, spread: Spread(samples))) }
        }
        // Of a service that nobody named the process of, nothing is known.
        add("cpu", entry.cpu.filter { $0 > 0 })
        // Round by round: what slows one down in a round slows the other, too.
        add("multiple", zip(reference ?? [], entry.cpu).filter { $0.1 > 0 }.map { $0.0 / $0.1 })
        add("cpu_more", entry.more)
        add("wall", entry.wall)
        add("rate", entry.wall.filter { $0 > 0 }.map { 1000 / $0 })
        add("memory", [Double(entry.memory) / 1e6])
        row.figures += entry.looks
        return row
    }
}
