import Foundation

/// Where a run has its inputs, and what it makes and throws away.
struct Workplace: Sendable {
    /// Kept between runs.
    let directory: URL
    /// The programs that are measured.
    let satchel: String

    /// - Parameter programs: The directory of `satchel` and `satchel-codec`.
    init(_ directory: URL, programs: URL) throws {
        self.directory = directory
        satchel = programs.appending(path: "satchel").path(percentEncoded: false)
        for program in ["satchel", "satchel-codec"] {
            let path = programs.appending(path: program).path(percentEncoded: false)
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw CommandFailure(command: [path], reason: "is missing: build a release first, 'make release'")
            }
        }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try? FileManager.default.removeItem(at: scratch)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    }

    var scratch: URL { directory.appending(path: "scratch", directoryHint: .isDirectory) }

    /// `satchel` with a store of its own, which is durable and empty.
    func satchel(_ arguments: [String]) -> Command {
        let store = scratch.appending(path: "store-\(UUID().uuidString)").path(percentEncoded: false)
        return Command(
            satchel, arguments,
            environment: ["SATCHEL_STORE": store, "SATCHEL_ACCESS_KEYS": scratch.path(percentEncoded: false) + "keys"])
    }

    /// Removes all stores and outputs, so that no run pays for the one before.
    func clear() throws {
        for item in try FileManager.default.contentsOfDirectory(at: scratch, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: item)
        }
    }
}
