import S3

/// Settings for the bucket that nodes share.
struct BucketSettings: Sendable {
    enum Encryption: String, CaseIterable, Sendable {
        case none, s3, kms
    }

    var endpoint: String?
    /// `nil` for that of `AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`, in this order.
    var region: String?
    var usesPathStyle = false
    var certificateAuthorities: String?
    var encryption = Encryption.none
    var key: String?
    var storageClass: String?
    var connections = 64

    /// - Parameter location: `s3://bucket/prefix`.
    func configuration(
        of location: String, _ environment: [String: String]
    ) throws(S3Error) -> S3Configuration {
        func set(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        return try S3Configuration(
            location, region: region ?? set("AWS_REGION") ?? set("AWS_DEFAULT_REGION") ?? "us-east-1",
            endpoint: endpoint, usesPathStyle: usesPathStyle, certificateAuthorities: certificateAuthorities,
            encryption: {
                switch encryption {
                case .none: .bucket
                case .s3: .store
                case .kms: .managed(key: key)
                }
            }(), storageClass: storageClass, connections: connections)
    }
}
