import SatchelCore
import Foundation
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import S3

@Suite(.timeLimit(.minutes(2))) struct CredentialTests {
    private static let now = Instant.wallClock()

    private func found(_ environment: [String: String]) async throws -> S3Credentials? {
        try await CredentialChain(environment).credentials(at: Self.now)
    }

    /// Without an instance's metadata, which a machine of a cloud would have.
    private let nowhere = ["AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nonexistent"]

    private static func lent(_ key: String, end: String = "2040-01-02T03:04:05Z", code: String = "Success") -> Data {
        Data(
            """
            {"Code": "\(code)", "AccessKeyId": "\(key)", "SecretAccessKey": "secret", "Token": "token",
            "Expiration": "\(end)", "Type": "AWS-HMAC"}
            """.utf8)
    }

    private static func lent(_ key: String) -> S3Credentials {
        S3Credentials(
            accessKey: key, secretKey: "secret", sessionToken: "token", expiresAt: Instant("2040-01-02T03:04:05.000Z"))
    }

    // MARK: The environment

    @Test func `the environment's keys are taken, with a token where there is one`() async throws {
        var environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B"]
        #expect(try await found(environment) == S3Credentials(accessKey: "A", secretKey: "B"))
        environment["AWS_SESSION_TOKEN"] = "C"
        #expect(try await found(environment) == S3Credentials(accessKey: "A", secretKey: "B", sessionToken: "C"))
        environment["AWS_SECRET_ACCESS_KEY"] = ""
        let half = environment
        await #expect(
            throws: S3Error.noCredentials(reason: "AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY")
        ) { try await found(half) }
    }

    @Test func `where nothing says that there are any there are none`() async throws {
        #expect(try await found(nowhere) == nil)
        let client = try S3Client(S3Configuration("s3://media"), credentials: CredentialChain(nowhere))
        let error = await #expect(throws: S3Error.self) { try await client.get("a", 0..<1) }
        #expect(error?.description.contains("AWS_ACCESS_KEY_ID") == true)
    }

    // MARK: The shared file

    @Test func `a profile of the shared file is taken`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "credentials").path(percentEncoded: false)
        try """
        # comment
        ; another
        [default]
        aws_access_key_id = A
        aws_secret_access_key=B=/+

        [ other one ]
         AWS_ACCESS_KEY_ID =  C
        aws_secret_access_key = old
        aws_secret_access_key = D
        aws_session_token = E
        [empty]
        """.write(toFile: path, atomically: true, encoding: .utf8)
        var environment = nowhere.merging(["AWS_SHARED_CREDENTIALS_FILE": path]) { $1 }
        #expect(try await found(environment) == S3Credentials(accessKey: "A", secretKey: "B=/+"))
        environment["AWS_PROFILE"] = "other one"
        #expect(try await found(environment) == S3Credentials(accessKey: "C", secretKey: "D", sessionToken: "E"))
        for profile in ["empty", "missing"] {
            environment["AWS_PROFILE"] = profile
            let asked = environment
            await #expect(
                throws: S3Error.noCredentials(reason: "the file '\(path)' has no keys for the profile '\(profile)'")
            ) { try await found(asked) }
        }
        environment["AWS_SHARED_CREDENTIALS_FILE"] = path + ".missing"
        let missing = environment
        await #expect(throws: S3Error.self) { try await found(missing) }
        // The usual place, whose absence is no error.
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: ".aws"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: path, toPath: directory.url.path(percentEncoded: false) + "/.aws/credentials")
        let home = nowhere.merging(["HOME": directory.url.path(percentEncoded: false)]) { $1 }
        #expect(try await found(home)?.accessKey == "A")
    }

    // MARK: A web identity

    @Test func `a web identity's token is shown to STS, anew each time`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "token").path(percentEncoded: false)
        let answer = """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleWithWebIdentityResult><Credentials>
                <SessionToken>token</SessionToken><SecretAccessKey>secret</SecretAccessKey>
                <Expiration>2040-01-02T03:04:05Z</Expiration><AccessKeyId>ASIA</AccessKeyId>
              </Credentials></AssumeRoleWithWebIdentityResult>
            </AssumeRoleWithWebIdentityResponse>
            """
        try await LocalOrigin.run { _ in
            LocalOrigin.Answer(body: Data(answer.utf8))
        } _: { origin in
            let environment = nowhere.merging([
                "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ROLE_ARN": "arn:aws:iam::1:role/a b",
                "AWS_ENDPOINT_URL_STS": origin.url(""),
            ]) { $1 }
            await #expect(throws: S3Error.noCredentials(reason: "the file '\(path)' has no token")) {
                try await found(environment)
            }
            for token in ["one", "two"] {
                try "\(token)\n".write(toFile: path, atomically: true, encoding: .utf8)
                #expect(try await found(environment) == Self.lent("ASIA"))
            }
            #expect(
                origin.requests.map { String(decoding: $0.body, as: UTF8.self) }
                    == ["one", "two"].map {
                        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b&RoleSessionName=satchel&WebIdentityToken=\($0)"
                    })
            #expect(origin.requests.allSatisfy { $0.method == "POST" && $0.target == "/" })
            let roleless = environment.filter { $0.key != "AWS_ROLE_ARN" }
            await #expect(throws: S3Error.self) { try await found(roleless) }
        }
    }

    @Test func `what STS refuses is told without the token`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "token").path(percentEncoded: false)
        try "hidden".write(toFile: path, atomically: true, encoding: .utf8)
        try await LocalOrigin.run { request in
            LocalOrigin.Answer(status: 403, body: request.body)
        } _: { origin in
            let environment = nowhere.merging([
                "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ROLE_ARN": "arn", "AWS_ENDPOINT_URL_STS": origin.url(""),
            ]) { $1 }
            await #expect(throws: S3Error.noCredentials(reason: "STS answers 403")) { try await found(environment) }
        }
    }

    // MARK: A container

    @Test func `a container's endpoint is asked with its token`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "token").path(percentEncoded: false)
        try "from-file\n".write(toFile: path, atomically: true, encoding: .utf8)
        try await LocalOrigin.run { _ in
            LocalOrigin.Answer(body: Self.lent("ASIA"))
        } _: { origin in
            var environment = nowhere.merging(["AWS_CONTAINER_CREDENTIALS_FULL_URI": origin.url("/lent?id=1")]) { $1 }
            #expect(try await found(environment) == Self.lent("ASIA"))
            environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "plain"
            #expect(try await found(environment) == Self.lent("ASIA"))
            environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = path
            #expect(try await found(environment) == Self.lent("ASIA"))
            #expect(origin.requests.map { $0.headers["authorization"] } == [nil, "plain", "from-file"])
            #expect(origin.requests.allSatisfy { $0.target == "/lent?id=1" })
            try "a\r\nb".write(toFile: path, atomically: true, encoding: .utf8)
            let injected = environment
            await #expect(throws: S3Error.self) { try await found(injected) }
            #expect(origin.requests.count == 3)
        }
    }

    @Test(arguments: [
        "http://example.com/", "http://10.0.0.1/", "http://169.254.169.254/", "ftp://127.0.0.1/", "127.0.0.1",
        "http://127.0.0.1.example.com/",
    ])
    func `a container's endpoint elsewhere is not asked without TLS`(url: String) async throws {
        let environment = nowhere.merging(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url]) { $1 }
        await #expect(
            throws: S3Error.noCredentials(
                reason: "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither on this machine nor https")
        ) { try await found(environment) }
    }

    // MARK: An instance

    @Test func `an instance's metadata are asked for by a session`() async throws {
        let script: LocalOrigin.Script = { request in
            switch (request.method, request.path) {
            case ("PUT", "/latest/api/token"):
                return LocalOrigin.Answer(
                    status: request.headers["x-aws-ec2-metadata-token-ttl-seconds"] == nil ? 400 : 200,
                    body: Data("session".utf8))
            case ("GET", _) where request.headers["x-aws-ec2-metadata-token"] != "session":
                return LocalOrigin.Answer(status: 401)
            case ("GET", "/latest/meta-data/iam/security-credentials/"):
                return LocalOrigin.Answer(body: Data("my-role\n".utf8))
            case ("GET", "/latest/meta-data/iam/security-credentials/my-role"):
                return LocalOrigin.Answer(body: Self.lent("ASIA"))
            default: return LocalOrigin.Answer(status: 404)
            }
        }
        try await LocalOrigin.run(script) { origin in
            let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": origin.url("/"), "HOME": "/nonexistent"]
            let lent = try await found(environment)
            #expect(lent == Self.lent("ASIA"))
            #expect(origin.requests.count == 3)
        }
    }

    @Test(arguments: [
        #"{"Code": "Failed"}"#, "", "{",
        #"{"AccessKeyId": "A", "SecretAccessKey": "B", "Token": "C", "Expiration": "soon"}"#,
    ])
    func `an answer without credentials is an error`(text: String) async throws {
        try await LocalOrigin.run { _ in
            LocalOrigin.Answer(body: Data(text.utf8))
        } _: { origin in
            let environment = nowhere.merging(["AWS_CONTAINER_CREDENTIALS_FULL_URI": origin.url("/")]) { $1 }
            await #expect(
                throws: S3Error.noCredentials(reason: "the container's endpoint gives an answer without any")
            ) { try await found(environment) }
        }
    }

    // MARK: The order

    @Test func `the first place in the SDKs' order counts`() async throws {
        let directory = try TemporaryDirectory()
        let root = directory.url.path(percentEncoded: false)
        try "[default]\naws_access_key_id=FILE\naws_secret_access_key=s\n".write(
            toFile: root + "/credentials", atomically: true, encoding: .utf8)
        try "token".write(toFile: root + "/token", atomically: true, encoding: .utf8)
        let script: LocalOrigin.Script = { request in
            switch request.path {
            case "/sts/":
                let lent =
                    "<AccessKeyId>STS</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
                    + "<Expiration>2040-01-02T03:04:05Z</Expiration>"
                return LocalOrigin.Answer(
                    body: Data(
                        "<A><AssumeRoleWithWebIdentityResult><Credentials>\(lent)</Credentials></AssumeRoleWithWebIdentityResult></A>"
                            .utf8))
            case "/container": return LocalOrigin.Answer(body: Self.lent("CONTAINER"))
            case "/latest/api/token", "/latest/meta-data/iam/security-credentials/":
                return LocalOrigin.Answer(body: Data("r".utf8))
            default: return LocalOrigin.Answer(body: Self.lent("INSTANCE"))
            }
        }
        try await LocalOrigin.run(script) { origin in
            var environment = [
                "HOME": "/nonexistent",
                "AWS_ACCESS_KEY_ID": "ENVIRONMENT", "AWS_SECRET_ACCESS_KEY": "s",
                "AWS_WEB_IDENTITY_TOKEN_FILE": root + "/token", "AWS_ROLE_ARN": "arn",
                "AWS_ENDPOINT_URL_STS": origin.url("/sts/"),
                "AWS_SHARED_CREDENTIALS_FILE": root + "/credentials",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": origin.url("/container"),
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": origin.url(""),
            ]
            for (key, next) in [
                ("AWS_ACCESS_KEY_ID", "ENVIRONMENT"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "STS"),
                ("AWS_SHARED_CREDENTIALS_FILE", "FILE"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CONTAINER"),
                ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "INSTANCE"),
            ] {
                let first = try await found(environment)
                #expect(first?.accessKey == next)
                environment[key] = nil
            }
        }
    }

    // MARK: Renewal

    /// Lends credentials for an hour, as often as it is asked, unless it is broken.
    private final class Lender: CredentialSource {
        let asked = Atomic(0)
        let isBroken = Atomic(false)

        func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
            let number = asked.add(1, ordering: .relaxed).newValue
            if isBroken.load(ordering: .relaxed) { throw .noCredentials(reason: "it is away") }
            return S3Credentials(accessKey: "\(number)", secretKey: "s", expiresAt: now + .seconds(3600))
        }
    }

    @Test func `credentials are renewed five minutes before their end, once for all who wait`() async throws {
        let lender = Lender()
        let cache = CredentialCache(lender)
        let start = Self.now
        let first = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await cache.current(at: start).accessKey } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(first == ["1"])
        #expect(try await cache.current(at: start + .seconds(3299)).accessKey == "1")
        #expect(try await cache.current(at: start + .seconds(3300)).accessKey == "2")
        #expect(try await cache.current(at: start + .seconds(3301)).accessKey == "2")
    }

    @Test func `while they can't be renewed the old ones are used to their end, and not asked for at each request`()
        async throws
    {
        let lender = Lender()
        let cache = CredentialCache(lender)
        let start = Self.now
        _ = try await cache.current(at: start)
        lender.isBroken.store(true, ordering: .relaxed)
        for second in 3300..<3320 { #expect(try await cache.current(at: start + .seconds(second)).accessKey == "1") }
        #expect(lender.asked.load(ordering: .relaxed) == 3)
        await #expect(throws: S3Error.noCredentials(reason: "it is away")) {
            try await cache.current(at: start + .seconds(3600))
        }
        lender.isBroken.store(false, ordering: .relaxed)
        #expect(try await cache.current(at: start + .seconds(3601)).accessKey == "5")
    }
}
