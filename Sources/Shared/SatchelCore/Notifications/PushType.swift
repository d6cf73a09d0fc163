/// How a push is sent; the raw value is that of the `apns-push-type` header.
public enum PushType: String, Hashable, Sendable, Codable, CaseIterable {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    /// Bytes of a payload, at most, as APNs takes it.
    public var limit: Int {
        self == .voip ? 5120 : 4096
    }
}
