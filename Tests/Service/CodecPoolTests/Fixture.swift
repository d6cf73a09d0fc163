import SatchelCore
import CodecPool
import Foundation
import Glibc
import TestSupport
import Testing

/// A directory for the sources and outputs of one test.
struct Scratch: ~Copyable, Sendable {
    let directory: TemporaryDirectory
    let place: Place

    init() throws {
        directory = try TemporaryDirectory()
        place = Place(path: directory.path)
    }
}

/// The path of a directory that outlives its user.
struct Place: Sendable {
    var path: String

    func path(of name: String) -> String { path + "/" + name }

    /// A source that holds `text`, opened read-only.
    func source(_ text: String, name: String = "source") throws -> Descriptor {
        let file = unsafe open(path(of: name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError("make a source") }
        let writer = Descriptor(owning: file)
        let bytes = Array(text.utf8)
        guard unsafe write(writer.number, bytes, bytes.count) == bytes.count else { throw SystemError("write it") }
        let reader = unsafe open(path(of: name), O_RDONLY | O_CLOEXEC)
        guard reader >= 0 else { throw SystemError("open a source") }
        return Descriptor(owning: reader)
    }

    /// An empty output.
    func output(_ role: RenditionRole, name: String) throws(AttachmentError) -> CodecOutput {
        let file = unsafe open(path(of: name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .storeFailed(reason: "no output") }
        return CodecOutput(role: role, writer: Descriptor(owning: file))
    }
}

/// Every test of this target, one after the other: they count processes.
@Suite(.serialized, .timeLimit(.minutes(10))) enum Isolation {}

/// What became of one source.
struct Outcome: Sendable {
    var result: CodecResult?
    var error: AttachmentError?
    var reports: [RenditionReport] = []
    var decisions = 0
}

extension CodecPool {
    /// Sends a source that holds `command` through, and takes whatever it plans.
    func run(
        _ command: String, ceilings: Ceilings = Ceilings(), owner: Owner? = nil, within limit: Duration? = .seconds(60),
        stop: Bool = false, named name: String = "output", in place: Place
    ) async throws -> Outcome {
        await run(
            owning: try place.source(command, name: "\(name)-source"), profile: Self.profile, ceilings: ceilings,
            owner: owner, within: limit, stop: stop, named: name, in: place)
    }

    /// Sends a source through, and takes whatever is planned.
    func run(
        owning source: consuming Descriptor, profile: Profile, ceilings: Ceilings = Ceilings(), owner: Owner? = nil,
        within limit: Duration? = .seconds(60), stop: Bool = false, named name: String = "output", in place: Place
    ) async -> Outcome {
        let source = source
        var outcome = Outcome()
        do throws(AttachmentError) {
            outcome.result = try await process(
                source, order: WorkOrder(profile: profile, ceilings: ceilings), owner: owner,
                deadline: limit.map { .now + $0 },
                decide: { (probeResult) async throws(AttachmentError) -> CodecDecision in
                    outcome.decisions += 1
                    if stop { return .stop }
                    var outputs: [CodecOutput] = []
                    for role in probeResult.planned {
                        outputs.append(try place.output(role, name: "\(name)-\(role.rawValue)"))
                    }
                    return .proceed(outputs: outputs)
                },
                received: { (report) async throws(AttachmentError) in outcome.reports.append(report) })
        } catch {
            outcome.error = error
        }
        return outcome
    }

    static let profile = Profile(name: "test", thumbnail: .defaults, image: .defaults)
}

extension Place {
    /// Another name for a codec, by which its zygotes can be told from those of other tests.
    ///
    /// - Parameter ending: `-stills` has the fault codec take only what is for that one.
    func alias(of codec: String, ending: String = "") throws -> (executable: URL, name: String) {
        let name = "c" + String(UInt32.random(in: 0...UInt32.max), radix: 36) + ending
        let alias = URL(filePath: path(of: name))
        try FileManager.default.createSymbolicLink(at: alias, withDestinationURL: Repository.product(codec))
        // The kernel keeps 15 bytes.
        return (alias, String(name.prefix(15)))
    }

    /// The zygotes that were started by this process under `name`.
    static func zygotes(named name: String) -> [ProcessStatus] {
        ProcessStatus.children(of: getpid()).filter { $0["Name"] == name }
    }
}

extension CodecPoolConfiguration {
    /// The fault codec in the codec's place.
    static func faulty(
        at executable: URL? = nil, stills: URL? = nil,
        codecs: Int = 2, sandbox: SandboxPolicy = .standard, sourcesPerZygote: Int = 1000,
        sourcesPerProcess: Int = 1, memory: Int64 = 4 << 30, silence: Duration = .seconds(30),
        arguments: [String] = []
    ) throws -> CodecPoolConfiguration {
        CodecPoolConfiguration(
            executable: try executable ?? Repository.product("fault-codec"), stills: stills, codecs: codecs,
            sandbox: sandbox, sourcesPerZygote: sourcesPerZygote, sourcesPerProcess: sourcesPerProcess, memory: memory,
            silence: silence, arguments: arguments)
    }
}

/// A started pool for one test.
func withPool<Value>(
    _ configuration: CodecPoolConfiguration, _ body: (CodecPool, SandboxReport) async throws -> Value
) async throws -> Value {
    let pool = CodecPool(configuration)
    let report = try await pool.start()
    do {
        let value = try await body(pool, report)
        await pool.shutdown()
        return value
    } catch {
        await pool.shutdown()
        throw error
    }
}
