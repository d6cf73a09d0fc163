internal import SatchelCore
internal import FoundationEssentials
internal import Platform

/// Keys of a profile in the shared file: `~/.aws/credentials`, or what `AWS_SHARED_CREDENTIALS_FILE` says, and the profile of
/// `AWS_PROFILE`, or `default`.
struct SharedFileCredentials: CredentialSource {
    private let path: String?
    private let profile: String
    /// Whether somebody asked for the file or the profile: then it is an error that they aren't there.
    private let isAskedFor: Bool

    init(_ environment: [String: String]) {
        let asked = environment.set("AWS_SHARED_CREDENTIALS_FILE")
        let home = environment.set("HOME")
        path = (asked ?? home.map { $0 + "/.aws/credentials" }).map { path in
            path.hasPrefix("~/") ? (home ?? "") + path.dropFirst() : path
        }
        profile = environment.set("AWS_PROFILE") ?? "default"
        isAskedFor = asked != nil || environment.set("AWS_PROFILE") != nil
    }

    func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? {
        guard let path else { return nil }
        let text = await BlockingWork.run { try? String(contentsOfFile: path, encoding: .utf8) }
        guard let text else {
            guard isAskedFor else { return nil }
            throw .noCredentials(reason: "the file '\(path)' can't be read")
        }
        let fields = Self.fields(of: profile, in: text)
        guard let key = fields.set("aws_access_key_id"), let secret = fields.set("aws_secret_access_key") else {
            guard isAskedFor else { return nil }
            throw .noCredentials(reason: "the file '\(path)' has no keys for the profile '\(profile)'")
        }
        return S3Credentials(accessKey: key, secretKey: secret, sessionToken: fields.set("aws_session_token"))
    }

    /// What stands below `[profile]`, names in lower case. Of a name that comes twice the last counts.
    static func fields(of profile: String, in text: String) -> [String: String] {
        var fields: [String: String] = [:]
        var isMeant = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingPrefix(while: \.isWhitespace)
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") {
                let name = line.dropFirst().prefix { $0 != "]" }
                isMeant = name.split(whereSeparator: \.isWhitespace).joined(separator: " ") == profile
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                var part = part.trimmingPrefix(while: \.isWhitespace)
                while part.last?.isWhitespace == true { part.removeLast() }
                return String(part)
            }
            if isMeant, parts.count == 2 { fields[parts[0].lowercased()] = parts[1] }
        }
        return fields
    }
}
