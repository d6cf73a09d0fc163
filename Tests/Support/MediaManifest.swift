public import Attachments
public import Foundation
public import Testing

/// `Media/manifest.json`: every sample file, where it comes from, and what is expected of it.
public struct MediaManifest: Decodable, Sendable {
    public var files: [MediaSample]

    public static func load() throws -> MediaManifest {
        let data = try Data(contentsOf: Repository.media.appending(path: "manifest.json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(MediaManifest.self, from: data)
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
    }
}
