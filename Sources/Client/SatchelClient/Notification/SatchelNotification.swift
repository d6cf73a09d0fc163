public import Foundation

/// What a push payload says under the key `satchel`: links to attachments that were prepared for it.
///
/// Needs no API key. A Notification Service Extension inherits from `SatchelNotificationService`; one that has another
/// superclass does the same by hand:
///
/// ```swift
/// final class NotificationService: UNNotificationServiceExtension {
///     private var answer: SatchelNotification.Answer?
///
///     override func didReceive(
///         _ request: UNNotificationRequest, withContentHandler handler: @escaping (UNNotificationContent) -> Void
///     ) {
///         answer = SatchelNotification.answer(request, with: handler)
///     }
///
///     override func serviceExtensionTimeWillExpire() {
///         answer?.expire()
///     }
/// }
/// ```
public struct SatchelNotification: Sendable, Hashable {
    /// One attachment of the payload.
    public struct Link: Sendable, Hashable, Decodable {
        public var identifier: String
        public var url: URL
        /// With what it is encrypted; nil where it isn't.
        public var encryption: Encryption?
        /// Something small to show until the rest is there.
        public var previewURL: URL?
        /// With what that is encrypted.
        public var previewEncryption: Encryption?
        public var bytes: Int64?
        public var width: Int?
        public var height: Int?
        /// Base64 of the ThumbHash.
        public var thumbhash: String?
        public var options: Options?

        private enum CodingKeys: String, CodingKey {
            case identifier, url, encryption, previewEncryption, bytes, width, height, thumbhash, options
            // As the decoder turns `preview_url`.
            case previewURL = "previewUrl"
        }
    }

    /// The counterparts of `UNNotificationAttachment`'s options; what is not said is left out.
    public struct Options: Sendable, Hashable, Decodable {
        /// A UTI.
        public var typeHint: String?
        public var thumbnailHidden: Bool?
        public var thumbnailClippingRect: UnitRect?
        /// Seconds, or a frame number for an animation.
        public var thumbnailTime: TimeInterval?
    }

    /// The version of the layout; 1.
    public var v: Int
    /// When the links end.
    public var expiresAt: Date?
    public var attachments: [Link]
    /// Takes what a person does with the notification: ``SatchelResponses``. Nil where its category takes no responses.
    public var respond: URL?
}

extension SatchelNotification: Decodable {}

extension SatchelNotification {
    /// Reads a notification's `userInfo`; nil where Satchel has put nothing there, or nothing that this library knows.
    public init?(userInfo: [AnyHashable: Any]) {
        let found = Self.places.lazy.compactMap { Self.json(at: $0, of: userInfo) }.first
        guard let found, let notification = try? Wire.decode(SatchelNotification.self, from: found),
            notification.v == 1
        else { return nil }
        self = notification
    }

    /// Where services deliver what they were sent under the key `satchel`.
    private static let places = [
        // As it was sent; FCM, as text.
        ["satchel"],
        // OneSignal, of `data`.
        ["custom", "a", "satchel"],
        // Expo, of `data`.
        ["body", "satchel"],
    ]

    private static func json(at place: [String], of userInfo: [AnyHashable: Any]) -> Data? {
        let value = place.reduce(userInfo as Any?) { value, key in (value as? [AnyHashable: Any])?[key] }
        if let text = value as? String { return Data(text.utf8) }
        guard let value, JSONSerialization.isValidJSONObject(value) else { return nil }
        return try? JSONSerialization.data(withJSONObject: value)
    }

    /// An attachment whose bytes are on the disk.
    public struct File: Sendable, Hashable {
        public var link: Link
        /// With the extension of its type.
        public var file: URL
        /// Whether it is the preview, because the rest did not come in time.
        public var isPreview: Bool
    }

    /// Fetches what a notification's `userInfo` links to. See ``files(within:in:largest:)``.
    public static func attachments(
        from userInfo: [AnyHashable: Any], within seconds: TimeInterval = 25, in directory: URL? = nil
    ) async -> [File] {
        await SatchelNotification(userInfo: userInfo)?.files(within: seconds, in: directory) ?? []
    }

    /// Fetches the attachments beside their previews, straight to the disk: memory doesn't grow with them.
    ///
    /// The best attempt: what isn't there after `seconds` is left out, or stands as its preview. Order is kept.
    ///
    /// - Parameters:
    ///   - seconds: An extension has 30.
    ///   - directory: Where the files go; a new temporary one where nil. Files are the caller's.
    ///   - largest: Bytes; what is larger stands as its preview.
    public func files(
        within seconds: TimeInterval = 25, in directory: URL? = nil, largest: Int64 = 50_000_000
    ) async -> [File] {
        let fetch = NotificationFetch(self, in: directory, largest: largest) { $0 }
        await fetch.run(within: seconds)
        return fetch.finish()
    }
}
