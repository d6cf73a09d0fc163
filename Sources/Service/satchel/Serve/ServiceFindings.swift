import API
import Foundation
import Glibc
import HTTPServer
import Platform
import SystemPackage

/// Checks of what `satchel serve` needs on this machine.
struct ServiceFindings {
    /// The settings file; `nil` for the default one.
    let file: String?

    private var path: String? { ConfigurationFile.path(named: file, ProcessInfo.processInfo.environment) }

    /// The settings with all problems.
    var read: ResolvedConfiguration {
        ResolvedConfiguration(flags: [], environment: ProcessInfo.processInfo.environment, file: path)
    }

    var all: [Finding] {
        let read = self.read
        let configuration = read.configuration
        var findings = read.problems.map { Finding(.bad, "setting", $0.description) }
        findings += read.warnings.map { Finding(.extra, "setting", $0) }
        if read.problems.isEmpty {
            findings.append(
                Finding(
                    .good, "settings",
                    "\(path ?? "no settings file"), \(Quantity.count(read.origins.count, "value")) changed from the default"
                ))
        }
        let swaps = (try? String(contentsOfFile: "/proc/swaps", encoding: .utf8)) ?? ""
        return findings + [
            disk(configuration), SwapSpace(swaps).finding, port(configuration),
        ]
    }

    private func disk(_ configuration: ServiceConfiguration) -> Finding {
        // For a store that does not exist yet, the nearest existing directory.
        var place =
            switch StoreLocation(configuration.store) {
            case .memory: FileManager.default.temporaryDirectory
            case .directory(let path): URL(filePath: path)
            case .database: URL(filePath: configuration.spool)
            }
        let wanted = place.path(percentEncoded: false)
        while !FileManager.default.fileExists(atPath: place.path(percentEncoded: false)), place.pathComponents.count > 1
        {
            place.deleteLastPathComponent()
        }
        guard let free = try? Files.freeBytes(at: FilePath(place.path(percentEncoded: false))) else {
            return Finding(.bad, "disk", "the free space at '\(wanted)' is unknown")
        }
        let least = configuration.settings.intake.freeBytes
        let isEnough = free >= least
        return Finding(
            isEnough ? .good : .bad, "disk",
            "\(Quantity.bytes(free)) free"
                + (isEnough ? "" : ", less than intake.free_bytes (\(Quantity.bytes(least))): jobs would be rejected"))
    }

    private func port(_ configuration: ServiceConfiguration) -> Finding {
        let listen = configuration.listen
        do {
            _ = try FreePort.bound(listen)
            return Finding(.good, "address", "\(listen) is free")
        } catch {
            return Finding(
                .extra, "address", (error as? CommandFailure)?.sentence ?? "\(listen) is in use, perhaps by the service"
            )
        }
    }
}

/// The swap space of the machine.
struct SwapSpace: Hashable {
    /// Bytes of swap on disks, without compressed memory.
    let bytes: Int64

    /// - Parameter table: The contents of `/proc/swaps`: a header, and lines with a name, a kind, KiB and two more numbers.
    init(_ table: String) {
        bytes = table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
            let fields = line.split { $0 == " " || $0 == "\t" }
            // zram is compressed memory.
            guard fields.count > 2, !fields[0].hasPrefix("/dev/zram") else { return sum }
            return sum + (Int64(fields[2]) ?? 0) * 1024
        }
    }

    /// Warns about swap, because memory holds decrypted media, which must not reach a disk.
    var finding: Finding {
        Finding(
            bytes == 0 ? .good : .extra, "swap",
            bytes == 0
                ? "none on disk"
                : "\(Quantity.bytes(bytes)) on disk, to which decrypted media may be written. Turn swap off, encrypt it, or exclude the service (MemorySwapMax=0; Docker: --memory-swap equal to --memory)"
        )
    }
}
