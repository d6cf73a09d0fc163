import Foundation

/// A virtual environment under `.bench/venv`, as `Benchmarks/peers/environments.sh` makes it.
struct PythonEnvironment: Sendable {
    /// Of its directory, and of its file of requirements.
    let name: String
    private let directory: URL

    static let names = ["system", "newest", "simd", "thumbor"]

    init(_ name: String, in directory: URL) {
        self.name = name
        self.directory = directory.appending(path: "venv/\(name)", directoryHint: .isDirectory)
    }

    var python: String { program("python3") }

    func program(_ name: String) -> String { directory.appending(path: "bin/\(name)").path(percentEncoded: false) }

    var isThere: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// Why nothing of it is measured, for those who want to.
    var absence: String { "its virtual environment is missing: 'make bench-peers' makes it" }

    /// Of the packages that are measured.
    var versions: [Machine.Tool] {
        let packages = ["pyvips", "pyvips-binary", "pillow", "pillow-simd", "av", "thumbor"]
        guard isThere, let answer = Machine.answer(of: python, ["-m", "pip", "freeze"]) else { return [] }
        return answer.split(separator: "\n").compactMap { line in
            let parts = line.lowercased().split(separator: "=", omittingEmptySubsequences: true)
            guard parts.count == 2, packages.contains(String(parts[0])) else { return nil }
            // What a peer only needs, or another environment names already, isn't said.
            let own = ["thumbor": "thumbor", "newest": "pyvips-binary", "simd": "pillow-simd"][name]
            guard own == nil || own == String(parts[0]) else { return nil }
            return Machine.Tool(name: String(parts[0]), version: String(parts[1]))
        }
    }
}
