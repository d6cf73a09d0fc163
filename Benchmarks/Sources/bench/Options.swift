import Foundation

/// What is to be measured, and where.
struct Options: Sendable {
    /// The directory of `satchel`, `satchel-codec` and `inner-bench`.
    var programs = URL(filePath: ".build/release", directoryHint: .isDirectory)
    /// Where inputs, virtual environments and results are kept.
    var directory = URL(filePath: ".bench", directoryHint: .isDirectory)
    var samples = URL(filePath: "Media", directoryHint: .isDirectory)
    /// The scripts and settings of peers.
    var peerFiles = URL(filePath: "Benchmarks/peers", directoryHint: .isDirectory)
    /// Sources of the user's own, in place of the synthetic ones.
    var corpus: URL?
    var seed: UInt64 = 20_260_701
    /// More inputs and more rounds: an hour rather than minutes.
    var isFull = false
    /// Nil for what the extent has.
    var wantedRounds: Int?
    /// In the order in which they are measured.
    var parts = Part.all.filter(\.isInShortRun)
    var keepsResults = false
    var resumes = false
    /// Beside the built-in ones.
    var peers: [PeerTemplate] = []

    var rounds: Int { wantedRounds ?? (isFull ? 5 : 3) }
    var extent: String { isFull ? "full" : "short" }
}

/// What the program was called for.
enum Invocation {
    case help
    case list
    case measure(Options)
    /// Draws the plots of earlier results anew.
    case draw(Options)
    /// Draws them into a directory, and writes the figures into its README.
    case publish(Options, URL)

    /// - Throws: ``CommandFailure``, which says what is wrong.
    init(_ arguments: some Collection<String>) throws {
        var options = Options()
        var only: [Part] = []
        var rest = Array(arguments)
        var draws = false
        var published: URL?
        func wrong(_ reason: String) -> CommandFailure {
            CommandFailure(command: ["bench"], reason: "\(reason); 'bench --help' says more")
        }
        func value(of option: String) throws -> String {
            guard !rest.isEmpty else { throw wrong("\(option) needs a value") }
            return rest.removeFirst()
        }
        func directory(of option: String) throws -> URL {
            URL(filePath: try value(of: option), directoryHint: .isDirectory)
        }
        while !rest.isEmpty {
            let option = rest.removeFirst()
            switch option {
            case "--help", "-h":
                self = .help
                return
            case "--list":
                self = .list
                return
            case "--programs": options.programs = try directory(of: option)
            case "--directory": options.directory = try directory(of: option)
            case "--samples": options.samples = try directory(of: option)
            case "--peer-files": options.peerFiles = try directory(of: option)
            case "--corpus": options.corpus = try directory(of: option)
            case "--seed":
                guard let seed = UInt64(try value(of: option)) else { throw wrong("--seed is a whole number") }
                options.seed = seed
            case "--rounds":
                guard let number = Int(try value(of: option)), number > 0 else {
                    throw wrong("--rounds is a whole number from 1")
                }
                options.wantedRounds = number
            case "--full": options.isFull = true
            case "--resume": options.resumes = true
            case "--only":
                for name in try value(of: option).split(separator: ",") {
                    guard let part = Part.all.first(where: { $0.name == name }) else {
                        throw wrong("there is no part '\(name)': --list shows all")
                    }
                    only.append(part)
                }
            case "--peer": options.peers.append(try PeerTemplate(command: try value(of: option)))
            case "--peer-url": options.peers.append(try PeerTemplate(url: try value(of: option)))
            case "--draw": draws = true
            case "--publish": published = try directory(of: option)
            default: throw wrong("'\(option)' is not known")
            }
        }
        if options.isFull { options.parts = Part.all }
        if !only.isEmpty { options.parts = Part.all.filter { part in only.contains { $0.name == part.name } } }
        options.keepsResults = options.resumes || !only.isEmpty
        if let published {
            self = .publish(options, published)
        } else {
            self = draws ? .draw(options) : .measure(options)
        }
    }
}
