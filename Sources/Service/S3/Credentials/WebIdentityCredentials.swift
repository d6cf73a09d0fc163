internal import SatchelCore
internal import FoundationEssentials
internal import NIOHTTP1
internal import Platform

/// Those that STS lends to whoever shows the token in `AWS_WEB_IDENTITY_TOKEN_FILE` for the role `AWS_ROLE_ARN`, as pods of
/// Kubernetes do. The token is read anew each time, for whoever issues it replaces it.
///
/// "AssumeRoleWithWebIdentity" of the AWS Security Token Service API Reference.
struct WebIdentityCredentials: CredentialSource {
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
        guard let path = environment.set("AWS_WEB_IDENTITY_TOKEN_FILE") else { return nil }
        guard let role = environment.set("AWS_ROLE_ARN") else {
            throw .noCredentials(reason: "AWS_WEB_IDENTITY_TOKEN_FILE is set, but not AWS_ROLE_ARN")
        }
        let text = await BlockingWork.run { try? String(contentsOfFile: path, encoding: .utf8) }
        guard let token = text?.split(whereSeparator: \.isWhitespace).first else {
            throw .noCredentials(reason: "the file '\(path)' has no token")
        }
        let region = environment.set("AWS_REGION") ?? environment.set("AWS_DEFAULT_REGION") ?? "us-east-1"
        let url = environment.set("AWS_ENDPOINT_URL_STS") ?? S3Address.endpoint(of: "sts", in: region)
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", environment.set("AWS_ROLE_SESSION_NAME") ?? "satchel"),
            ("WebIdentityToken", String(token)),
        ]
        let form = fields.map { "\($0)=\(SigV4.encoded($1))" }.joined(separator: "&")
        let answer = try await CredentialEndpoint(name: "STS", connectTime: .seconds(3)).ask(
            url.hasSuffix("/") ? url : url + "/", method: .POST,
            headers: [("Content-Type", "application/x-www-form-urlencoded")], body: form)
        let credentials = (try? XMLTree(answer))?["AssumeRoleWithWebIdentityResult"]?["Credentials"]
        guard let credentials, let key = credentials["AccessKeyId"]?.text,
            let secret = credentials["SecretAccessKey"]?.text,
            let session = credentials["SessionToken"]?.text,
            let end = credentials["Expiration"].flatMap({ Instant(timestamp: $0.text) })
        else { throw .noCredentials(reason: "STS gives an answer without any") }
        return S3Credentials(accessKey: key, secretKey: secret, sessionToken: session, expiresAt: end)
    }
}
