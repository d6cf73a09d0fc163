internal import SatchelCore
internal import NIOHTTP1

/// Those of a virtual machine's role, by the second version of its metadata service, which wants a token of each session.
///
/// "Use the Instance Metadata Service to access instance metadata" of the Amazon EC2 User Guide.
struct InstanceCredentials: CredentialSource {
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
        if environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" { return nil }
        var start = environment.set("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254"
        while start.hasSuffix("/") { start.removeLast() }
        let service = CredentialEndpoint(name: "the instance's metadata service")
        let token = Self.line(
            try await service.ask(
                start + "/latest/api/token", method: .PUT, headers: [("X-aws-ec2-metadata-token-ttl-seconds", "300")]))
        guard let token else { throw .noCredentials(reason: "the instance's metadata service gives no token") }
        let headers = [("X-aws-ec2-metadata-token", token)]
        let roles = start + "/latest/meta-data/iam/security-credentials/"
        guard let role = Self.line(try await service.ask(roles, headers: headers)) else {
            throw .noCredentials(reason: "the instance has no role")
        }
        return try await service.credentials(roles + SigV4.encoded(role), headers: headers)
    }

    /// The first line, if it is ASCII that can stand in a header.
    private static func line(_ answer: [UInt8]) -> String? {
        let line = answer.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: line, as: UTF8.self)
    }
}
