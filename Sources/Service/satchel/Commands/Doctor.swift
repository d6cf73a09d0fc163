import ArgumentParser
import API
import SatchelCore
import CSandbox
import CodecPool
import Foundation
import Glibc
import HTTPServer
import Platform
import Stores

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the decoders, their sandbox, the store and the settings of the service.",
        discussion: """
            Each line starts with 'ok', with '--' for something optional that is missing, or with '!!' for something \
            required that is missing. The exit status is 1 if any line starts with '!!'.

            Examples:

              satchel doctor
              satchel doctor --require-sandbox full
              satchel doctor --config /etc/satchel/satchel.yaml
            """)

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Decoding") var codecs: SandboxOptions

    @Option(
        help: ArgumentHelp(
            "Settings file of the service. Default: $SATCHEL_CONFIG, or /etc/satchel/satchel.yaml if it exists.",
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
        print(table(["", "CHECK", "RESULT"], findings.map { [$0.grade.rawValue, $0.subject, $0.detail] }))
        if findings.contains(where: { $0.grade == .bad }) {
            throw CommandFailure("something required is missing. See the lines that start with '!!'.")
        }
    }

    private func machine() -> [Finding] {
        var name = utsname()
        unsafe uname(&name)
        let release = unsafe withUnsafeBytes(of: &name.release) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return [
            Finding(.good, "satchel", Version.current),
            Finding(.good, "kernel", release),
            Finding(
                .good, "machine",
                "\(Quantity.count(CodecPoolConfiguration.usableProcessors, "core")), \(Quantity.bytes(CodecPoolConfiguration.usableMemory)) of memory"
            ),
        ]
    }

    private func codec() async -> [Finding] {
        do {
            // Starts without the missing layers, so that they can be listed.
            var configuration = try codecs.poolConfiguration
            let policy = configuration.sandbox
            configuration.sandbox = .allowUnsandboxed
            configuration.fastHuffman =
                configuration.fastHuffman && ServiceFindings(file: config).read.configuration.fastHuffman
            configuration.connections =
                ServiceFindings(file: config).read.configuration.settings.openConnections
            let pool = CodecPool(configuration)
            // Starts both executables, so that libraries missing from either are reported.
            let (stills, report) = try await ending(with: { await pool.shutdown() }) {
                (try await pool.start(.common), try await pool.start(.full))
            }
            let missing = Set(report.missing(under: policy == .allowUnsandboxed ? .standard : policy).map(\.layer))
            let layers = report.layers.map { layer in
                Finding(
                    missing.contains(layer.layer) ? .bad : layer.state == .missing ? .extra : .good,
                    layer.layer.title, Self.text(layer))
            }
            return [
                Self.limits(of: pool), Self.finding("codec", configuration.executable, report),
                Self.finding("codec for stills", configuration.stillsExecutable, stills),
            ] + report.libraries.map(Self.finding) + layers
        } catch {
            let sentence = (error as? CommandFailure)?.sentence ?? "\(error)"
            return [Finding(.bad, "codec", sentence)]
        }
    }

    /// Whether as many processes and files as the service needs may be open.
    private static func limits(of pool: CodecPool) -> Finding {
        Finding(
            pool.lack.map { $0.isFatal ? .bad : .extra } ?? .good, "limits",
            pool.lack?.text ?? "processes, threads and open files suffice")
    }

    /// The version of a library, what it cannot read, and whether it decodes JPEGs without the fast decoder.
    private static func finding(_ library: CodecLibrary) -> Finding {
        let missing =
            NewerFeature.missing(in: library).map { "\($0.subject) is not supported; \($0.help)" }
            + [library.huffmanFallback].compactMap(\.self).map {
                "decodes JPEGs without Satchel's fast decoder, in up to 1.6 times the CPU time; \($0.reason)"
            }
        return Finding(
            missing.isEmpty ? .good : .extra, library.name.rawValue,
            ([library.version] + missing).joined(separator: ": "))
    }

    /// The path of a codec executable, its libraries, and whether it starts with stand-ins for unused ones.
    private static func finding(_ subject: String, _ executable: URL, _ report: SandboxReport) -> Finding {
        let path = executable.path(percentEncoded: false)
        let detail = ([path] + report.libraries.map(\.name.rawValue)).joined(separator: ", ")
        guard let failure = report.standInFailure else {
            return Finding(.good, subject, detail)
        }
        return Finding(
            .extra, subject,
            "\(detail): starts more slowly, because the stand-in libraries in '\(path).stand-ins' can't be loaded (\(failure)). Rebuild them with Packaging/stand-ins.sh, or remove them"
        )
    }

    private static func text(_ layer: SandboxLayerReport) -> String {
        let kind = layer.layer.isRequired ? "required" : "optional"
        let state =
            switch layer.state {
            case .holds: "active"
            case .needless: "not needed"
            case .missing: "missing"
            }
        return "\(kind), \(state)" + (layer.reason.isEmpty ? "" : ": \(layer.reason)")
    }

    /// Whether the clock, by which triggers fire, is synchronized; `nil` if the system does not report it.
    private static var clock: Finding? {
        switch csandbox_clock_is_synchronised() {
        case 1: Finding(.good, "clock", "synchronized")
        case 0:
            Finding(
                .extra, "clock",
                "not synchronized. Whenever it is set, notifications pause until it has run evenly for 10 s. Install chrony or systemd-timesyncd"
            )
        default: nil
        }
    }

    /// The time zone rules by which triggers fire.
    private static func timeZones(_ zones: TimeZoneDatabase, at now: Instant) -> Finding {
        guard !zones.names.isEmpty else {
            return Finding(
                .extra, "time zones",
                "none in '\(zones.directory)'. Install the package tzdata; without it, triggers with a time zone are rejected"
            )
        }
        let detail = "\(zones.version.rawValue), \(Quantity.count(zones.names.count, "zone")) in '\(zones.directory)'"
        // There are several releases a year, each with changed rules for some zone.
        guard now - zones.date > .seconds(366 * 86_400) else {
            return Finding(.good, "time zones", detail)
        }
        return Finding(
            .extra, "time zones",
            detail
                + ", more than a year old. Install the newest package tzdata; with outdated rules, triggers fire at the wrong time"
        )
    }

    private func storeFindings() async -> [Finding] {
        switch store.location {
        case .memory: return [Finding(.good, "store", "in memory, discarded on exit")]
        case .directory(let path): return [await directoryFinding(path)]
        case .database(let url):
            var configuration = ServiceFindings(file: config).read.configuration
            configuration.store = url
            return await ClusterFindings(configuration: configuration, url: url).all
        }
    }

    private func directoryFinding(_ path: String) async -> Finding {
        guard FileManager.default.fileExists(atPath: path) else {
            return Finding(.good, "store", "\(path), created on first use")
        }
        // A new volume of a container is empty. A common mistake is that it belongs to another user.
        if let names = try? FileManager.default.contentsOfDirectory(atPath: path), names.isEmpty {
            guard FileManager.default.isWritableFile(atPath: path) else {
                return Finding(
                    .bad, "store", "\(path) is empty and not writable. Change its owner to user \(geteuid())")
            }
            return Finding(.good, "store", "\(path), empty, initialized on first use")
        }
        do {
            try Store.check(at: path, quickly: true)
            _ = try await openStore(store)
            return Finding(.good, "store", "\(path), schema \(Store.schemaVersion)")
        } catch {
            return Finding(.bad, "store", (error as? CommandFailure)?.sentence ?? "\(error)")
        }
    }
}

/// One line of the report of `satchel doctor`.
struct Finding {
    enum Grade: String {
        case good = "ok"
        case extra = "--"
        case bad = "!!"
    }
    var grade: Grade
    var subject: String
    var detail: String

    init(_ grade: Grade, _ subject: String, _ detail: String) {
        self.grade = grade
        self.subject = subject
        self.detail = detail
    }
}
