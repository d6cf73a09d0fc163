import Testing

@testable import SatchelCore

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
