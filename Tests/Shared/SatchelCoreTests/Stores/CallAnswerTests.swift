import SatchelCore
import TestSupport
import Testing

@Suite struct CallAnswerTests {
    @Test func `of a token in an answer only what people are shown is left, wherever it stands`() {
        var generator = SeededGenerator(seed: 17)
        let letters = Array("abcxyzABCXYZ0189")
        for _ in 0..<300 {
            let secret = String((0..<65).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
            let prefix = ["satl_", "satu_", "satk_", "whsec_"].randomElement(using: &generator) ?? ""
            let (before, after) = (["", "url=", "\"é ", "sat", "sat_"], ["", "\"", "/main.jpg", " and more", "é"])
            let (start, end) = (
                before.randomElement(using: &generator) ?? "", after.randomElement(using: &generator) ?? ""
            )
            // An answer may be cut anywhere.
            let token = String((prefix + secret).prefix(Int.random(in: 9...71, using: &generator)))
            let shown = AccessToken.shortened(in: start + token + end)
            #expect(shown.hasPrefix(start + token.prefix(8) + "…"))
            #expect(!shown.contains(token.prefix(9)))
            #expect(AccessToken.shortened(in: shown) == shown)
        }
        for plain in ["", "upstream connect error", "sat on a mat_", "satX_1", "satl", "whsec"] {
            #expect(AccessToken.shortened(in: plain) == plain)
        }
    }

    @Test func `seconds are told to the millisecond, and the last answers are kept`() {
        let now = Instant(milliseconds: 5)
        let answers = (1...CallAnswer.kept).map { CallAnswer(attempt: $0, at: now, seconds: 0.0123456, status: 503) }
        #expect(answers[0].seconds == 0.012)
        let call = WebhookDelivery(
            id: "a", tenant: .local, type: .jobFinished, content: .job(JobID(rawValue: "j")), url: "https://e.example",
            origin: "https://e.example", attempt: 11, createdAt: now, answers: answers)
        let last = CallAnswer(attempt: 11, at: now, seconds: 1, status: 204)
        #expect(WebhookResult(.delivered, of: call, last).answers == answers.dropFirst() + [last])
        #expect(WebhookResult(.delivered, of: call).answers == nil)
    }
}
