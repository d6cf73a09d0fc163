public import SatchelCore
public import Foundation
public import Testing

/// `Media/manifest.json`: every sample file, where it comes from, and what is expected of it.
public struct MediaManifest: Decodable, Sendable {
    public var files: [MediaSample]

    public static func load() throws -> MediaManifest {
        let data = try Data(contentsOf: Repository.media.appending(path: "manifest.json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var manifest = try decoder.decode(MediaManifest.self, from: data)
        for index in manifest.files.indices { try manifest.files[index].expect.resolve() }
        return manifest
    }
}

/// One sample file.
public struct MediaSample: Decodable, Sendable, CustomTestStringConvertible {
    /// Relative to `Media/`.
    public var path: String
    /// `made by <script>`, or the Debian or PyPI package and the path in it.
    public var origin: String
    /// An SPDX identifier.
    public var licence: String
    public var sha256: String
    /// What is special about it: `orientation 6`, `alpha`, `truncated`, `gps`, …
    public var traits: [String]
    public var expect: Expectation

    public var url: URL { Repository.media.appending(path: path) }
    public var testDescription: String { path }

    /// What becomes of the file under the profile `notification`.
    public struct Expectation: Decodable, Sendable {
        /// `delivered`, `failed` or `skipped`.
        public var state: String
        /// Of a file that is delivered, where it isn't `full`.
        public var fidelity: Fidelity?
        /// Of a file that is not delivered.
        public var code: ErrorCode?
        public var kind: MediaKind?
        /// What the decoder says it is.
        public var type: MediaType?
        /// Upright.
        public var width: Int?
        public var height: Int?
        public var frames: Int?
        /// Seconds; the container's or, where that lies, the decoded.
        public var duration: Double?
        /// What is found: a list of the diagnosis (or `error`), a code, a part, and how much of how much.
        public var findings: [String]?
        /// Of a file that only newer libraries read.
        public var older: Older?

        /// What becomes of it where the library is older than `since`.
        public struct Older: Decodable, Sendable {
            public var library: CodecLibrary.Name
            public var since: String
            public var code: ErrorCode
        }

        /// Expects what the installed library makes of it.
        fileprivate mutating func resolve() throws {
            guard let older, older.library == .libvips else { return }
            // `vips-8.14.1`
            let words = try Program.tool("vips").run(["--version"]).outputText
            let version = String(words.drop { !$0.isNumber })
            if CodecLibrary(older.library, version: version).isAtLeast(older.since) { return }
            self = Expectation(state: "failed", code: older.code, kind: kind)
        }
    }
}
