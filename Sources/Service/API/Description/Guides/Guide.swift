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
                Callbacks, events and calls to handlers are signed as Standard Webhooks defines. `webhook-signature` has one \
                or more signatures of `webhook-id`, `webhook-timestamp` and the body; at least one must match. \
                `satchel key callback-secret` prints the secret. You can use any Standard Webhooks library, or this program.
                """),
            .prose(
                """
                Verify the signature before you parse the body, and compare in constant time. Reject calls older than five \
                minutes. Store the ids you have seen: a call is repeated with the same id for up to a day if your answer is \
                lost. Answer immediately and do the work afterwards.
                """),
            .program(
                Example(
                    "receive_callbacks.py",
                    "WEBHOOK_SECRET=$(satchel key callback-secret) python3 receive_callbacks.py 9000",
                    EmbeddedFile.receiveCallbacks)),
        ])

    private static let submittingOnce = Guide(
        anchor: "guide-idempotency", title: "Submit once, retry safely",
        parts: [
            .prose(
                """
                If a connection breaks, you can't know whether the job was accepted. Send an `Idempotency-Key` of your own and \
                repeat the request. For 24 hours the same key returns the same job, and a different body with that key is \
                rejected (422). With `PUT /v1/jobs/{id}` you choose the ID yourself. The same body returns the same job at any time, \
                and a different body replaces the job.
                """),
            .prose(
                """
                Retry if there was no answer, and after 429, 502, 503 and 504. `Retry-After` says how long to wait. A 429 \
                without it means that a quota is used up: waiting doesn't help. Don't repeat other requests: the answer will \
                be the same. `Idempotent-Replayed: true` marks the answer to an earlier request.
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
                There are two kinds of errors. If a call is rejected, it answers 4xx or 5xx with a problem document, and nothing \
                was accepted. If a file fails, its job was accepted: the job answers 200, and the attachment has an `error`. \
                Both have a `code` from the table below, and a message that says what to do.
                """),
            .prose(
                """
                `retryable` says whether retrying the same file can succeed. If a result lacks something that the profile asks \
                for, its fidelity is `reduced`, `partial` or `original`. `diagnosis.losses` says what is missing, and `result` \
                says it in words.
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
                The cost of a job depends on your files. A 12-megapixel photo takes tens of milliseconds of processor time; a \
                clip that must be encoded takes seconds. Measure with your own files: the service counts the processor time \
                and memory of each codec.
                """),
            .prose(
                """
                The processors determine the rate. Give a machine at least twice `codecs.memory`, so that the file cache has \
                room. If the disk needs 1 ms to sync, Satchel accepts a few hundred jobs per second. A slower disk delays \
                each job by a few syncs. Jobs that arrive at the same time share them. To use several machines, set \
                `SATCHEL_STORE` and \
                `SATCHEL_BLOBS`.
                """),
            .program(
                Example(
                    "sizing.py", "SATCHEL_URL=https://… SATCHEL_KEY=satk_… python3 sizing.py 50",
                    EmbeddedFile.sizing)),
        ])
}
