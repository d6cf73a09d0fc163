/// Something about a notification that its sender probably doesn't want, though it can be sent so.
public struct NotificationWarning: Hashable, Sendable, Codable {
    /// Never reworded.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing is shown.
        case noAlert = "no_alert"
        /// There is a URL, but at no place of media.
        case noMediaFound = "no_media_found"
        /// No service extension runs.
        case notMutable = "not_mutable"
        case unknownCategory = "unknown_category"
        /// A banner has fewer actions than the category.
        case bannerHidesActions = "banner_hides_actions"
        /// The first medium has another shape than the category reserves.
        case ratioDiffers = "ratio_differs"
        case mediaFailed = "media_failed"
        /// A place of the payload can't show its medium, which is ready.
        case notShown = "not_shown"
        /// The push may arrive when its media are gone.
        case linksEndEarly = "links_end_early"
        /// A picture takes more than a service extension has.
        case memory
        /// Something was left out so that the payload fits.
        case payloadCut = "payload_cut"
    }

    public var code: Code
    /// For people: what it comes to, with figures.
    public var detail: String

    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}

/// What warnings are made of: a notification as it would be handed over.
public struct NotificationFacts: Hashable, Sendable {
    /// A medium that the payload names, or that goes with it.
    public struct Medium: Hashable, Sendable {
        public var identifier: String
        /// Of what is shown; nil for sound and for what isn't known.
        public var size: PixelSize?
        /// Whether a device decodes it whole: a picture or an animation.
        public var isPicture: Bool
        /// Why it isn't there: a code, and a sentence.
        public var failure: Failure?
        /// Why one of its places doesn't show it, though it is there.
        public var unfit: Failure?

        public struct Failure: Hashable, Sendable {
            public var code: String
            public var message: String

            public init(code: String, message: String) {
                self.code = code
                self.message = message
            }
        }

        public init(
            identifier: String, size: PixelSize? = nil, isPicture: Bool = false, failure: Failure? = nil,
            unfit: Failure? = nil
        ) {
            self.identifier = identifier
            self.size = size
            self.isPicture = isPicture
            self.failure = failure
            self.unfit = unfit
        }

        /// Bytes of its decoded pixels, at 4 for each.
        public var decodedBytes: Int64? {
            guard isPicture, let size else { return nil }
            let (bytes, isOver) = size.area.multipliedReportingOverflow(by: 4)
            return isOver ? .max : bytes
        }
    }

    /// What the payload is written for.
    public var format: PayloadFormat
    public var hasAlert: Bool
    /// A service extension runs, or none is needed: `mutable-content` is 1, or what the format has in its place.
    public var isMutable: Bool
    /// As the payload names it.
    public var categoryID: String?
    /// The one of that id; nil where there is none.
    public var category: Category?
    /// In the order in which they are shown.
    public var media: [Medium]
    /// When the first link ends; nil where there is none.
    public var linksEnd: Instant?
    /// Until when the push service tries to deliver; nil where that isn't said.
    public var pushEnds: Instant?
    /// What was left out for size, in words: `preview_url of 'photo'`.
    public var dropped: [String]
    /// Bytes that the payload may have.
    public var payloadLimit: Int
    /// The places of URLs in a payload without media, as JSON pointers.
    public var urlPlaces: [String] = []

    public init(
        format: PayloadFormat = .apns, hasAlert: Bool, isMutable: Bool, categoryID: String? = nil,
        category: Category? = nil, media: [Medium] = [],
        linksEnd: Instant? = nil, pushEnds: Instant? = nil, dropped: [String] = [], payloadLimit: Int = 4096
    ) {
        self.format = format
        self.hasAlert = hasAlert
        self.isMutable = isMutable
        self.categoryID = categoryID
        self.category = category
        self.media = media
        self.linksEnd = linksEnd
        self.pushEnds = pushEnds
        self.dropped = dropped
        self.payloadLimit = payloadLimit
    }

    /// Actions that a banner shows.
    public static let bannerActions = 2
    /// Bytes that a service extension has, as developers report: Apple gives no figure.
    public static let extensionMemory: Int64 = 24_000_000
    /// How much the shapes may differ: what nobody sees as a margin.
    private static let ratioTolerance = 0.1

