import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

/// What a power cut at any moment leaves behind.
///
/// SIGKILL spares the page cache, so no kill shows whether something was synced. Here the real program's calls are
/// recorded with their data, over all threads in the order in which they returned (`Tests/Support/kernel-calls`; `PowerCutScenario` has the
/// commands), and replayed into a model of a disk with a cache before it (`CachedDisk`): a sync moves what was changed in
/// that one file or directory before the sync began to the disk, and nothing else does. After each call the power fails.
/// What the cache held is lost, or only names reach the disk, or only bytes, or each change by chance (`Luck`). The files
/// that are left are written out and the real store opens them, SQLite's recovery included:
///
/// - what the program had said before holds: attachments are there and whole, a deleted one stays deleted, a token
///   opens, a revoked one doesn't (`Guarantee`);
/// - nothing dangles: each blob that a record refers to is there and whole;
/// - a source of `--move` is where it was or in the store, a file of `--output` is whole or not there at all;
/// - the store opens, also one whose making was cut off, and a sweep leaves no rest of interrupted work.
///
/// The second test then takes back one sync after the other and expects one of these to break. A sync that can be
/// taken back is one too many: it costs every job a wait for the disk. SQLite's own syncs are judged together for each
/// command and file, because it syncs its log before what follows in it, and once more before a checkpoint.
///
/// Corners of luck are tried after every call that says, syncs, names or removes something. Calls in between, and chance,
/// are tried at some, beginning with another one every day; `SATCHEL_DURABILITY=full` tries all of them.
///
/// The same is done with what a service does (`RecordedService`: from an answer or a call on, whoever got it relies on it) and
/// with the removal of a tenant. They are also killed there, which leaves all that the cache held; of the corners each such call
/// has two.
@Suite struct PowerCutTests {
    private static let isFull = ProcessInfo.processInfo.environment["SATCHEL_DURABILITY"] == "full"
    private static let corners: [CachedDisk.Luck] = [.none, .namesOnly, .newestNamesOnly, .bytesOnly]

    @Test(arguments: PowerCutScenario.Kind.allCases)
    func `what was said holds after a power cut or a kill at any call`(kind: PowerCutScenario.Kind) async throws {
        let scenario = try await kind.scenario
        let day = Int(Date().timeIntervalSince1970 / 86_400)
        var tried: Set<Int> = []
        var states = 0
        for call in scenario.recording.calls.indices {
            let isChosen = Self.isFull || (call + day) % kind.stride == 0
            let isDecisive = scenario.recording.calls[call].isDecisive
            var lucks: [CachedDisk.Luck] = []
            if kind == .commands || Self.isFull {
                if isDecisive || isChosen { lucks += Self.corners }
            } else if isDecisive {
                lucks += [.none, Self.corners[(call + day) % Self.corners.count]]
            }
            if kind != .commands, isDecisive || isChosen { lucks.append(.all) }
            if isChosen { lucks += (0..<(Self.isFull ? 4 : 1)).map { .random(seed: UInt64(day * 7 + call + $0)) } }
            let disk = scenario.disk(after: call)
            let guaranteed = scenario.guaranteed(after: call)
            for luck in lucks {
                let tree = disk.afterPowerCut(luck)
                var hasher = Hasher()
                hasher.combine(tree)
                hasher.combine(guaranteed)
                guard tried.insert(hasher.finalize()).inserted else { continue }
                states += 1
                let wrong = try await scenario.invariants.violations(of: guaranteed, in: tree, sweeping: true)
                #expect(wrong.isEmpty, "power cut after call \(call), \(luck): \(wrong)")
            }
        }
        #expect(states > (kind == .commands ? 200 : 80), "so few states can't have shown much")
    }

    @Test(arguments: [PowerCutScenario.Kind.commands, .service])
    func `taking back any one sync breaks what was said`(kind: PowerCutScenario.Kind) async throws {
        let scenario = try await kind.scenario
        var judged = 0
        for sync in scenario.recording.syncs where !scenario.isOfSQLite(sync) {
            judged += 1
            let broken = try await Self.violation(in: scenario, without: [sync])
            #expect(broken != nil, "call \(sync), the sync of '\(scenario.path(ofSync: sync))', is not needed")
        }
        #expect(judged > (kind == .commands ? 20 : 10), "so few syncs can't be all")
    }

