internal import AsyncHTTPClient
internal import SatchelCore
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1

/// A server that lends credentials. It is asked rarely, so by a client that is there as long as the question; the guard of
/// fetches, which lets nobody near such a server, knows nothing of it.
struct CredentialEndpoint: Sendable {
    /// For a sentence: `the container's endpoint`.
    var name: String
    /// One that isn't there at all must not be waited for.
    var connectTime: Duration = .seconds(1)
    var time: Duration = .seconds(5)

    /// What it answers with 200.
    ///
    /// - Throws: `noCredentials`, with no word of what was asked or answered.
    func ask(
        _ url: String, method: HTTPMethod = .GET, headers: [(String, String)] = [], body: String? = nil
    ) async throws(S3Error) -> [UInt8] {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: connectTime.asTimeAmount, read: time.asTimeAmount), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = HTTPHeaders(headers)
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        do {
            let (message, timeout) = (request, time.asTimeAmount)
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let answer = try await client.execute(message, timeout: timeout)
                guard answer.status == .ok else {
                    throw S3Error.noCredentials(reason: "\(name) answers \(answer.status.code)")
                }
                return try await S3Client.body(of: answer, atMost: 64 << 10)
            }
        } catch {
            if case S3Error.noCredentials = error, let error = error as? S3Error { throw error }
            throw .noCredentials(reason: "\(name) gives none, because \(S3Error(describing: error, from: name).reason)")
        }
    }

    /// Asks for credentials as containers and instances get them.
    func credentials(_ url: String, headers: [(String, String)]) async throws(S3Error) -> S3Credentials {
        let answer = try await ask(url, headers: headers)
        guard let document = try? JSONDecoder().decode(CredentialDocument.self, from: Data(answer)),
            document.code ?? "Success" == "Success",
            let end = Instant(timestamp: document.expiration)
        else { throw .noCredentials(reason: "\(name) gives an answer without any") }
        return S3Credentials(
            accessKey: document.accessKey, secretKey: document.secretKey, sessionToken: document.token, expiresAt: end)
    }

    private struct CredentialDocument: Decodable {
        var code: String?
        var accessKey: String
        var secretKey: String
        var token: String
        var expiration: String

        enum CodingKeys: String, CodingKey {
            case code = "Code"
            case accessKey = "AccessKeyId"
            case secretKey = "SecretAccessKey"
            case token = "Token"
            case expiration = "Expiration"
        }
    }
}
