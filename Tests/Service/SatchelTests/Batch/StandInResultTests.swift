import Foundation
import TestSupport
import Testing

/// Codecs start with stand-ins for libraries that they never call, in releases and packages: `Packaging/stand-ins.sh`.
@Suite(.inCheck("prepares samples with both kinds of codec")) struct StandInResultTests {
    @Test func `codecs with stand-ins make the same files as codecs without`() throws {
        let directory = try TemporaryDirectory()
        let codecs = directory.url.appending(path: "codecs")
        try FileManager.default.createDirectory(at: codecs, withIntermediateDirectories: false)
        let names = ["satchel-codec", "satchel-stills"]
        for name in names {
            try FileManager.default.createSymbolicLink(
                at: codecs.appending(path: name), withDestinationURL: try Repository.product(name))
        }
        let script = Program.tool(Repository.root.appending(path: "Packaging/stand-ins.sh").path)
        let made = try script.run([codecs.path])
        try #require(made.status == 0 && made.errors.isEmpty, "\(made.errorText)")
        for name in names {
            let libraries = try FileManager.default.contentsOfDirectory(
                atPath: codecs.appending(path: "\(name).stand-ins").path)
            #expect(libraries.contains("stand-in.so") && libraries.count > 10, "\(name)")
        }
        // A codec that does not start with its stand-ins is started without, and this reports it.
        let examined = try program(with: codecs).run(["doctor"])
        #expect(examined.outputText.contains(codecs.path) && !examined.outputText.contains(".stand-ins"))

        let plain = try renditions(in: directory.url.appending(path: "plain"), with: nil)
        let changed = try renditions(in: directory.url.appending(path: "changed"), with: codecs)
        #expect(plain.count > 60 && changed.keys == plain.keys)
        for (path, data) in plain { #expect(changed[path] == data, "\(path)") }
    }

    private func program(with codecs: URL?, in home: URL? = nil) throws -> Program {
        var environment = codecs.map { ["SATCHEL_CODEC": $0.path] } ?? [:]
        environment["SATCHEL_STORE"] = home?.appending(path: "store").path
        environment["SATCHEL_ACCESS_KEYS"] = home?.appending(path: "access.keys").path
        return Program(try Repository.product("satchel"), environment: environment)
    }

    /// What a batch makes of one sample of each format, by its path; of all samples in a full run.
    private func renditions(in home: URL, with codecs: URL?) throws -> [String: Data] {
        let delivered = try MediaManifest.load().files.filter { $0.expect.state == "delivered" }.map(\.path)
        let formats = Dictionary(grouping: delivered) { $0.prefix { $0 != "/" } }
        let samples = Sweep.isFull ? delivered : formats.values.compactMap { $0.min() }
        let output = home.appending(path: "out")
        let arguments = ["batch", Repository.media.path, "--output", output.path, "--quiet"]
        let result = try program(with: codecs, in: home).run(arguments + samples.flatMap { ["--include", $0] })
        #expect(result.status == 0, "\(result.errorText)")
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: output.path) {
            files[path] = try? Data(contentsOf: output.appending(path: path))
        }
        return files
    }
}
