/// What went wrong with a bucket. Each case is one sentence that says what to do, with no secret in it.
public enum S3Error: Error, Hashable, Sendable {
    /// A setting that can't be used; `need` is a clause: `it has to begin with s3://`.
    case invalidSetting(name: String, value: String, need: String)
    /// There is nothing to sign with; `reason` is a clause.
    case noCredentials(reason: String)
    case noSuchObject
    case noSuchBucket(String)
    /// The bucket is in another region than the one that was signed for; `right` where the server said which.
    case wrongRegion(String, right: String?)
    case unknownAccessKey(String)
    /// The server computes another signature.
    case wrongSecret(accessKey: String)
    case expiredCredentials
    case accessDenied(operation: String)
    /// The server's clock and this machine's differ too much, also after they were compared.
    case clockSkewed
    /// The bytes that arrived weren't those that were announced.
    case hashMismatch
    /// The server's certificate can't be trusted, or isn't its own.
    case certificate(host: String)
    case unreachable(host: String, reason: String)
    /// Nothing came, or not everything, in the time that there was.
    case timedOut(host: String)
    case brokenConnection(host: String)
    /// 500, 502, 503 and their like.
    case unavailable(status: Int, code: String)
    /// No room, or a quota used up.
    case full
    case malformedAnswer(reason: String)
    /// What else the server says no with.
    case refused(status: Int, code: String)
    /// A file of this machine; `reason` is a clause.
    case file(reason: String, isOutOfSpace: Bool)
    /// The disk of this machine is full, and the copy in progress has at least `needed` bytes.
    case noRoom(needed: Int64)
    case cancelled

    /// Whether the same request may succeed in a moment.
    public var isPassing: Bool {
        switch self {
        case .timedOut, .brokenConnection, .unavailable, .unreachable: true
        default: false
        }
    }
}

extension S3Error: CustomStringConvertible {
    /// A sentence.
    public var description: String { reason.prefix(1).uppercased() + reason.dropFirst() + "." }

    /// The same as a clause, without the full stop.
    public var reason: String {
        switch self {
        case .invalidSetting(let name, let value, let need): "\(name) can't be '\(value)': \(need)"
        case .noCredentials(let reason): "there are no credentials for the bucket: \(reason)"
        case .noSuchObject: "the bucket doesn't have the object"
        case .noSuchBucket(let bucket): "the bucket '\(bucket)' doesn't exist: create it, or correct its name"
        case .wrongRegion(let region, let right?):
            "the bucket is in the region '\(right)', not in '\(region)': set s3.region to it"
        case .wrongRegion(let region, nil): "the bucket isn't in the region '\(region)': set s3.region to its region"
        case .unknownAccessKey(let key): "the server doesn't know the access key '\(key)'"
        case .wrongSecret(let key): "the secret key for the access key '\(key)' is wrong"
        case .expiredCredentials: "the bucket's credentials have expired"
        case .accessDenied(let operation): "the bucket's credentials don't allow \(operation)"
        case .clockSkewed: "this machine's clock differs too much from the bucket's: correct this machine's clock"
        case .hashMismatch: "the bytes that reached the bucket were not those that were sent"
        case .certificate(let host):
            "the certificate of '\(host)' can't be trusted: set s3.ca to the authority that signed it"
        case .unreachable(let host, let reason): "'\(host)' can't be reached: \(reason)"
        case .timedOut(let host): "'\(host)' did not answer in time"
        case .brokenConnection(let host): "the connection to '\(host)' broke"
        case .unavailable(let status, let code):
            "the bucket is not available at the moment: its server answers \(status)\(code.isEmpty ? "" : " \(code)")"
        case .full: "the bucket is full, or its quota is used up"
        case .malformedAnswer(let reason): "the bucket's server sent an invalid answer: \(reason)"
        case .refused(let status, let code):
            "the bucket's server refused the request with \(status)\(code.isEmpty ? "" : " \(code)")"
        case .file(let reason, _): reason
        case .noRoom: "this machine's disk is full"
        case .cancelled: "the request was cancelled"
        }
    }
}
