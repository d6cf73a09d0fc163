import SatchelCore
import Foundation
import TestSupport
import Testing

/// With what media are encrypted.
@Suite struct MediaEncryptionTests {
    private static func key(_ scheme: EncryptionScheme) -> MediaEncryption.Key {
        MediaEncryption.Key(
            key: Data(repeating: 0xC3, count: scheme.keyBytes), iv: scheme.ivBytes.first.map { Data(count: $0) },
            sha256: scheme.hasDigest ? Data(count: 32) : nil, size: scheme.isPadded ? 1 : nil)
    }

    @Test(arguments: EncryptionScheme.allCases)
    func `a key fits its scheme with all of its parts, in their length, and no other`(scheme: EncryptionScheme) {
        let good = Self.key(scheme)
        #expect(good.fits(scheme))
        let changes: [(inout MediaEncryption.Key) -> Void] = [
            { $0.key.append(0) }, { $0.key = Data() }, { $0.iv = $0.iv == nil ? Data(count: 16) : nil },
            { $0.iv = Data(count: 15) }, { $0.sha256 = $0.sha256 == nil ? Data(count: 32) : nil },
            { $0.sha256 = Data(count: 31) }, { $0.size = $0.size == nil ? 1 : nil }, { $0.size = -1 },
        ]
        for (index, change) in changes.enumerated() {
            var key = good
            change(&key)
            #expect(!key.fits(scheme), "change \(index)")
        }
    }

    @Test func `a key is never printed, however it is printed`() throws {
        var submission = AttachmentSubmission(
            location: .url("https://example.com/a", headers: [:]),
            encryption: MediaEncryption(.matrix, Self.key(.matrix)))
        var dumped = ""
        dump(submission, to: &dumped)
        for text in ["\(submission)", String(reflecting: submission), dumped] {
            #expect(text.contains("matrix") && !text.contains("195") && !text.lowercased().contains("c3c3"))
            #expect(!text.contains("32 bytes"))
        }
        let job = JobSubmission(tenant: .local, profile: .notification, attachments: [submission])
        submission = job.withoutSecrets.attachments[0]
        #expect(submission.encryption == MediaEncryption(.matrix, nil))
        #expect(job.slim.attachments[0].encryption?.key == nil)
    }

    @Test func `base64 is read in both alphabets, with padding or without, and nothing else is`() {
        var random = SeededGenerator()
        for count in 0..<70 {
            let data = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            for text in [data.base64EncodedString(), data.base64URL, data.unpaddedBase64] {
                #expect(Data(anyBase64: text) == data)
            }
        }
        for text in ["A", "AAAAA", "A A=", "ä", "AA=A", "====", "=", "AAAA=", "AA==" + "AA"] {
            #expect(Data(anyBase64: text) == nil)
        }
    }
}