    @Test(arguments: [PowerCutScenario.Kind.commands, .service])
    func `taking back SQLite's syncs of one file in one command breaks what was said`(
        kind: PowerCutScenario.Kind
    ) async throws {
        let scenario = try await kind.scenario
        var judged: [String: Int] = [:]
        for (index, command) in scenario.recording.commands.enumerated() {
            var names: [String] = []
            // Something is said while the database is open, or removed.
            if ["add", "batch", "rm", "serve"].contains(command.arguments[0]) { names.append("records.sqlite-wal") }
            // The log is removed after a checkpoint, to which not every command comes. gc says nothing. Where the lease
            // before it left its log, what a revocation takes back is lost with it, so nothing shows.
            let isVoid =
                command.arguments[0] == "revoke" && !scenario.removesLog(scenario.recording.commands[index - 1])
            if kind == .commands, command.arguments[0] != "store", !isVoid, scenario.removesLog(command) {
                names.append("records.sqlite")
            }
            // The names of a new store. Later an old log may come back without this; whether that shows depends on what
            // is in it.
            if kind == .commands, index == 0 { names.append("") }
            for name in names {
                let path = name.isEmpty ? Machine.store : "\(Machine.store)/\(name)"
                let syncs = command.calls.filter { scenario.path(ofSync: $0) == path && scenario.isOfSQLite($0) }
                try #require(!syncs.isEmpty, "\(command.arguments) never syncs '\(path)'")
                judged[name, default: 0] += 1
                let broken = try await Self.violation(in: scenario, without: syncs)
                #expect(broken != nil, "\(command.arguments): the syncs of '\(path)' are not needed")
            }
        }
        #expect(judged.count == (kind == .commands ? 3 : 1), "some kind of file was never judged: \(judged)")
    }

    /// No command keeps a source in the spool before it answers, for what is fetched can be fetched again; uploads will.
    @Test func `a source that was kept in the spool survives a power cut, by every one of its syncs`() throws {
        let machine = try Machine()
        var recording = try Recording(of: machine)
        let source = Data(repeating: 7, count: 100_000)
        let result = try recording.run(
            program: "fetch-probe", ["\(machine.home)/spool", "--keep"], input: source, on: machine)
        let path = "spool/\(result.outputText.trimmingCharacters(in: .newlines))"
        func isLost(without sync: Int?) -> Bool {
            var disk = CachedDisk(recording.start)
            var isSaid = false
            for (index, call) in recording.calls.enumerated() where index != sync {
                disk.replay(call, at: index)
                isSaid = isSaid || call.isSaid
                guard isSaid else { continue }
                for luck in Self.corners where disk.afterPowerCut(luck).files[path] != source { return true }
            }
            return false
        }
        #expect(!isLost(without: nil))
        #expect(recording.syncs.count == 3, "the file, the spool, and the directory that it was made in")
        for sync in recording.syncs { #expect(isLost(without: sync), "call \(sync) is not needed") }
    }

    /// What breaks when some syncs of one file did nothing; nil where nothing does.
    private static func violation(in scenario: PowerCutScenario, without syncs: [Int]) async throws -> String? {
        var cuts: [Int] = []
        for sync in syncs {
            cuts += scenario.calls(concernedBySync: sync).filter { scenario.recording.calls[$0].isDecisive }
        }
        // Where something was just said, most shows at once.
        cuts.sort {
            (scenario.recording.calls[$0].isSaid ? 0 : 1, $0) < (scenario.recording.calls[$1].isSaid ? 0 : 1, $1)
        }
        for luck in corners {
            for cut in cuts {
                let tree = scenario.disk(after: cut, without: syncs).afterPowerCut(luck)
                let wrong = try await scenario.invariants.violations(
                    of: scenario.guaranteed(after: cut), in: tree, sweeping: false)
                if let first = wrong.first { return first }
            }
        }
        return nil
    }
}

extension Call {
    /// Whether a power cut after this call may find what one before it didn't: something was said, synced, named or
    /// removed. What is written or made shows with the next of these.
    fileprivate var isDecisive: Bool {
        switch operation {
        case .output, .sent, .exit, .sync, .link, .rename, .unlink: true
        case .write, .truncate, .create, .createUnnamed, .makeDirectory: false
        }
    }

    fileprivate var isSaid: Bool {
        switch operation {
        case .output, .sent, .exit: true
        default: false
        }
    }
}
