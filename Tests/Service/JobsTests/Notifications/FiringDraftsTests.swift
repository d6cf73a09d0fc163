import Testing

@testable import Jobs
@testable import SatchelCore

@Suite struct FiringDraftsTests {
    private static let instant = Instant(milliseconds: 1_000_000)

    private static func notification(_ id: String, category: String? = nil) -> NotificationRecord {
        NotificationRecord(
            id: NotificationID(rawValue: id), tenant: .local, generation: 1, bodyDigest: "1",
            submission: NotificationSubmission(
                payload: "{}", pushType: .alert, expiresIn: 3600, delivery: .private, profile: nil, onFailure: .drop,
                deadline: 10, media: [], trigger: nil, lateLimit: 3600, handover: nil, metadata: [:],
                category: category, traceparent: nil),
            job: nil, attachments: [],
            next: Occurrence(at: instant, local: nil, note: nil, position: .instant(instant)), rules: nil,
            createdAt: instant, acceptedAt: instant)
    }

    @Test func `a draft is taken once, as what it was made as`() {
        let drafts = FiringDrafts<String>()
        let record = Self.notification("a")
        let firing = FiringID.generate()
        drafts.put("payload", as: firing, of: record, from: FiringMaterials())
        #expect(drafts.notification(NotificationName(record), record.revision) == record)
        #expect(drafts.notification(NotificationName(record), record.revision + 1) == nil)
        #expect(drafts.take(Self.notification("b"), from: FiringMaterials()) == nil)
        let draft = drafts.take(record, from: FiringMaterials())
        #expect(draft?.content == "payload" && draft?.firing == firing)
        #expect(drafts.take(record, from: FiringMaterials()) == nil)
        #expect(drafts.notification(NotificationName(record), record.revision) == nil)
    }

    @Test func `a draft of a notification that was changed is not taken`() {
        let drafts = FiringDrafts<String>()
        var record = Self.notification("a")
        drafts.put("payload", as: .generate(), of: record, from: FiringMaterials())
        record.bodyDigest = "2"
        #expect(drafts.take(record, from: FiringMaterials()) == nil)
    }

    @Test func `a draft is not taken where what it was made of is other, or gone, and what others name is no matter`() {
        let record = Self.notification("a", category: "news")
        var read = FiringMaterials()
        read.categories["news"] = Category(id: "news")
        var changed = read
        changed.categories["news"]?.summaryFormat = "other"
        var beside = read
        beside.categories["another"] = Category(id: "another")
        for (materials, isTaken) in [(read, true), (beside, true), (changed, false), (FiringMaterials(), false)] {
            let drafts = FiringDrafts<String>()
            drafts.put("payload", as: .generate(), of: record, from: beside)
            #expect((drafts.take(record, from: materials) != nil) == isTaken)
        }
    }

    @Test func `drafts whose instants are long past are forgotten, and as many are held as fit`() {
        let drafts = FiringDrafts<String>(capacity: 2)
        for id in ["a", "b"] {
            #expect(!drafts.isFull)
            drafts.put(id, as: .generate(), of: Self.notification(id), from: FiringMaterials())
        }
        #expect(drafts.isFull)
        drafts.forget(before: Self.instant)
        #expect(drafts.isFull)
        drafts.forget(before: Self.instant + .milliseconds(1))
        #expect(!drafts.isFull && drafts.take(Self.notification("a"), from: FiringMaterials()) == nil)
    }
}
