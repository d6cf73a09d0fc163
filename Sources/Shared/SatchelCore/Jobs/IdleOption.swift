/// An option that a source has no use for: what was asked for is passed over, and the record says so.
public struct IdleOption: Hashable, Sendable {
    /// As requests call them.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case trim
        case crop
        case thumbnailTime = "thumbnail_time"
        case thumbnailFrame = "thumbnail_frame"
        case thumbnailClippingRect = "thumbnail_clipping_rect"
    }

    public var name: Name
    /// For a person, after "as": `a still picture has no length`.
    public var reason: String
}

extension RenditionRequest {
    /// The options that change nothing of what is made of a source.
    ///
    /// - Parameter planned: What is made of it.
    public func idleOptions(for kind: MediaKind, planned: [RenditionRole], under profile: Profile) -> [IdleOption] {
        var idle: [IdleOption] = []
        func pass(_ name: IdleOption.Name, _ reason: String?) {
            if let reason { idle.append(IdleOption(name: name, reason: reason)) }
        }
        if trim != nil, kind == .image { pass(.trim, "a still picture has no length") }
        if let crop { pass(.crop, Self.reasonNotToCrop(crop, kind, planned, profile)) }
        switch (thumbnailTime, thumbnailFrame) {
        case (nil, nil): break
        // A payload's moment is asked for in both ways, of which one fits.
        case (_?, _?) where kind == .video || kind == .animation: break
        case (_?, _):
            // What is cut around it needs it.
            if trim == nil || trim?.start != nil || kind == .image { pass(.thumbnailTime, Self.reasonForNoTime(kind)) }
        case (nil, _?): pass(.thumbnailFrame, Self.reasonForNoFrame(kind))
        }
        if thumbnailClippingRect != nil, kind == .audio { pass(.thumbnailClippingRect, "a sound has no picture") }
        return idle
    }

    private static func reasonNotToCrop(
        _ crop: Crop, _ kind: MediaKind, _ planned: [RenditionRole], _ profile: Profile
    ) -> String? {
        let hasThumbnail = planned.contains(.thumbnail)
        let isSquared = hasThumbnail && profile.thumbnail?.fit == .crop
        switch kind {
        case .audio where !hasThumbnail: return "a sound without a cover has no picture"
        case .video where !hasThumbnail && !planned.contains(.poster): return "no picture is made of the video"
        default: break
        }
        // A rectangle is taken out of every picture; the others say where to look when another shape is made.
        if case .rect = crop { return nil }
        let isShaped = (kind == .image || kind == .animation) && profile.image?.fit == .crop
        return isSquared || isShaped ? nil : "the profile asks for no other shape"
    }

    private static func reasonForNoTime(_ kind: MediaKind) -> String? {
        switch kind {
        case .image: "a still picture has no moments"
        case .animation: "an animation has frames instead"
        case .audio: "a sound has no picture at any moment"
        case .video: nil
        }
    }

    private static func reasonForNoFrame(_ kind: MediaKind) -> String? {
        switch kind {
        case .image: "a still picture has one frame"
        case .animation: nil
        case .audio: "a sound has no frames"
        case .video: "a video has moments instead"
        }
    }
}

extension Step {
    public static let options = "options"

    /// What was asked for in vain; nil where there is nothing of the kind.
    public init?(_ idle: [IdleOption]) {
        guard !idle.isEmpty else { return nil }
        let clauses = idle.map { "\($0.name.rawValue), as \($0.reason)" }
        self.init(name: Self.options, seconds: 0, note: "passed over: \(clauses.joined(separator: "; "))")
    }
}
