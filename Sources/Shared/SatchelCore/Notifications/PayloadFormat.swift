/// What a payload is written for. The raw value is the word for it in the API.
public enum PayloadFormat: String, Hashable, Sendable, Codable, CaseIterable {
    /// The payload as APNs delivers it.
    case apns
    /// The body of a request to Firebase Cloud Messaging's HTTP v1 API, `messages:send`.
    case fcm
    /// The body of a request to OneSignal's API, `notifications`.
    case onesignal
    /// The body of a request to Expo's push service: a message, or an array of them.
    case expo
    /// The text of a Web Push message, before it is encrypted: what the site's own service worker reads, or a declarative
    /// push message.
    case webpush

    /// Who gets it, as people call it.
    public var service: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .onesignal: "OneSignal"
        case .expo: "Expo"
        case .webpush: "Web Push"
        }
    }

    /// Bytes of a message, at most. FCM, OneSignal and Expo state 4096 (*Firebase Cloud Messaging message types*,
    /// *OSNotification payload*, and `MessageTooBig` in *Send notifications with Expo's Push API*); a push service for the
    /// web need not take more than 3993 before encryption (RFC 8291, section 4).
    ///
    /// - Parameter type: Of a payload for APNs.
    public func limit(_ type: PushType) -> Int {
        switch self {
        case .apns: type.limit
        case .fcm, .onesignal, .expo: 4096
        case .webpush: 3993
        }
    }
}
