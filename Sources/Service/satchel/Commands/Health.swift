import API
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Ingest
import NIOCore
import NIOHTTP1
import NIOSSL

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ask a running service whether it is well.",
        discussion: """
            For a container's health check, which has no other client. Without a URL it asks the service of the same \
            settings on this machine. Exit status 1 where it isn't well, and where it doesn't answer.

              satchel health                             does it answer?
              satchel health --ready                     does it take jobs, and if not why?
              satchel health https://media.example.com
            """)

    @Argument(help: ArgumentHelp("Where the service is. Default: where the settings have it listen.", valueName: "url"))
    var url: String?

    @Flag(help: "Ask whether it takes jobs, not only whether it answers.")
    var ready = false

    @Option(help: ArgumentHelp("How long to wait. Default: 4 seconds.", valueName: "time"))
    var timeout: TimeSpan?

    @OptionGroup(title: "Settings") var settings: ServeOptions

    func validate() throws {
        try timeout?.validate("--timeout", atMost: .seconds(86_400))
        guard let url, !url.hasPrefix("http://"), !url.hasPrefix("https://") else { return }
        throw ValidationError("the URL begins with http:// or https://, unlike '\(url)'.")
    }

    func run() async throws {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        if url == nil {
            // Its certificate is for the name that clients know, not for this machine's own.
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            configuration.tlsConfiguration = tls
        }
        let base = try url ?? ownURL()
        let request = HTTPClientRequest(
            url: (base.hasSuffix("/") ? String(base.dropLast()) : base) + (ready ? "/readyz" : "/livez"))
        let limit = TimeAmount(timeout?.duration ?? .seconds(4))
        let answer: (status: UInt, text: String)
        do {
            answer = try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let response = try await client.execute(request, timeout: limit)
                let body = try await response.body.collect(upTo: 64 << 10)
                return (response.status.code, String(buffer: body).trimmingCharacters(in: .whitespacesAndNewlines))
            }
        } catch {
            throw CommandFailure("\(base) doesn't answer: \(FetchFailure.reason(error)).")
        }
        guard answer.status == 200 else {
            throw CommandFailure("\(base) answers \(answer.status): \(answer.text)")
        }
        print(answer.text)
    }

    /// Where a service of these settings listens, as this machine reaches it.
    private func ownURL() throws -> String {
        let read = settings.read()
        let listen = read.configuration.listen
        let host =
            switch listen.host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: listen.host
            }
        let scheme = read.configuration.tlsCertificate == nil ? "http" : "https"
        return "\(scheme)://\(ListenAddress(host: host, port: listen.port))"
    }
}
