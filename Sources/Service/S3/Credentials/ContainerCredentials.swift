internal import SatchelCore
internal import FoundationEssentials
internal import Platform

/// Those that the agent of a container service lends at `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `…_FULL_URI`, to whoever
/// shows `AWS_CONTAINER_AUTHORIZATION_TOKEN`, or the one in the file of that name.
///
/// "Container credential provider" of the AWS SDKs and Tools Reference Guide, which also says which hosts a full URL may name
/// without TLS.
struct ContainerCredentials: CredentialSource {
    private let environment: [String: String]

    /// Of ECS, and of EKS in both families.
    private static let agents: Set = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
        let url: String
        if let path = environment.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard path.hasPrefix("/") else {
                throw .noCredentials(reason: "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI doesn't begin with a slash")
            }
            url = "http://169.254.170.2" + path
        } else if let full = environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            guard let parsed = URL(string: full), let host = parsed.host,
                parsed.scheme == "https" || parsed.scheme == "http" && Self.isNear(host)
            else {
                throw .noCredentials(
                    reason: "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither on this machine nor https")
            }
            url = full
        } else {
            return nil
        }
        var headers: [(String, String)] = []
        if let token = try await token() { headers.append(("Authorization", token)) }
        return try await CredentialEndpoint(name: "the container's endpoint").credentials(url, headers: headers)
    }

    private static func isNear(_ host: String) -> Bool {
        let host = host.filter { $0 != "[" && $0 != "]" }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return agents.contains(host) || ["localhost", "::1"].contains(host)
            || numbers.count == 4 && numbers.first == 127 && numbers.allSatisfy { $0 != nil }
    }

    private func token() async throws(S3Error) -> String? {
        var token = environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if let path = environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            let text = await BlockingWork.run { try? String(contentsOfFile: path, encoding: .utf8) }
            guard let text else { throw .noCredentials(reason: "the file '\(path)' can't be read") }
            token = text
        }
        while token?.last?.isNewline == true { token?.removeLast() }
        guard token?.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) ?? true else {
            throw .noCredentials(reason: "the token for the container's endpoint is not valid in a header")
        }
        return token
    }
}
