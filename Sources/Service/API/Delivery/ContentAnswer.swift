import SatchelCore

/// What a request for content asks, beyond which content.
struct ContentRequest: Hashable, Sendable {
    var isHead = false
    var range: String?
    var ifRange: String?
    var ifMatch: String?
    var ifNoneMatch: String?
    /// The page's that asks, where that matters.
    var origin: String?
}

/// The answer to a request for content that may be read: a decision without input or output, which whoever sends the
/// bytes carries out.
struct ContentAnswer: Hashable, Sendable {
    struct Field: Hashable, Sendable {
        var name: String
        var value: String
    }

    var status: Int
    /// All but the framing.
    var fields: [Field]
    /// What `Content-Length` says; nil where it says nothing.
    var length: Int64?
    /// Which bytes of the blob follow; nil for none.
    var body: Range<Int64>?

    /// - Parameters:
    ///   - remaining: Until the access ends.
    ///   - redirect: The location that the proxy in front is told, where that sends the bytes.
    ///   - url: Where the client gets the bytes, good for twice as long as ``redirectAge``.
    init(
        to request: ContentRequest, for access: ContentAccess, remaining: Duration, redirect: String?,
        url: String? = nil
    ) {
        let size = access.rendition.bytes
        let tag = "\"\(access.rendition.sha256)\""
        // A URL is signed for GET, and whoever asks for the head alone gets it here.
        let url = request.isHead ? nil : url
        let common = Self.common(
            access, tag: tag, remaining: url == nil ? remaining : min(remaining, Self.redirectAge))

        if let ifMatch = request.ifMatch, !EntityTags(header: ifMatch).contain(tag, strongly: true) {
            self.init(status: 412, fields: common, length: 0)
            return
        }
        if let ifNoneMatch = request.ifNoneMatch, EntityTags(header: ifNoneMatch).contain(tag, strongly: false) {
            self.init(status: 304, fields: common, length: nil)
            return
        }
        if let url {
            self.init(status: 307, fields: common + [Field(name: "Location", value: url)], length: 0)
            return
        }
        let described = common + Self.description(of: access)
        if let redirect {
            let location = Field(name: "X-Accel-Redirect", value: redirect)
            self.init(status: 200, fields: described + [location], length: 0)
            return
        }
        // A date never matches: there is none to compare it with.
        let rangeCounts =
            request.ifRange.map { EntityTags.Tag($0).map { !$0.isWeak && $0.text == tag } ?? false } ?? true
        if !request.isHead, rangeCounts, let range = request.range.flatMap(ByteRange.init(header:)) {
            guard let bytes = range.bytes(of: size) else {
                self.init(
                    status: 416, fields: common + [Field(name: "Content-Range", value: "bytes */\(size)")], length: 0)
                return
            }
            let place = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(size)"
            self.init(
                status: 206, fields: described + [Field(name: "Content-Range", value: place)],
                length: Int64(bytes.count), body: bytes)
            return
        }
        self.init(status: 200, fields: described, length: size, body: request.isHead ? nil : 0..<size)
    }

    /// How long caches may keep where the client is sent to.
    private static let redirectAge: Duration = .seconds(30)

    private init(status: Int, fields: [Field], length: Int64?, body: Range<Int64>? = nil) {
        self.status = status
        self.fields = fields
        self.length = length
        self.body = body
    }

    private static func common(_ access: ContentAccess, tag: String, remaining: Duration) -> [Field] {
        let caching =
            switch (access.role, access.delivery) {
            case (_, .shared): "public, max-age=\(max(remaining.components.seconds, 0))"
            case (.original, .private): "no-store"
            case (_, .private): "private, no-cache"
            }
        return [
            Field(name: "ETag", value: tag),
            Field(name: "Cache-Control", value: caching),
            Field(name: "Accept-Ranges", value: "bytes"),
            Field(name: "Referrer-Policy", value: "no-referrer"),
            Field(name: "X-Content-Type-Options", value: "nosniff"),
            Field(name: "Content-Security-Policy", value: "default-src 'none'; sandbox"),
            // The token is the right to read: what page shows it is no business of ours.
            Field(name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
        ]
    }

    private static func description(of access: ContentAccess) -> [Field] {
        [
            Field(name: "Content-Type", value: access.contentType),
            Field(name: "Content-Disposition", value: access.disposition),
        ]
    }
}

extension ContentAccess {
    /// What is encrypted looks like nothing.
    var contentType: String {
        rendition.encryption == nil ? rendition.mediaType.rawValue : "application/octet-stream"
    }

    /// The file name agrees with URL and type. What is encrypted is nothing to show.
    var disposition: String {
        if rendition.encryption != nil { return "attachment; filename=\"\(role.rawValue).encrypted\"" }
        return "inline; filename=\"\(role.rawValue).\(rendition.mediaType.fileExtension)\""
    }
}

/// What a content URL's path names: `/c/{token}/{rendition}.{ext}`.
struct ContentPath: Hashable, Sendable {
    var token: AccessToken
    /// Nil where there is no such rendition.
    var role: RenditionRole?
    var fileExtension: String

    init(token: String, name: String) {
        self.token = AccessToken(secretText: token)
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        role = parts.count == 2 ? RenditionRole(rawValue: String(parts[0])) : nil
        fileExtension = parts.last.map(String.init) ?? ""
    }

    /// Nil for anything but `/c/{token}/{name}`.
    init?(_ path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, parts[1] == "c" else { return nil }
        self.init(token: String(parts[2]), name: String(parts[3]))
    }
}
