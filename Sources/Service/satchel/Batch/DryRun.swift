import SatchelCore
import CodecPool
import Foundation
import Ingest
import Synchronization

/// Estimates a batch. New and changed sources are identified; nothing is prepared or stored.
struct DryRun {
    let profile: Profile
    let codecs: CodecOptions
    let files: any SourceSupply
    /// Reads objects if the source is a bucket.
    let objects: (any ObjectReader)?
    let earlier: EarlierWork

    private struct Tally {
        var files = 0
        var bytes: Int64 = 0
        var cpuSeconds = 0.0
    }

    func run() async throws {
        let configuration = try codecs.poolConfiguration
        let pool = CodecPool(configuration)
        try await startCodecs(pool, files.decoderSet)
        var tallies: [String: Tally] = [:]
        var refused: [ErrorCode: Int] = [:]
        var unchanged = Tally()
        var redone = 0
        var cpuSeconds = 0.0
        let looked = Atomic(0)
        Console.beginProgress { width in
            "\(Quantity.count(looked.load(ordering: .relaxed), "file")) examined".shortened(to: width)
        }
        defer { Console.endProgress() }
        try await files.forEach { entry in
            guard case .source(let file) = entry else { return }
            looked.add(1, ordering: .relaxed)
            switch try await earlier.verdict(on: file) {
            case .unchanged:
                unchanged.files += 1
                unchanged.bytes += file.bytes
                return
            case .profileChanged: redone += 1
            case .new: break
            }
            do throws(AttachmentError) {
                let probeResult = try await inspect(
                    try await open(file.location), named: file.name, profile: profile, limits: .commandLine, in: pool)
                tallies[probeResult.kind.rawValue, default: Tally()].files += 1
                tallies[probeResult.kind.rawValue, default: Tally()].bytes += file.bytes
                tallies[probeResult.kind.rawValue, default: Tally()].cpuSeconds += probeResult.estimate.cpuSeconds
                cpuSeconds += probeResult.estimate.cpuSeconds
            } catch {
                refused[error.code, default: 0] += 1
            }
        }
        Console.endProgress()
        await pool.shutdown()
        let rows =
            tallies.sorted { $0.key < $1.key }.map { kind, tally in
                [kind, "\(tally.files)", Quantity.bytes(tally.bytes), Quantity.seconds(tally.cpuSeconds)]
            }
            + refused.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, count in
                [code.rawValue, "\(count)", "-", "-"]
            }
            + (unchanged.files > 0
                ? [["unchanged", "\(unchanged.files)", Quantity.bytes(unchanged.bytes), "-"]] : [])
        print(table(["KIND", "FILES", "BYTES", "CPU TIME"], rows, numbers: [1, 2, 3]))
        if redone > 0 {
            let files = redone == 1 ? "1 file was" : "\(redone) files were"
            Console.printError(
                "\(files) prepared under another version of the profile '\(profile.name)', and would be prepared again."
            )
        }
        Console.printError(
            Self.estimate(
                cpuSeconds: cpuSeconds, codecs: configuration.codecs, cores: CodecPoolConfiguration.usableProcessors))
    }

    private func open(_ location: SourceLocation) async throws(AttachmentError) -> Descriptor {
        switch location {
        case .file(let root, let path, _):
            let file = try SourceRoot(root).open(path)
            return file.takeDescriptor()
        case .object(let bucket, let key, let state):
            guard let objects else { throw .invalidSource(reason: "it is not in the bucket of this run") }
            return try await objects.open(key, of: bucket, in: state)
        case .url, .spool: preconditionFailure("a batch finds files and objects")
        }
    }

    /// Returns the estimated duration. Each codec uses one core.
    static func estimate(cpuSeconds: Double, codecs: Int, cores: Int) -> String {
        let atOnce = codecs < cores ? Quantity.count(codecs, "codec") : Quantity.count(cores, "core")
        let time = Quantity.seconds(cpuSeconds / Double(max(1, min(codecs, cores))))
        return "Estimated: \(Quantity.seconds(cpuSeconds)) of CPU time, about \(time) with \(atOnce)."
    }
}

/// Identifies a source in a codec process and, if wanted, forecasts its renditions.
///
/// - Parameter staging: Where to make the renditions, to find out what decoding finds; `nil` to read headers only.
func inspect(
    _ source: consuming Descriptor, named name: String, profile: Profile,
    request: RenditionRequest = RenditionRequest(), limits: Limits,
    wantsForecasts: Bool = false, staging: (any StagingArea)? = nil, in pool: CodecPool
) async throws(AttachmentError) -> ProbeResult {
    let result = try await pool.process(
        source,
        order: WorkOrder(profile: profile, request: request, limits: limits, wantsForecasts: wantsForecasts),
        decoderSet: DecoderSet(declaredType: nil, name: name),
        decide: { probeResult throws(AttachmentError) in
            guard let staging else { return .stop }
            var outputs: [CodecOutput] = []
            for role in probeResult.planned {
                var staged = try staging.stage()
                outputs.append(CodecOutput(role: role, writer: staged.takeWriter()))
            }
            return .proceed(effort: .full, outputs: outputs)
        }, received: { _ throws(AttachmentError) in })
    var probeResult = result.probeResult
    probeResult.diagnosis = result.ending?.diagnosis ?? probeResult.diagnosis
    return probeResult
}
