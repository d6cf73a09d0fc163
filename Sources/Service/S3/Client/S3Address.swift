internal import FoundationEssentials

/// Where requests for a bucket go: the scheme and host of its URLs, and what their paths begin with.
struct S3Address: Hashable, Sendable {
    var scheme: String
    /// Without the port.
    var host: String
    /// As `Host` has it: with the port where it isn't the scheme's own.
    var authority: String
    /// Empty, or the bucket after a slash.
    private var start: String

    init(_ configuration: S3Configuration) throws(S3Error) {
        let endpoint = configuration.endpoint ?? Self.endpoint(of: "s3", in: configuration.region)
        guard let url = URL(string: endpoint), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.user == nil, ["", "/"].contains(url.path), url.query == nil
        else {
            throw .invalidSetting(
                name: "s3.endpoint", value: endpoint, need: "it is written https://host or https://host:port")
        }
        self.scheme = scheme
        self.host = configuration.usesPathStyle ? host : configuration.bucket + "." + host
        let ownPort = scheme == "https" ? 443 : 80
        let port = url.port.flatMap { $0 == ownPort ? nil : ":\($0)" } ?? ""
        authority = self.host + port
        start = configuration.usesPathStyle ? "/" + configuration.bucket : ""
    }

    /// The path of an object, or of the bucket itself.
    func path(of key: String?) -> String { start + "/" + (key ?? "") }

    /// AWS's own host for a service.
    static func endpoint(of service: String, in region: String) -> String {
        "https://\(service).\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    }
}
