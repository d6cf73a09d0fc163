import Attachments

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
    var entries: [Entry]

    var json: JSONValue {
        // Whole seconds, rounded down, for size.
        let expiry = expiresAt.description.prefix(19) + "Z"
        return .compact([
            ("v", .number(Self.version)),
            ("expires_at", JSONValue(String(expiry))),
            ("attachments", .compact(entries.map(Self.json))),
        ])
    }

    private static func json(_ entry: Entry) -> JSONValue {
        let medium = entry.medium
        let options = medium.options
        let rect = options.thumbnailClippingRect.map { rect in
            JSONValue.compact([
                ("x", .number(rect.x)), ("y", .number(rect.y)), ("width", .number(rect.width)),
                ("height", .number(rect.height)),
            ])
        }
        return .compact([
            ("identifier", JSONValue(entry.identifier)),
            ("url", JSONValue(medium.url)),
            ("preview_url", medium.previewURL.map(JSONValue.init)),
            ("bytes", .number(medium.bytes)),
            ("width", medium.width.map(JSONValue.number)),
            ("height", medium.height.map(JSONValue.number)),
            ("thumbhash", medium.thumbhash.map(JSONValue.init)),
            (
                "options",
                .compact([
                    ("type_hint", JSONValue(options.typeHint ?? medium.type.uti)),
                    ("thumbnail_hidden", options.thumbnailHidden ? .literal(Array("true".utf8)[...]) : nil),
                    ("thumbnail_clipping_rect", rect),
                    ("thumbnail_time", options.thumbnailTime.map(JSONValue.number)),
                ])
            ),
        ])
    }
}

extension JSONValue {
    /// An object of those members that have a value, without white space.
    fileprivate static func compact(_ members: [(key: String, value: JSONValue?)]) -> JSONValue {
        var object = JSONObject(members: [], closing: [])
        for case (let key, let value?) in members { object.append(key, value) }
        return .object(object)
    }

    fileprivate static func compact(_ elements: [JSONValue]) -> JSONValue {
        .array(JSONArray(elements: elements.map { JSONArray.Element(before: [], value: $0, after: []) }, closing: []))
    }

    fileprivate static func number(_ value: some BinaryInteger) -> JSONValue {
        .literal(Array(String(value).utf8)[...])
    }

    /// Whole numbers without a fraction.
    fileprivate static func number(_ value: Double) -> JSONValue {
        let whole = Int64(exactly: value)
        return .literal(Array((whole.map(String.init) ?? String(value)).utf8)[...])
    }
}
