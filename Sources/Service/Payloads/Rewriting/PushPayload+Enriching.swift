public import SatchelCore

extension PushPayload {
    /// The payload with its media replaced by what became of them; everything else stays byte for byte. None of its messages is
    /// longer than ``PayloadFormat/limit(_:)``: what doesn't fit is left out, the least missed first.
    ///
    /// - Parameters:
    ///   - outcomes: Of each of ``media``, in their order.
    ///   - expiresAt: When the new URLs end.
    ///   - respond: Where responses go; nil where nobody takes any. It isn't said in a payload that nobody sees.
    /// - Throws: ``PayloadError/mediumFailed(_:_:)`` where `onFailure` is `error` and a medium failed, doesn't fit, or can't be
    ///   shown at one of its places.
    public func enriched(
        with outcomes: [MediumOutcome], onFailure: FailureMode, expiresAt: Instant, respond: String? = nil
    ) throws(PayloadError) -> EnrichedPayload {
        precondition(outcomes.count == media.count, "an outcome for each medium")
        let respond = isShown ? respond : nil
        var enriched = EnrichedPayload(bytes: bytes)
        guard !media.isEmpty || respond != nil else { return enriched }
        var document = document
        for message in messages where message.isShown {
            var draft = Draft(
                payload: self, message: message, outcomes: outcomes, onFailure: onFailure, expiresAt: expiresAt,
                respond: respond)
            let written = try draft.fitted()
            if message.path.isEmpty { document = written } else { document[message.path] = written.root }
            enriched.dropped += draft.dropped.filter { !enriched.dropped.contains($0) }
            enriched.unfit += draft.unfit
            if draft.respond != nil { enriched.takesResponses = true }
        }
        enriched.bytes = document.bytes
        return enriched
    }
}

/// An enriched message in the making: what of each medium is in it.
private struct Draft {
    let payload: PushPayload
    let message: PushPayload.Message
    let rules: MessageRules
    let limit: Int
    var outcomes: [MediumOutcome]
    let onFailure: FailureMode
    let expiresAt: Instant
    /// Where responses go.
    var respond: String?
    /// Where the key `satchel` is.
    let holder: JSONPointer
    /// The media that the message names, or that come with it.
    let concerned: [Int]
    /// Media that have an entry under `satchel`.
    var listed: [Int]
    var dropped: [DroppedPart] = []

    init(
        payload: PushPayload, message: PushPayload.Message, outcomes: [MediumOutcome], onFailure: FailureMode,
        expiresAt: Instant, respond: String?
    ) {
        self.payload = payload
        self.message = message
        self.outcomes = outcomes
        self.onFailure = onFailure
        self.expiresAt = expiresAt
        rules = payload.format.rules
        limit = payload.format.limit(payload.type)
        holder = rules.satchel.object(message.document.root)
        concerned = outcomes.indices.filter { !message.uses[$0].isEmpty || payload.isUnnamed($0) }
        listed = concerned.filter { (try? outcomes[$0].get()) != nil }
        self.respond = respond
        guard !message.document.hasRoom(forObjectAt: holder) else { return }
        // Something of the sender's own is in the way.
        if respond != nil { dropped.append(DroppedPart(.respond)) }
        if !listed.isEmpty { dropped.append(DroppedPart(.satchel)) }
        self.respond = nil
        listed = []
    }

    /// The message, with as much as fits.
    mutating func fitted() throws(PayloadError) -> JSONDocument {
        while true {
            if onFailure == .error { try refuseFailures() }
            let document = document
            // Without media the message is no longer than it came.
            guard !fits(document), dropNext() else { return document }
        }
    }

    private func refuseFailures() throws(PayloadError) {
        for index in concerned {
            if case .failure(let failure) = outcomes[index] { throw .mediumFailed(payload.media[index], failure) }
        }
        for place in unfit {
            guard var medium = payload.media.first(where: { $0.identifier == place.medium }) else { continue }
            medium.pointer = place.pointer
            throw .mediumFailed(medium, place.failure)
        }
    }

    // MARK: Fitting

    private func fits(_ document: JSONDocument) -> Bool {
        guard rules.size(of: document) <= limit else { return false }
        guard let bound = rules.satchel.limit, hasKey else { return true }
        return document.paths(to: holder).allSatisfy { document[$0].bytes.count <= bound }
    }

    private var hasKey: Bool { !listed.isEmpty || respond != nil }

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
        } else if let index = concerned.last(where: { delivered($0) != nil }) {
            outcomes[index] = .failure(.doesNotFit(limit: limit))
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

    private func pointer(of use: MediumUse) -> JSONPointer {
        payload.document.pointer(of: message.path + use.urlPath)
    }

    /// What a place shows of a medium that is ready.
    private func choice(_ medium: DeliveredMedium, _ index: Int, at use: MediumUse) -> Result<
        DeliveredMedium.File, MediumFailure
    > {
        use.display.choice(of: medium, payload.media[index].identifier, at: pointer(of: use))
    }

    /// Places that can't show their medium.
    var unfit: [UnfitPlace] {
        concerned.flatMap { index -> [UnfitPlace] in
            guard let medium = delivered(index) else { return [] }
            return message.uses[index].compactMap { use in
                guard case .failure(let failure) = choice(medium, index, at: use) else { return nil }
                return UnfitPlace(
                    medium: payload.media[index].identifier, pointer: pointer(of: use), failure: failure)
            }
        }
    }

    private var document: JSONDocument {
        var document = message.document
        var removed: [JSONDocument.Path] = []
        for (index, uses) in message.uses.enumerated() {
            for use in uses {
                switch outcomes[index].flatMap({ choice($0, index, at: use) }) {
                case .success(let file): document.show(file, at: use)
                case .failure where onFailure == .drop:
                    removed.append(use.path)
                    removed += use.companions
                    removed += document.takeAlternative(of: use)
                case .failure: break
                }
            }
        }
        if onFailure == .drop { removed += groupCompanions }
        if let mutability = rules.mutability, mutability.concerns(document),
            concerned.contains(where: { delivered($0) != nil })
        {
            document.set(mutability.key, to: mutability.value, inObjectAt: mutability.object)
        }
        if hasKey {
            let value = satchelKey.json
            let text = rules.satchel.isText ? JSONValue(String(decoding: value.bytes, as: UTF8.self)) : value
            document.set(SatchelKey.name, to: text, inObjectAt: holder)
        } else {
            // One that came along would speak of media that are no longer there.
            removed += document.paths(to: JSONPointer(tokens: holder.tokens + [SatchelKey.name]))
        }
        document.remove(removed)
        return document
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
        let failed = zip(message.uses, outcomes).flatMap { uses, outcome in
            if case .failure = outcome { uses.compactMap(\.group) } else { [MediumUse.Group]() }
        }
        return Dictionary(grouping: failed, by: \.self).flatMap { group, uses in
            uses.count == group.size ? group.companions : []
        }
    }
}

extension JSONDocument {
    /// Puts a medium's new URL and type where the old ones were.
    fileprivate mutating func show(_ file: DeliveredMedium.File, at use: MediumUse) {
        self[use.urlPath] = JSONValue(file.url)
        for place in use.typePlaces {
            guard let word = self[place].text else { continue }
            let new = TypeWord.rewrite(word, as: file.type)
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
}
