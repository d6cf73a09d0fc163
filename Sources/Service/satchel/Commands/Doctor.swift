import ArgumentParser
import SatchelCore
import CSandbox
import CodecPool
import Foundation
import Glibc
import Platform
import Stores

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine: the codec, its confinement, the store, and what the service needs.",
        discussion: """
            Exit status 1 where something that is required is missing.

              satchel doctor
              satchel doctor --require-sandbox full
              satchel doctor --config /etc/satchel/satchel.yaml
            """)

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Codecs") var codecs: CodecOptions

    @Option(
        help: ArgumentHelp(
            "The service's settings. Default: $SATCHEL_CONFIG, else /etc/satchel/satchel.yaml where it is there.",
            valueName: "file"),
        completion: .yaml)
    var config: String?

    func run() async throws {
        var findings = machine()
        findings += await codec()
        findings += await storeFindings()
        findings.append(Self.timeZones(TimeZoneDatabase(), at: .wallClock()))
        if let clock = Self.clock { findings.append(clock) }
        findings += ServiceFindings(file: config).all
        print(table(["", "WHAT", "HOW IT IS"], findings.map { [$0.grade.rawValue, $0.subject, $0.detail] }))
        if findings.contains(where: { $0.grade == .bad }) {
            throw CommandFailure("something that is required is missing; see the lines that start with !!.")
        }
    }

    private func machine() -> [Finding] {
        var name = utsname()
        unsafe uname(&name)
        let release = unsafe withUnsafeBytes(of: &name.release) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return [
            Finding(grade: .good, subject: "satchel", detail: Version.current),
            Finding(grade: .good, subject: "kernel", detail: release),
            Finding(
                grade: .good, subject: "machine",
                detail:
                    "\(Quantity.count(CodecPoolConfiguration.usableProcessors, "core")), \(Quantity.bytes(CodecPoolConfiguration.usableMemory)) of memory"
            ),
        ]
    }

    private func codec() async -> [Finding] {
        do {
            // What is missing is to be listed, not to stop the start.
            var configuration = try codecs.poolConfiguration
            let policy = configuration.sandbox
            configuration.sandbox = .allowUnsandboxed
            configuration.fastHuffman =
                configuration.fastHuffman && ServiceFindings(file: config).read.configuration.fastHuffman
            let pool = CodecPool(configuration)
            // Both, so that what is missing of either's libraries is known now.
            let stills: SandboxReport
            let report: SandboxReport
            do {
                stills = try await pool.start(.common)
                report = try await pool.start(.full)
            } catch {
                await pool.shutdown()
                throw error
            }
            await pool.shutdown()
            let missing = Set(report.missing(under: policy == .allowUnsandboxed ? .standard : policy).map(\.layer))
            let layers = report.layers.map { layer in
                Finding(
                    grade: missing.contains(layer.layer) ? .bad : layer.state == .missing ? .extra : .good,
                    subject: layer.layer.title, detail: Self.text(layer))
            }
            return [
                Self.finding("codec", configuration.executable, report),
                Self.finding("codec for stills", configuration.stillsExecutable, stills),
            ] + report.libraries.map(Self.finding) + layers
        } catch {
            let sentence = (error as? CommandFailure)?.sentence ?? "\(error)"
            return [Finding(grade: .bad, subject: "codec", detail: sentence)]
        }
    }

    /// A library, what a newer version of it would read besides, and what it has to do itself.
    private static func finding(_ library: CodecLibrary) -> Finding {
        let missing =
            NewerFeature.missing(in: library).map { "\($0.subject) is refused; \($0.help)" }
            + [library.huffmanFallback].compactMap(\.self).map {
                "decodes JPEGs alone, at up to 1.6 times the CPU time; \($0.reason)"
            }
        return Finding(
            grade: missing.isEmpty ? .good : .extra, subject: library.name.rawValue,
            detail: ([library.version] + missing).joined(separator: ": "))
    }

    /// Where a program is, what it decodes with, and whether it loads what it never calls.
    private static func finding(_ subject: String, _ executable: URL, _ report: SandboxReport) -> Finding {
        let path = executable.path(percentEncoded: false)
        let detail = ([path] + report.libraries.map(\.name.rawValue)).joined(separator: ", ")
        guard let failure = report.standInFailure else {
            return Finding(grade: .good, subject: subject, detail: detail)
        }
        return Finding(
            grade: .extra, subject: subject,
            detail:
                "\(detail): starts more slowly, without '\(path).stand-ins' (\(failure)); make them anew with Packaging/stand-ins.sh after libraries were replaced, or remove them"
        )
    }

    private static func text(_ layer: SandboxLayerReport) -> String {
        let kind = layer.layer.isRequired ? "required" : "extra"
        let state =
            switch layer.state {
            case .holds: "holds"
            case .needless: "not needed"
            case .missing: "missing"
            }
        return "\(kind), \(state)" + (layer.reason.isEmpty ? "" : ": \(layer.reason)")
    }

    /// By which triggers fire, too; nil where the system doesn't tell.
    private static var clock: Finding? {
        switch csandbox_clock_is_synchronised() {
        case 1: Finding(grade: .good, subject: "clock", detail: "synchronised")
        case 0:
            Finding(
                grade: .extra, subject: "clock",
                detail:
                    "not synchronised: where it is set while a service runs, notifications pause until it has gone evenly for 10 s; install chrony or systemd-timesyncd"
            )
        default: nil
        }
    }

    /// By which triggers fire.
    private static func timeZones(_ zones: TimeZoneDatabase, at now: Instant) -> Finding {
        guard !zones.names.isEmpty else {
            return Finding(
                grade: .extra, subject: "time zones",
                detail:
                    "none in '\(zones.directory)': install the package tzdata, or triggers with a time zone are refused"
            )
        }
        let detail = "\(zones.version.rawValue), \(Quantity.count(zones.names.count, "zone")) in '\(zones.directory)'"
        // A year has several releases: some zone's clocks have been decided upon since.
        guard now - zones.date > .seconds(366 * 86_400) else {
            return Finding(grade: .good, subject: "time zones", detail: detail)
        }
        return Finding(
            grade: .extra, subject: "time zones",
            detail: detail
                + ", older than a year: install the newest package tzdata, or triggers fire an hour off where clocks changed since"
        )
    }

    private func storeFindings() async -> [Finding] {
        switch store.location {
        case .memory: return [Finding(grade: .good, subject: "store", detail: "in memory, goes with the process")]
        case .directory(let path): return [await directoryFinding(path)]
        case .database(let url):
            var configuration = ServiceFindings(file: config).read.configuration
            configuration.store = url
            return await ClusterFindings(configuration: configuration, url: url).all
        }
    }

    private func directoryFinding(_ path: String) async -> Finding {
        guard FileManager.default.fileExists(atPath: path) else {
            return Finding(grade: .good, subject: "store", detail: "\(path), will be made on first use")
        }
        // As a container's new volume is; one that belongs to another user is what goes wrong with volumes.
        if let names = try? FileManager.default.contentsOfDirectory(atPath: path), names.isEmpty {
            guard FileManager.default.isWritableFile(atPath: path) else {
                return Finding(
                    grade: .bad, subject: "store",
                    detail: "\(path) is empty and not writable; give it to user \(geteuid()).")
            }
            return Finding(grade: .good, subject: "store", detail: "\(path), empty, will be filled on first use")
        }
        do {
            let opened = try await openStore(store)
            return Finding(grade: .good, subject: "store", detail: "\(path), schema \(opened.schemaVersion)")
        } catch {
            return Finding(grade: .bad, subject: "store", detail: (error as? CommandFailure)?.sentence ?? "\(error)")
        }
    }
}

/// One line of the doctor's.
struct Finding {
    enum Grade: String {
        case good = "ok"
        case extra = "--"
        case bad = "!!"
    }
    var grade: Grade
    var subject: String
    var detail: String
}
