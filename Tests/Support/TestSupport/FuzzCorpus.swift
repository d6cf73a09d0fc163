public import Foundation

/// The stored inputs of a fuzzing target: `Tests/Fuzz/corpora` has one archive per target, which `Tests/Fuzz/fuzz.sh` writes.
public struct FuzzCorpus: Sendable {
    public struct Input: Sendable {
        /// The SHA-1 of the bytes, as libFuzzer names files, or a description of the finding that the input reproduces.
        public var name: String
        public var bytes: [UInt8]
    }

    /// An archive that is missing, damaged or empty.
    public struct Unreadable: Error {
        public var reason: String
    }

    public static let folder = Repository.root.appending(path: "Tests/Fuzz/corpora")
    private static let ending = ".tar.xz"

    /// At least one, sorted by name.
    public let inputs: [Input]

    /// Reads the archive of a target.
    ///
    /// - Throws: ``Unreadable`` unless every file that the archive lists is read and there is at least one.
    public init(of target: String, in folder: URL = FuzzCorpus.folder) throws {
        let archive = folder.appending(path: target + Self.ending).path(percentEncoded: false)
        let directory = try TemporaryDirectory()
        let unpacked = try Program.tool("tar").run(["-xvf", archive, "-C", directory.path])
        guard unpacked.status == 0 else { throw Unreadable(reason: unpacked.errorText) }
        let names = unpacked.outputText.split(separator: "\n").map(String.init).sorted()
        guard !names.isEmpty, names.count == Set(names).count else {
            throw Unreadable(reason: "\(archive) is empty or lists a name twice.")
        }
        inputs = try names.map { name in
            Input(name: name, bytes: [UInt8](try Data(contentsOf: directory.url.appending(path: name))))
        }
    }

    /// The targets that have an archive.
    public static func targets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).map {
            $0.hasSuffix(ending) ? String($0.dropLast(ending.count)) : $0
        }
    }

    /// Returns the input with this name, or nil.
    public subscript(name: String) -> [UInt8]? {
        inputs.first { $0.name == name }?.bytes
    }
}
