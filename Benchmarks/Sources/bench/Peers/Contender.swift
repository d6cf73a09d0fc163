import Foundation

/// Somebody who makes the same of the same sources as others do.
struct Contender: Sendable {
    /// For programs: never reworded.
    var name: String
    var title: String
    var role: Comparison.Role
    /// Makes something of all sources, into a directory that is there and empty; at the settings at which it takes the
    /// least of the processors.
    var make: @Sendable (_ sources: [String], _ place: URL) throws -> Usage
    /// The same at the settings at which it is done soonest, where those are others.
    var makeSoonest: (@Sendable (_ sources: [String], _ place: URL) throws -> Usage)?
    /// The same for somebody who looks at what is made, where else nobody would find it.
    var makeToLook: (@Sendable (_ sources: [String], _ place: URL) throws -> Usage)?
    /// Whether it starts once for all sources, so that one source more costs less than the first.
    var startsOnce = false
    /// Processes that serve it and run all the time.
    var services: [pid_t] = []

    init(
        _ name: String, _ title: String, _ role: Comparison.Role, startsOnce: Bool = false,
        make: @escaping @Sendable (_ sources: [String], _ place: URL) throws -> Usage
    ) {
        self.name = name
        self.title = title
        self.role = role
        self.startsOnce = startsOnce
        self.make = make
    }
}

extension Contender {
    /// A program that is called for each source: one loop of calls for each processor.
    static func calls(
        _ name: String, _ title: String, _ role: Comparison.Role = .peer,
        _ commands: @escaping @Sendable (_ source: String, _ place: URL) throws -> [Command]
    ) -> Contender {
        Contender(name, title, role) { sources, place in
            let loops = Machine.usableCores.count
            return try Loops.run(
                try (0..<loops).map { loop in
                    try stride(from: loop, to: sources.count, by: loops).flatMap { try commands(sources[$0], place) }
                })
        }
    }

    /// A library in a process of its own that takes all sources: one process for the least CPU, one for each processor
    /// to be done soonest.
    static func library(
        _ name: String, _ title: String, _ role: Comparison.Role = .peer,
        _ command: @escaping @Sendable (_ sources: [String], _ place: URL) throws -> Command
    ) -> Contender {
        var contender = Contender(name, title, role, startsOnce: true) { sources, place in
            try command(sources, place).run()
        }
        contender.makeSoonest = { sources, place in
            let loops = Machine.usableCores.count
            let shares = (0..<loops).map { loop in stride(from: loop, to: sources.count, by: loops).map { sources[$0] }
            }
            return try Loops.run(try shares.filter { !$0.isEmpty }.map { [try command($0, place)] })
        }
        return contender
    }
}
