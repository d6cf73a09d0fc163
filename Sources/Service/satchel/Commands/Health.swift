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
        commandName: "health", abstract: "Check whether a running service is healthy.",
        discussion: """
            This command is meant for the health check of a container. Without a URL, it asks the service at the address \
            in the settings. The exit status is 1 if the service is not healthy, and 3 if it does not answer.

            Examples:

              satchel health
              satchel health --ready
              satchel health https://media.example.com
            """)

    @Argument(help: ArgumentHelp("URL of the service. Default: the address in the settings.", valueName: "url"))
    var url: String?

    @Flag(help: "Ask whether the service accepts jobs (/readyz), and not only whether it runs (/livez).")
    var ready = false

    @Option(help: ArgumentHelp("How long to wait for an answer. Default: 4 seconds.", valueName: "time"))
    var timeout: TimeSpan?

    @OptionGroup(title: "Settings") var settings: ListenOptions

    func validate() throws {
        try timeout?.validate("--timeout", atMost: .seconds(86_400))
        guard let url, !url.hasPrefix("http://"), !url.hasPrefix("https://") else { return }
        throw ValidationError("The URL must start with http:// or https://, not '\(url)'.")
    }

    func run() async throws {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        if url == nil {
            // The certificate is for the public name of the service, not for this address.
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
            throw CommandFailure(
                "\(base) does not answer: \(FetchFailure.reason(error)). Is 'satchel serve' running there?",
                status: .unavailable)
        }
        guard answer.status == 200 else {
            throw CommandFailure("\(base) answered \(answer.status): \(answer.text)")
        }
        print(answer.text)
    }

    /// The URL at which this machine reaches a service with these settings.
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
