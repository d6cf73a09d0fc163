import SatchelCore
public import Hummingbird
import NIOCore

/// What is known of a request beside itself.
public struct ServiceContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    let channel: any Channel
    /// Who asks; set before the handler of an endpoint that needs to know is called.
    var identity = Identity.nobody
    /// What the request needs to stay good.
    var credentials: Credentials?
    /// Answered as `X-Request-Id`, and in the logs.
    var requestID = ""
    /// For whom it is done, where that isn't who the request's credentials say.
    var auditor: AuditActor?
    /// Of the path, where a page of the console asks rather than a client.
    var pathParameters: [String: String] = [:]
    /// Passed on with whatever is done on behalf of the request.
    var trace = TraceContext(continuing: nil)

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// For whom what is done is done.
    var actor: AuditActor {
        if let auditor { return auditor }
        return switch identity {
        case .key(let key): AuditActor(.key, id: key.id.isEmpty ? nil : key.id)
        case .grant(_, let grant): AuditActor(.grant, id: grant.id)
        case .nobody: AuditActor(.service)
        }
    }

    /// The tenant on whose behalf the request is answered.
    var tenant: TenantID {
        get throws(Problem) {
            switch identity {
            case .key(let key): key.tenant
            case .grant(_, let grant): grant.tenant
            case .nobody: throw .unauthorized
            }
        }
    }

    /// What access the request may give, look at and take back.
    var scope: AccessScope {
        get throws(Problem) {
            switch identity {
            case .grant(let token, _): .bearer(token)
            case .key, .nobody: .owner(try tenant)
            }
        }
    }

    /// A parameter of the endpoint's path.
    func parameter(_ name: String) throws(Problem) -> String {
        guard let value = pathParameters[name] ?? parameters.get(name) else { throw .notFound }
        return value
    }
}

/// Who asks.
enum Identity: Sendable {
    case nobody
    case key(APIKeyRecord)
    case grant(AccessToken, AccessEntry)
}
