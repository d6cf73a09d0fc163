/// A task that people come with, on `/docs`: a few paragraphs, and a program that does it.
struct Guide: Sendable {
    enum Part: Sendable {
        /// A paragraph, with `code` between backticks.
        case prose(String)
        /// A file that can be copied and run.
        case program(Example)
    }

    /// A program that stands on its own. A test runs each as it is shown.
    struct Example: Sendable {
        /// As a file.
        let name: String
        /// How it is run.
        let command: String
        let text: String

        init(_ name: String, _ command: String, _ bytes: [UInt8]) {
            self.name = name
            self.command = command
            text = String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Of its place on the page.
    let anchor: String
    let title: String
    let parts: [Part]

    var examples: [Example] {
        parts.compactMap { part in
            if case .program(let example) = part { example } else { nil }
        }
    }

    static let all = [receivingCallbacks, submittingOnce, readingErrors, sizing]

    private static let receivingCallbacks = Guide(
        anchor: "guide-callbacks", title: "Verify a webhook",
        parts: [
            .prose(
                """
                Callbacks, events and calls to handlers are signed by Standard Webhooks: `webhook-signature` has one or more \
                signatures over `webhook-id`, `webhook-timestamp` and the body, of which one has to be right. \
                `satchel key callback-secret` prints the secret. Any library of Standard Webhooks does what follows.
                """),
            .prose(
                """
                Compare before you parse, and in constant time. Refuse what is older than five minutes. Remember ids: a call \
                whose answer was lost comes again with the same one, for as long as a day. Answer at once; work afterwards.
                """),
            .program(
                Example(
                    "receive_callbacks.py",
                    "WEBHOOK_SECRET=$(satchel key callback-secret) python3 receive_callbacks.py 9000",
                    EmbeddedFile.receiveCallbacks)),
        ])

    private static let submittingOnce = Guide(
        anchor: "guide-idempotency", title: "Submit once, however often you ask",
        parts: [
            .prose(
                """
                A connection that breaks doesn't tell whether a job was taken. Send `Idempotency-Key` with a name of your own, \
                and ask again: for 24 hours the same key is the same job and the same answer, and with another body it is \
                refused (422). `PUT /v1/jobs/{id}` is the same for ever, by an id that you choose.
                """),
            .prose(
                """
                Try again where no answer came, and after 429, 502, 503 and 504: `Retry-After` says when. Everything else \
                stays as it is however often it is sent.
                """),
            .program(
                Example(
                    "submit_once.sh",
                    "SATCHEL_URL=https://… SATCHEL_KEY=satk_… sh submit_once.sh photo.jpg message-4711",
                    EmbeddedFile.submitOnce)),
        ])

    private static let readingErrors = Guide(
        anchor: "guide-errors", title: "Errors by example",
        parts: [
            .prose(
                """
                Two things can go wrong, and they look different. A call that is refused answers 4xx or 5xx with a problem \
                document: nothing was taken. A file that comes to nothing is a job that was taken: it answers 200, and the \
                attachment has the `error`. Both have a `code` from the table below, and a message that a person can act on.
                """),
            .prose(
                """
                `retryable` says whether the same file may do better later. What was delivered with less than the profile \
                would have kept is `reduced`, `partial` or `original`, and the step `fidelity` says what is missing.
                """),
            .program(
                Example(
                    "read_errors.py", "SATCHEL_URL=https://… SATCHEL_KEY=satk_… python3 read_errors.py photo.jpg",
                    EmbeddedFile.readErrors)),
        ])

    private static let sizing = Guide(
        anchor: "guide-sizing", title: "Sizing",
        parts: [
            .prose(
                """
                What a job costs depends on your files: a photograph of 12 megapixels takes tens of milliseconds of a \
                processor, a clip that has to be encoded takes seconds. So measure your own: the service counts the \
                processor time and the memory of each codec.
                """),
            .prose(
                """
                Processors decide the rate; give a machine twice `codecs.memory` at least, so that the file cache has room. \
                A disk that syncs in 1 ms takes some hundred jobs a second; one that takes 10 ms delays each job by a few of \
                them, and groups what comes meanwhile. Beyond one machine see `SATCHEL_DATABASE` and `SATCHEL_BLOBS`.
                """),
            .program(
                Example(
                    "sizing.py", "SATCHEL_URL=https://… SATCHEL_KEY=satk_… python3 sizing.py 50",
                    EmbeddedFile.sizing)),
        ])
}
