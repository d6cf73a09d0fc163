import Testing

@testable import Attachments

@Suite struct ProfileTests {
    @Test(arguments: Profile.builtIn)
    func `a built-in profile is sound`(profile: Profile) {
        #expect(profile.problems().isEmpty)
    }

    @Test func `all that is made of a source has a size, however high the caps`() {
        var profile = Profile.archive
        #expect(profile.largestOutputs > 4_000_000_000 && profile.largestOutputs < 4_100_000_000)
        profile.video?.cap = .max
        #expect(profile.largestOutputs == .max)
    }

    @Test func `all problems are reported at once, each with its key, value and remedy`() {
        var profile = Profile.notification
        profile.deadline = -1
        profile.image?.quality = 120
        profile.image?.background = "white"
        profile.image?.types = [.gif]
        profile.video?.cap = 10
        profile.audio?.types = [.mp3]
        let problems = profile.problems()
        let keys = problems.map(\.key)
        for key in ["deadline", "image.quality", "image.background", "image.types", "video.cap", "audio.types"] {
            #expect(keys.contains(key), "\(key) is missing in \(keys)")
        }
        #expect(problems.allSatisfy { !$0.value.isEmpty && !$0.remedy.isEmpty })
    }

    @Test func `the notification profile emits only what UNNotificationAttachment takes, under its caps`() {
        let profile = Profile.notification
        #expect(profile.image?.types.allSatisfy { [.jpeg, .png, .gif].contains($0) } == true)
        #expect(profile.animation?.type == .gif)
        #expect(profile.video?.type == .mp4)
        #expect(profile.audio?.types.allSatisfy { [.m4a, .mp3, .wav, .aiff].contains($0) } == true)
        #expect([profile.image?.cap, profile.animation?.cap] == [10_000_000, 10_000_000])
        #expect(profile.video?.cap == 50_000_000 && profile.audio?.cap == 5_000_000)
    }
}

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
        .storeFailed(reason: "Input/output error"), .storeFull, .corrupt(reason: "it ends early"),
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

@Suite struct RecordJSONTests {
    @Test func `an absent value is null, never a missing key`() throws {
        let record = AttachmentRecord(
            id: .generate(), tenant: .local, job: .generate(), identifier: "photo", state: .failed,
            source: SourceFacts(name: "a.jpg"), options: DisplayOptions(), createdAt: Instant(milliseconds: 0))
        let text = try JSON.text(record)
        for key in ["fidelity", "kind", "best", "trim", "placeholder", "error", "expires_at", "content_size_ratio"] {
            #expect(text.contains("\"\(key)\":null"), "\(key) in \(text)")
        }
        #expect(text.contains("\"declared_type\":null") && text.contains("\"thumbnail_clipping_rect\":null"))
        #expect(try JSON.decode(AttachmentRecord.self, from: JSON.encode(record)) == record)
    }
}
