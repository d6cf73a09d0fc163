import SatchelCore
import TestSupport
import Testing

@Suite struct WebhookReceiverRoundTests {
    @Test func `a round meets everybody once, from the one after the last, and says whether there are more`() {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let all = Set(
                (0..<Int.random(in: 0...9, using: &random)).map { _ in Int.random(in: 0...20, using: &random) }
            )
            .sorted()
            let limit = Int.random(in: 1...10, using: &random)
            let turn = Bool.random(using: &random) ? Int.random(in: 0...20, using: &random) : nil
            var round = WebhookReceiverRound(after: turn.map(receiver), limit: limit)
            repeat {} while round.add(all.first { $0 > round.last.map(number) ?? -1 }.map(receiver))
            let expected = all.filter { $0 > turn ?? -1 } + all.filter { $0 <= turn ?? -1 }
            #expect(round.receivers.map(number) == Array(expected.prefix(limit)))
            // Where all fit exactly nobody has looked whether there are more.
            let last = expected.count < limit ? nil : expected[limit - 1]
            #expect(round.last.map(number) == last)
        }
    }

    private func receiver(_ number: Int) -> WebhookReceiver {
        WebhookReceiver(tenant: TenantID(rawValue: "\(number)"), origin: "https://a")
    }

    private func number(_ receiver: WebhookReceiver) -> Int { Int(receiver.tenant.rawValue) ?? -1 }
}
