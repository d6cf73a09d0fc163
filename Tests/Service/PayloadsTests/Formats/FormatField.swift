import SatchelCore
import Testing

@testable import Payloads

/// A field in which a service takes a medium, and a message around it.
struct FormatField: Sendable, CustomStringConvertible {
    /// Who shows what is there.
    enum Viewer: Sendable {
        /// Pictures of at most a million bytes.
        case android
        /// Pictures.
        case browser
        /// Whatever an extension attaches.
        case anybody
    }

    var format: PayloadFormat
    /// Of a message.
    var pointer: String
    var viewer: Viewer

    init(_ format: PayloadFormat, _ pointer: String, _ viewer: Viewer) {
        self.format = format
        self.pointer = pointer
        self.viewer = viewer
    }

    var description: String { "\(format.rawValue) \(pointer)" }

    /// As the documentation of each service has them, written down by themselves.
    static let all: [FormatField] = [
        FormatField(.fcm, "/message/notification/image", .android),
        FormatField(.fcm, "/message/android/notification/image", .android),
        FormatField(.fcm, "/message/apns/fcm_options/image", .anybody),
        FormatField(.fcm, "/message/webpush/notification/image", .browser),
        FormatField(.fcm, "/message/webpush/notification/icon", .browser),
        FormatField(.fcm, "/message/webpush/notification/badge", .browser),
        FormatField(.onesignal, "/ios_attachments/photo", .anybody),
        FormatField(.onesignal, "/big_picture", .android),
        FormatField(.onesignal, "/chrome_web_image", .browser),
        FormatField(.expo, "/richContent/image", .android),
        FormatField(.webpush, "/image", .browser),
        FormatField(.webpush, "/icon", .browser),
        FormatField(.webpush, "/badge", .browser),
        FormatField(.webpush, "/notification/image", .browser),
        FormatField(.webpush, "/notification/icon", .browser),
        FormatField(.webpush, "/notification/badge", .browser),
    ]

    /// A message that is shown, without media.
    ///
    /// - Parameters:
    ///   - others: More members, each with a comma after it.
    static func message(_ format: PayloadFormat, text: String = "T", _ others: String = "") -> String {
        switch format {
        case .apns: #"{\#(others)"aps":{"alert":"\#(text)"}}"#
        case .fcm: #"{"message":{\#(others)"token":"t","notification":{"title":"\#(text)"}}}"#
        case .onesignal: #"{\#(others)"app_id":"a","contents":{"en":"\#(text)"}}"#
        case .expo: #"{\#(others)"to":"t","title":"\#(text)"}"#
        case .webpush: #"{\#(others)"title":"\#(text)"}"#
        }
    }

    /// A message in which this field names a URL.
    func message(naming url: String, text: String = "T", _ others: String = "") throws -> String {
        var document = try JSONDocument.read(Array(Self.message(format, text: text, others).utf8), .passedOn)
        let tokens = try #require(JSONPointer(pointer)).tokens
        document.set(
            try #require(tokens.last), to: JSONValue(url), inObjectAt: JSONPointer(tokens: Array(tokens.dropLast())))
        return String(decoding: document.bytes, as: UTF8.self)
    }

    /// Where the key `satchel` is, in a message that isn't declarative.
    static func satchel(_ format: PayloadFormat) -> String {
        switch format {
        case .apns, .webpush: "/satchel"
        case .fcm: "/message/data/satchel"
        case .onesignal, .expo: "/data/satchel"
        }
    }

    /// The member that has an extension run, and its value; nil where there is none.
    static func mutability(_ format: PayloadFormat) -> (pointer: String, value: JSONValue)? {
        switch format {
        case .apns: ("/aps/mutable-content", JSONValue(1.0))
        case .fcm: ("/message/apns/payload/aps/mutable-content", JSONValue(1.0))
        case .expo: ("/mutableContent", JSONValue(true))
        case .onesignal, .webpush: nil
        }
    }
}
