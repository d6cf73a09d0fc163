public import SatchelCore
internal import FoundationEssentials

/// The places that AWS's SDKs look for credentials, in their order: the environment's keys, a web identity's token, the shared
/// file, a container's endpoint, an instance's metadata. The first that has some counts; one that should have some and doesn't is an
/// error, not passed over.
///
/// After "Standardized credential providers" and "Settings reference" of the AWS SDKs and Tools Reference Guide.
public struct CredentialChain: CredentialSource {
    private let sources: [any CredentialSource]

    /// By the variables of this process.
    public init() {
        self.init(ProcessInfo.processInfo.environment)
    }

    /// - Parameter environment: Names and values of variables.
    public init(_ environment: [String: String]) {
        sources = [
            EnvironmentCredentials(environment), WebIdentityCredentials(environment),
            SharedFileCredentials(environment), ContainerCredentials(environment), InstanceCredentials(environment),
        ]
    }

    public func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
        for source in sources {
            if let found = try await source.credentials(at: now) { return found }
        }
        return nil
    }
}

extension [String: String] {
    /// What a variable says; one that is empty says nothing.
    func set(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
