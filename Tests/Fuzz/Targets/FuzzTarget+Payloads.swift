import SatchelCore

@testable import Payloads

extension FuzzTarget {
    /// JSON that others write: what was read is written as it came, and edits are JSON.
    static let json = FuzzTarget("json") { bytes in
        let strict = JSONRules(depth: 16, bytes: 4096, members: 256, isInteroperable: true)
        if let document = try? JSONDocument.read(bytes, strict) { look(at: document.root, depth: 16) }
        guard let document = try? JSONDocument.read(bytes, .passedOn) else { return }
        precondition(document.bytes == bytes, "what was read is written otherwise")
        let anew = JSONValue(members: [("a", document.root), ("b", JSONValue(elements: [document.root]))]).bytes
        var rules = JSONRules.passedOn
        rules.depth += 2
        rules.bytes = anew.count
        rules.members = 2 * rules.members + 3
        precondition((try? JSONDocument.read(anew, rules)) != nil, "what was made of it is no JSON")
    }

    private static func look(at value: JSONValue, depth: Int) {
        precondition(depth >= 0, "it is deeper than may be")
        _ = (value.text, value.number, value.boolean, value.isNull)
        for member in value.members { look(at: member.value, depth: depth - 1) }
        for element in value.elements { look(at: element, depth: depth - 1) }
    }

    /// Payloads of pushes, whose media are replaced. What comes of one is of its form, and fits.
    static let payloads = FuzzTarget("payloads") { bytes in
        var input = FuzzInput(bytes)
        let choice = input.byte()
        let text = input.bytes()
        let formats = PayloadFormat.allCases
        let format = formats[Int(choice & 15) % formats.count]
        let attachments = choice & 16 == 0 ? [] : ["photo", "sound"]
        guard let payload = try? PushPayload(text, format: format, attachments: attachments) else { return }
        precondition(payload.media.count <= PushPayload.maximumMedia)
        _ = (payload.places, payload.alert, payload.isMutable, payload.size, payload.unknownContentIDs)
        let outcomes = payload.media.indices.map { index -> MediumOutcome in
            .success(
                DeliveredMedium(
                    url: "https://media.example/\(String(repeating: "n", count: choice & 32 == 0 ? 60 : 900))/\(index)",
                    type: index % 3 == 2 ? .mp4 : .jpeg, bytes: 1000, width: 4, height: 3,
                    previewURL: "https://media.example/p\(index)", thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
        }
        guard
            let enriched = try? payload.enriched(
                with: outcomes, onFailure: choice & 64 == 0 ? .keep : .error,
                expiresAt: Instant(milliseconds: 2_000_000_000_000),
                respond: choice & 128 == 0 ? nil : "https://media.example/respond")
        else { return }
        let again = try? PushPayload(enriched.bytes, format: format, rules: .enriched)
        precondition(again != nil, "what it became is no payload of its form, or doesn't fit")
        precondition(again?.messageCount == payload.messageCount, "messages were lost")
    }
}
