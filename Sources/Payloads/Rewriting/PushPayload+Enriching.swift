public import Attachments

extension PushPayload {
    /// The payload with its media replaced by what became of them; everything else stays byte for byte. Never longer
    /// than ``PushType/limit``: what doesn't fit is left out, the least missed first.
    ///
    /// - Parameters:
    ///   - outcomes: Of each of ``media``, in their order.
    ///   - expiresAt: When the new URLs end.
    ///   - respond: Where responses go; nil where nobody takes any. It isn't said in a payload that nobody sees.
    /// - Throws: ``PayloadError/mediumFailed(_:_:)`` where `onFailure` is `error` and a medium failed or doesn't fit.
    public func enriched(
        with outcomes: [MediumOutcome], onFailure: FailureMode, expiresAt: Instant, respond: String? = nil
    ) throws(PayloadError) -> EnrichedPayload {
        precondition(outcomes.count == media.count, "an outcome for each medium")
        let respond = isShown ? respond : nil
        guard !media.isEmpty || respond != nil else { return EnrichedPayload(bytes: bytes, dropped: []) }
        var draft = Draft(
            payload: self, outcomes: outcomes, onFailure: onFailure, expiresAt: expiresAt, respond: respond)
        while true {
            if onFailure == .error { try draft.refuseFailures() }
            let bytes = draft.bytes
            // Without media the payload is no longer than it came.
            guard bytes.count > type.limit, draft.dropNext() else {
                return EnrichedPayload(bytes: bytes, dropped: draft.dropped)
            }
        }
    }
}

/// An enriched payload in the making: what of each medium is in it.
private struct Draft {
    let payload: PushPayload
    var outcomes: [MediumOutcome]
    let onFailure: FailureMode
    let expiresAt: Instant
    /// Where responses go.
    var respond: String?
    /// Media that have an entry under `satchel`.
    var listed: [Int]
    var dropped: [DroppedPart] = []

    init(
        payload: PushPayload, outcomes: [MediumOutcome], onFailure: FailureMode, expiresAt: Instant, respond: String?
    ) {
        self.payload = payload
        self.outcomes = outcomes
        self.onFailure = onFailure
        self.expiresAt = expiresAt
        self.respond = respond
        listed = outcomes.indices.filter { (try? outcomes[$0].get()) != nil }
    }

    func refuseFailures() throws(PayloadError) {
        for (medium, outcome) in zip(payload.media, outcomes) {
            if case .failure(let failure) = outcome { throw .mediumFailed(medium, failure) }
        }
    }

    // MARK: Fitting

    /// Leaves out what is missed least: previews, then placeholders, then where responses go, then entries, then the key, then
    /// media; the last medium's first. False where nothing is left to drop.
    mutating func dropNext() -> Bool {
        if let index = listed.last(where: { delivered($0)?.previewURL != nil }) {
            change(index) { $0.previewURL = nil }
            note(.previewURL, index)
        } else if let index = listed.last(where: { delivered($0)?.thumbhash != nil }) {
            change(index) { $0.thumbhash = nil }
            note(.thumbhash, index)
        } else if respond != nil {
            respond = nil
            dropped.append(DroppedPart(.respond))
        } else if listed.count > 1 {
            note(.attachment, listed.removeLast())
        } else if !listed.isEmpty {
            listed = []
            dropped.append(DroppedPart(.satchel))
        } else if let index = outcomes.indices.last(where: { delivered($0) != nil }) {
            outcomes[index] = .failure(.doesNotFit(limit: payload.type.limit))
            note(.medium, index)
        } else {
            return false
        }
        return true
    }

    private func delivered(_ index: Int) -> DeliveredMedium? {
        try? outcomes[index].get()
    }

    private mutating func change(_ index: Int, _ body: (inout DeliveredMedium) -> Void) {
        guard var medium = delivered(index) else { return }
        body(&medium)
        outcomes[index] = .success(medium)
    }

    private mutating func note(_ kind: DroppedPart.Kind, _ index: Int) {
        dropped.append(DroppedPart(kind, of: payload.media[index].identifier))
    }

    // MARK: Writing

    var bytes: [UInt8] {
        var document = payload.document
        var removed: [JSONDocument.Path] = []
        for (uses, outcome) in zip(payload.uses, outcomes) {
            switch outcome {
            case .success(let medium):
                for use in uses { document.show(medium, at: use) }
            case .failure where onFailure == .drop:
                for use in uses {
                    removed.append(use.path)
                    removed += use.companions
                    removed += document.takeAlternative(of: use)
                }
            case .failure: break
            }
        }
        if onFailure == .drop { removed += groupCompanions }
        if outcomes.indices.contains(where: { delivered($0) != nil }) { document.makeMutable() }
        if listed.isEmpty, respond == nil {
            // One that came along would speak of media that are no longer there.
            removed += document.places(of: SatchelKey.name, in: [])
        } else {
            document.set(SatchelKey.name, to: satchelKey.json, inObjectAt: [])
        }
        document.remove(removed)
        return document.bytes
    }

    private var satchelKey: SatchelKey {
        SatchelKey(
            expiresAt: expiresAt, respond: respond,
            entries: listed.compactMap { index in
                delivered(index).map { .init(identifier: payload.media[index].identifier, medium: $0) }
            })
    }

    /// What describes media of which none is left.
    private var groupCompanions: [JSONDocument.Path] {
        let failed = zip(payload.uses, outcomes).flatMap { uses, outcome in
            if case .failure = outcome { uses.compactMap(\.group) } else { [MediumUse.Group]() }
        }
        return Dictionary(grouping: failed, by: \.self).flatMap { group, uses in
            uses.count == group.size ? group.companions : []
        }
    }
}

extension JSONDocument {
    /// Puts a medium's new URL and type where the old ones were.
    fileprivate mutating func show(_ medium: DeliveredMedium, at use: MediumUse) {
        self[use.urlPath] = JSONValue(medium.url)
        for place in use.typePlaces {
            guard let word = self[place].text else { continue }
            let new = TypeWord.rewrite(word, as: medium.type)
            if new != word { self[place] = JSONValue(new) }
        }
    }

    /// Makes the text that stands for a medium the alert's body.
    ///
    /// - Returns: Where the text was.
    fileprivate mutating func takeAlternative(of use: MediumUse) -> [Path] {
        guard let place = use.alternativePlaces.last, let text = self[place].text, !text.isEmpty else { return [] }
        let raw = self[place]
        for alert in paths(to: JSONPointer(tokens: ["aps", "alert"])) {
            switch self[alert] {
            case .string: self[alert] = raw
            case .object: set("body", to: raw, inObjectAt: alert)
            case .array, .literal: break
            }
        }
        return use.alternativePlaces
    }

    /// Has the system run the service extension.
    fileprivate mutating func makeMutable() {
        let one = JSONValue(1.0)
        for aps in paths(to: JSONPointer(tokens: ["aps"])) {
            let values = self[aps].values(of: "mutable-content")
            if values.isEmpty || values.contains(where: { $0 != one }) {
                set("mutable-content", to: one, inObjectAt: aps)
            }
        }
    }
}
