public import Foundation

/// The links to prepared attachments in a push payload, under the key `satchel`.
///
/// It needs no API key. A Notification Service Extension can inherit from `SatchelNotificationService`. With another superclass,
/// implement two methods:
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
    /// A link to one attachment of the payload.
    public struct Link: Sendable, Hashable, Decodable {
        public var identifier: String
        public var url: URL
        /// The encryption of the file; `nil` if it is not encrypted.
        public var encryption: Encryption?
        /// The URL of a small preview to show until the attachment is there.
        public var previewURL: URL?
        /// The encryption of the preview.
        public var previewEncryption: Encryption?
        public var bytes: Int64?
        public var width: Int?
        public var height: Int?
        /// The ThumbHash in base64.
        public var thumbhash: String?
        public var options: Options?

        private enum CodingKeys: String, CodingKey {
            case identifier, url, encryption, previewEncryption, bytes, width, height, thumbhash, options
            // As the decoder turns `preview_url`.
            case previewURL = "previewUrl"
        }
    }

    /// The counterparts of the options of `UNNotificationAttachment`.
    public struct Options: Sendable, Hashable, Decodable {
        /// A UTI.
        public var typeHint: String?
        public var thumbnailHidden: Bool?
        public var thumbnailClippingRect: UnitRect?
        /// The time in seconds, or the number of an animation's frame.
        public var thumbnailTime: TimeInterval?
    }

    /// The version of the format; 1.
    public var v: Int
    /// When the links expire.
    public var expiresAt: Date?
    public var attachments: [Link]
    /// The URL that takes responses (``SatchelResponses``); `nil` if the category takes none.
    public var respond: URL?
}

extension SatchelNotification: Decodable {}

extension SatchelNotification {
    /// Reads a notification's `userInfo`. Fails if it has no links of Satchel, or if their format is unknown.
    public init?(userInfo: [AnyHashable: Any]) {
        let found = Self.places.lazy.compactMap { Self.json(at: $0, of: userInfo) }.first
        guard let found, let notification = try? Wire.decode(SatchelNotification.self, from: found),
            notification.v == 1
        else { return nil }
        self = notification
    }

    /// The keys under which push services deliver the key `satchel`.
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

    /// An attachment that was fetched to a file.
    public struct File: Sendable, Hashable {
        public var link: Link
        /// The file, whose extension fits its type.
        public var file: URL
        /// Whether the file is the preview, because the attachment was not fetched in time.
        public var isPreview: Bool
    }

    /// Fetches the links in a notification's `userInfo`. See ``files(within:in:largest:)``.
    public static func attachments(
        from userInfo: [AnyHashable: Any], within seconds: TimeInterval = 25, in directory: URL? = nil
    ) async -> [File] {
        await SatchelNotification(userInfo: userInfo)?.files(within: seconds, in: directory) ?? []
    }

    /// Fetches the attachments and their previews at the same time, directly to files. Memory use does not depend on their size.
    ///
    /// An attachment that is not there after `seconds` is replaced by its preview, or omitted. The order is kept.
    ///
    /// - Parameters:
    ///   - seconds: The time limit. An extension has 30 seconds in all.
    ///   - directory: The directory for the files; `nil` for a new temporary one. The caller deletes the files.
    ///   - largest: The maximum size in bytes. Larger attachments are replaced by their previews.
    public func files(
        within seconds: TimeInterval = 25, in directory: URL? = nil, largest: Int64 = 50_000_000
    ) async -> [File] {
        let fetch = NotificationFetch(self, in: directory, largest: largest) { $0 }
        await fetch.run(within: seconds)
        return fetch.finish()
    }
}
