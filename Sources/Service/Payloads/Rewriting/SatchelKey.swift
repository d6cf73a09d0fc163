import SatchelCore

/// The value of the payload's key `satchel`, from which the client library makes attachments. Only keys that have a
/// value are in it.
struct SatchelKey {
    static let name = "satchel"
    /// Of the value's format.
    private static let version = 1

    struct Entry {
        var identifier: String
        var medium: DeliveredMedium
    }

    var expiresAt: Instant
    var respond: String?
    var entries: [Entry]

    var json: JSONValue {
        // Whole seconds, rounded down, for size.
        let expiry = expiresAt.description.prefix(19) + "Z"
        return JSONValue(members: [
            ("v", JSONValue(Double(Self.version))),
            ("expires_at", JSONValue(String(expiry))),
            ("attachments", JSONValue(elements: entries.map(Self.json))),
            ("respond", respond.map { JSONValue($0) }),
        ])
    }

    private static func json(_ entry: Entry) -> JSONValue {
        let medium = entry.medium
        let options = medium.options
        let rect = options.thumbnailClippingRect.map { rect in
            JSONValue(members: [
                ("x", JSONValue(rect.x)), ("y", JSONValue(rect.y)), ("width", JSONValue(rect.width)),
                ("height", JSONValue(rect.height)),
            ])
        }
        return JSONValue(members: [
            ("identifier", JSONValue(entry.identifier)),
            ("url", JSONValue(medium.url)),
            ("encryption", medium.encryption),
            ("preview_url", medium.previewURL.map { JSONValue($0) }),
            // It goes with its URL.
            ("preview_encryption", medium.previewURL.flatMap { _ in medium.previewEncryption }),
            ("bytes", JSONValue(Double(medium.bytes))),
            ("width", medium.width.map { JSONValue(Double($0)) }),
            ("height", medium.height.map { JSONValue(Double($0)) }),
            ("thumbhash", medium.thumbhash.map { JSONValue($0) }),
            (
                "options",
                JSONValue(members: [
                    ("type_hint", JSONValue(options.typeHint ?? medium.type.uti)),
                    ("thumbnail_hidden", options.thumbnailHidden ? JSONValue(true) : nil),
                    ("thumbnail_clipping_rect", rect),
                    ("thumbnail_time", options.thumbnailTime.map { JSONValue($0) }),
                ])
            ),
        ])
    }
}
