internal import SatchelCore

/// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, where they are lent, `AWS_SESSION_TOKEN`.
struct EnvironmentCredentials: CredentialSource {
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
        guard let key = environment.set("AWS_ACCESS_KEY_ID") else { return nil }
        guard let secret = environment.set("AWS_SECRET_ACCESS_KEY") else {
            throw .noCredentials(reason: "AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY")
        }
        return S3Credentials(accessKey: key, secretKey: secret, sessionToken: environment.set("AWS_SESSION_TOKEN"))
    }
}