    /// In the order of their codes; one for each medium where it is about media.
    public var warnings: [NotificationWarning] {
        [
            alert.map { [$0] }, noMedia.map { [$0] }, mutability.map { [$0] }, unknownCategory.map { [$0] },
            banner.map { [$0] },
            ratio.map { [$0] }, failures, unfit, links.map { [$0] }, memory, cut.map { [$0] },
        ].compactMap(\.self).flatMap(\.self)
    }

    private var alert: NotificationWarning? {
        guard !hasAlert else { return nil }
        let lack = format == .apns ? "The payload has no 'alert'" : "The payload has no text and no template"
        return NotificationWarning(.noAlert, "\(lack), so nothing is shown and its media are not prepared.")
    }

    private var noMedia: NotificationWarning? {
        urlPlaces.first.map {
            NotificationWarning(
                .noMediaFound,
                "No media were found, but '\($0)' is a URL. Use one of the keys that /docs lists, or add this one to the setting payload.pointers."
            )
        }
    }

    private var mutability: NotificationWarning? {
        guard hasAlert, !isMutable, !media.isEmpty else { return nil }
        let member = format == .expo ? "'mutableContent': true" : "'mutable-content': 1"
        return NotificationWarning(
            .notMutable, "The payload has no \(member), so no service extension runs and its media are not shown.")
    }

    private var unknownCategory: NotificationWarning? {
        guard let categoryID, category == nil else { return nil }
        return NotificationWarning(
            .unknownCategory,
            "There is no category '\(categoryID)', so no actions are shown. Create the category, or correct 'category'."
        )
    }

    private var banner: NotificationWarning? {
        guard let actions = category?.actions, actions.count > Self.bannerActions else { return nil }
        let hidden = actions.dropFirst(Self.bannerActions).map { "'\($0.title)'" }.joined(separator: ", ")
        return NotificationWarning(
            .bannerHidesActions,
            "A banner shows only \(Self.bannerActions) of \(actions.count) actions. When the notification is opened, it also shows \(hidden)."
        )
    }

    private var ratio: NotificationWarning? {
        guard let reserved = category?.extension?.initialContentSizeRatio, let size = media.first?.size, size.width > 0,
            size.height > 0
        else { return nil }
        let ratio = Double(size.height) / Double(size.width)
        guard abs(ratio / reserved - 1) > Self.ratioTolerance else { return nil }
        return NotificationWarning(
            .ratioDiffers,
            "The picture's height is \(Self.decimals(ratio)) times its width, but the category reserves \(Self.decimals(reserved)). The picture will be letterboxed."
        )
    }

    private var failures: [NotificationWarning] {
        media.compactMap { medium in
            medium.failure.map {
                NotificationWarning(.mediaFailed, "'\(medium.identifier)' is missing (\($0.code)): \($0.message)")
            }
        }
    }

    private var unfit: [NotificationWarning] {
        media.compactMap { medium in medium.unfit.map { NotificationWarning(.notShown, $0.message) } }
    }

    private var links: NotificationWarning? {
        guard let linksEnd, let pushEnds, linksEnd < pushEnds else { return nil }
        return NotificationWarning(
            .linksEndEarly,
            "The push can arrive until \(pushEnds), but its links expire at \(linksEnd). Raise 'expires_in', or let the push expire earlier."
        )
    }

    private var memory: [NotificationWarning] {
        // No service extension takes part in it.
        guard format != .webpush else { return [] }
        return media.compactMap { medium in
            guard let bytes = medium.decodedBytes, bytes > Self.extensionMemory else { return nil }
            return NotificationWarning(
                .memory,
                "'\(medium.identifier)' needs \(bytes / 1_000_000) MB when decoded, but a service extension has about \(Self.extensionMemory / 1_000_000) MB. Choose a profile with fewer pixels."
            )
        }
    }

    private var cut: NotificationWarning? {
        guard !dropped.isEmpty else { return nil }
        return NotificationWarning(
            .payloadCut,
            "The payload exceeded \(payloadLimit) bytes, so these parts were removed: \(dropped.joined(separator: ", ")). Shorten the payload."
        )
    }

    /// At most two decimals, without zeros at the end.
    private static func decimals(_ number: Double) -> String {
        PlainValue.number((number * 100).rounded() / 100).text
    }
}
