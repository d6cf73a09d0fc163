import Testing

@testable import SatchelCore

@Suite struct AttachmentErrorTests {
    static let all: [AttachmentError] = [
        .invalidSource(reason: "it is a directory"), .blockedAddress(host: "a.example", address: "127.0.0.1"),
        .fetchFailed(reason: "Not Found", status: 404), .fetchFailed(reason: "the connection was reset", status: nil),
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
        .withheld(identifier: "photo", code: .corrupt), .queueFull, .quotaExceeded(what: "bytes"), .rateLimited,
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

    @Test func `every code has an error, and the codes are those of the API`() {
        #expect(Set(Self.all.map(\.code)) == Set(ErrorCode.allCases))
    }

    @Test(arguments: all)
    func `an error survives the trip from a codec process`(error: AttachmentError) throws {
        let message = CodecMessage.failed(error)
        #expect(try JSON.decode(CodecMessage.self, from: JSON.encode(message)) == message)
    }
}
