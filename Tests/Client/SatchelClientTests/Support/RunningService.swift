import Foundation
import SatchelClient
import ServiceTestSupport
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A service as a client meets it, and an origin that gives out the sample files.
final class RunningService {
    private let harness: ServiceHarness
    private let origin: LocalOrigin
    private var process: ServiceProcess
    private var silent: [LocalOrigin] = []
    let url: URL
    let key: String
    /// Where a sample file is fetched from.
    let media: URL

    init() async throws {
        harness = try ServiceHarness()
        key = try await harness.makeKey("--role", "admin")
        origin = try await LocalOrigin()
        media = try #require(URL(string: origin.url("")))
        process = try await Self.serve(harness, key)
        url = process.url
    }

    /// Any port the first time, the same one after that.
    private static func serve(
        _ harness: borrowing ServiceHarness, _ key: String, at port: Int = 0
    ) async throws -> ServiceProcess {
        try await harness.serve(
            "--listen", "127.0.0.1:\(port)", "--codecs", "2", "--grace", "1s", "--fetch-allow", "127.0.0.1", key: key)
    }

    var client: SatchelClient { SatchelClient(url: url, key: key) }

    /// A directory of the service's own.
    var home: URL { harness.home.url }

    func restart() async throws {
        try await process.stop()
        process = try await Self.serve(harness, key, at: try #require(url.port))
    }

    /// A URL whose server takes connections and never says a word.
    func silence() async throws -> URL {
        let origin = try await LocalOrigin(LocalOrigin.silent)
        silent.append(origin)
        return try #require(URL(string: origin.url("/silence.jpg")))
    }

    /// A sample file.
    static func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    /// What a plain GET gets, without any credentials.
    static func get(_ url: URL) async throws -> (status: Int, body: Data) {
        let (body, response) = try await URLSession.shared.data(from: url)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, body)
    }

    /// What may keep a copy of what a plain GET gets.
    static func cacheControl(of url: URL) async throws -> String? {
        let (_, response) = try await URLSession.shared.data(from: url)
        return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Control")
    }
}
