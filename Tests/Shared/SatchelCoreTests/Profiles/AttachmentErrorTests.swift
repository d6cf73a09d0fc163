import Testing

@testable import SatchelCore

@Suite struct AttachmentErrorTests {
    static let all: [AttachmentError] = [
        .invalidSource(reason: "it is a directory"), .blockedAddress(host: "a.example", address: "127.0.0.1"),
        .fetchFailed(.status, status: 404, reason: "Not Found"),
        .fetchFailed(.reset, reason: "the connection was reset"),
        .fetchTimeout(seconds: 20), .unrecognizedType(sniffed: "text/html"), .unrecognizedType(sniffed: nil),
        .unacceptedKind(kind: .video, profile: "avatar"), .sourceTooLarge(bytes: 2, limit: 1),
        .unsupportedFeature(reason: "it is encrypted", advice: "Send it without protection."),
        .tooManyPixels(pixels: 2, limit: 1), .sideTooLong(pixels: 2, limit: 1), .tooManyFrames(frames: 2, limit: 1),
        .tooLong(seconds: 601, limit: 600),
        .tooMuch(what: "streams", count: 9, limit: 8), .tooExpensive(resource: "memory", granted: "2 GB"),
        .capUnreachable(rendition: "main", bytes: 2, cap: 1, advice: "Allow more."), .notInStore(what: "It"),
        .storeFailed(reason: "Input/output error"), .storeFull, .unreadable(Finding(.checksumDiffers)),
        .unreadable(Finding(.notDecoded, .picture, named: "AVIF")),
        .codecCrashed(reason: "signal 11"), .deadlineExceeded(seconds: 30),
        .withheld(identifier: "photo", code: .corrupt), .queueFull, .quotaExceeded(.storedBytes, used: 2, allowed: 1),
        .rateLimited,
        .handoverFailed(reason: "it answered 500"), .superseded, .uploadIncomplete(.open), .uploadConsumed,
        .checksumMismatch, .rejectedByScan(reason: "Eicar"), .scanFailed(reason: "it can't be reached"),
        .decryptionFailed(reason: "its tag isn't that of its bytes"),
    ]

    @Test(arguments: all)
    func `a message is a sentence that says what to do, and tells nothing of the inside`(error: AttachmentError) {
        #expect(error.message.last == ".")
        #expect(error.message.first?.isUppercase == true || error.message.first == "'")
        #expect(!error.message.contains("signal"))
        #expect(error.description.hasPrefix(error.code.rawValue))
    }

    @Test func `a sender is not told which address a name leads to; the log is`() {
        let error = AttachmentError.blockedAddress(host: "a.example", address: "10.1.2.3")
        #expect(error.message.contains("'a.example'") && !error.message.contains("10.1.2.3"))
        #expect(!ErrorReport(error).message.contains("10.1.2.3") && error.description.contains("10.1.2.3"))
    }

    @Test func `every code has an error, and the codes are those of the API`() {
        #expect(Set(Self.all.map(\.code)) == Set(ErrorCode.allCases))
    }

    @Test(
        arguments: [
            (.status, 404, #"{"status":404,"type":"status"}"#, false), (.status, 503, nil, true),
            (.status, 429, nil, true),
            (.status, 206, nil, false), (.dns, nil, #"{"type":"dns"}"#, true), (.tls, nil, nil, true),
            (.refused, nil, nil, true), (.unreachable, nil, nil, true), (.reset, nil, nil, true),
            (.redirect, nil, nil, false), (.tooSlow, nil, #"{"type":"too_slow"}"#, true),
            (.invalidAnswer, nil, nil, true), (.encoding, nil, nil, false),
        ] as [(FetchCause.Kind, Int?, String?, Bool)])
    func `the cause of a failed fetch is in its report, decides on retries, and gives the advice`(
        kind: FetchCause.Kind, status: Int?, wire: String?, isRetryable: Bool
    ) throws {
        let report = ErrorReport(.fetchFailed(kind, status: status, reason: "it is so"))
        let cause = FetchCause(kind, status: status)
        #expect(report.cause == cause && report.retryable == isRetryable)
        #expect(report.message.hasSuffix(cause.advice) && report.message.contains("it is so"))
        let data = try JSON.encode(cause)
        #expect(try JSON.decode(FetchCause.self, from: data) == cause)
        if let wire { #expect(String(decoding: data, as: UTF8.self) == wire) }
    }

    @Test(
        arguments: [
            ("https://Media.Example:8443/a/IMG%201.jpg?token=s/e.png#f", "media.example", "IMG 1.jpg"),
            ("http://[2001:DB8::1]:80/", "2001:db8::1", nil), ("http://10.0.0.1", "10.0.0.1", nil),
            ("http://user:secret@h.example/..", "h.example", nil), ("http://h.example?q=secret.jpg", "h.example", nil),
            ("h.example/x.jpg", nil, nil), ("http:///x.jpg", nil, "x.jpg"),
        ] as [(String, String?, String?)])
    func `a record names the host and the last component of a URL, and never its query`(
        url: String, host: String?, name: String?
    ) {
        let facts = SourceFacts(AttachmentSubmission(location: .url(url, headers: [:])))
        #expect(facts.host == host && facts.name == name)
        let named = SourceFacts(AttachmentSubmission(location: .url(url, headers: [:]), name: "mine.jpg"))
        #expect(named.host == host && named.name == "mine.jpg")
    }

    @Test(arguments: all)
    func `an error survives the trip from a codec process`(error: AttachmentError) throws {
        let message = CodecMessage.failed(error)
        #expect(try JSON.decode(CodecMessage.self, from: JSON.encode(message)) == message)
    }
}
