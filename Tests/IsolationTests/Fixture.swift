import Attachments
import FoundationEssentials
import Glibc
import Intake
import TestSupport

/// A file that holds a command for the fault codec, or nothing yet.
struct Scratch: ~Copyable, Sendable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A source, opened read-only.
    func source(_ text: String, name: String = "source") throws -> Descriptor {
        let path = directory.path + "/" + name
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError("make a source") }
        let writer = Descriptor(owning: file)
        let bytes = Array(text.utf8)
        guard unsafe write(writer.number, bytes, bytes.count) == bytes.count else { throw SystemError("write it") }
        let reader = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard reader >= 0 else { throw SystemError("open a source") }
        return Descriptor(owning: reader)
    }

    func path(of name: String) -> String { directory.path + "/" + name }

    /// An empty output.
    func output(_ role: RenditionRole, name: String? = nil) throws(AttachmentError) -> CodecOutput {
        let file = unsafe open(
            path(of: name ?? role.rawValue), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .storeFailed(reason: "no output") }
        return CodecOutput(role: role, writer: Descriptor(owning: file))
    }
}

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
        _ command: String, ceilings: Ceilings = Ceilings(), owner: Owner? = nil, within limit: Duration? = .seconds(20),
        stop: Bool = false, named name: String = "output", in scratch: borrowing Scratch
    ) async throws -> Outcome {
        let source = try scratch.source(command, name: "\(name)-source")
        let directory = scratch.directory.path
        var outcome = Outcome()
        do throws(AttachmentError) {
            outcome.result = try await process(
                source, order: WorkOrder(profile: Self.profile, ceilings: ceilings), owner: owner,
                deadline: limit.map { .now + $0 },
                decide: { (findings) async throws(AttachmentError) -> CodecDecision in
                    outcome.decisions += 1
                    if stop { return .stop }
                    var outputs: [CodecOutput] = []
                    for role in findings.planned {
                        outputs.append(try Self.output(role, at: "\(directory)/\(name)-\(role.rawValue)"))
                    }
                    return .proceed(effort: .full, outputs: outputs)
                },
                received: { (report) async throws(AttachmentError) in outcome.reports.append(report) })
        } catch {
            outcome.error = error
        }
        return outcome
    }

    private static func output(_ role: RenditionRole, at path: String) throws(AttachmentError) -> CodecOutput {
        let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .storeFailed(reason: "no output") }
        return CodecOutput(role: role, writer: Descriptor(owning: file))
    }

    static let profile = Profile(name: "test", thumbnail: ThumbnailPolicy(), image: ImagePolicy())
}

extension CodecPoolConfiguration {
    /// The fault codec in the codec's place.
    static func faulty(
        codecs: Int = 2, sandbox: SandboxPolicy = .standard, sourcesPerTemplate: Int = 1000,
        sourcesPerProcess: Int = 1, memory: Int64 = 4 << 30, silence: Duration = .seconds(1),
        arguments: [String] = []
    ) throws -> CodecPoolConfiguration {
        CodecPoolConfiguration(
            executable: try Repository.product("fault-codec"), codecs: codecs, sandbox: sandbox,
            sourcesPerTemplate: sourcesPerTemplate, sourcesPerProcess: sourcesPerProcess, memory: memory,
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
