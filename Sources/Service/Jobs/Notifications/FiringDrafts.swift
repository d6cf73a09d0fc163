import SatchelCore
import Synchronization

/// Payloads that were made before their instants came, of what is there then.
///
/// A draft is nothing that anybody knows of: no record has it, and its links open nothing. It leaves where its notification and
/// all that it was made of are still as they were when its instant comes; else it is forgotten, and the payload made anew.
final class FiringDrafts<Content: Sendable>: Sendable {
    struct Draft: Sendable {
        var firing: FiringID
        var content: Content
        fileprivate var notification: NotificationRecord
        fileprivate var materials: FiringMaterials
    }

    private struct State {
        var drafts: [NotificationName: Draft] = [:]
        var place: String?
    }

    private let state = Mutex(State())
    /// How many are held: 8.5 kB each, measured with one picture and a payload of 100 bytes.
    private let capacity: Int

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var isFull: Bool { state.withLock { $0.drafts.count >= capacity } }

    /// Up to where was looked for upcoming notifications.
    var place: String? {
        get { state.withLock { $0.place } }
        set { state.withLock { $0.place = newValue } }
    }

    /// - Parameter materials: What it was made of, and maybe others.
    func put(
        _ content: Content, as firing: FiringID, of notification: NotificationRecord, from materials: FiringMaterials
    ) {
        let draft = Draft(
            firing: firing, content: content, notification: notification,
            materials: materials.named(.init(notification)))
        state.withLock { $0.drafts[NotificationName(notification)] = draft }
    }

    /// The notification of a draft, where it is in this revision.
    @Sendable func notification(_ name: NotificationName, _ revision: Int) -> NotificationRecord? {
        state.withLock { state in
            guard let record = state.drafts[name]?.notification, record.revision == revision else { return nil }
            return record
        }
    }

    /// The draft of a notification, which is not held any longer; nil where what it was made of isn't there as it was.
    ///
    /// - Parameter materials: As they are now, and maybe others.
    func take(_ notification: NotificationRecord, from materials: FiringMaterials) -> Draft? {
        guard let draft = state.withLock({ $0.drafts.removeValue(forKey: NotificationName(notification)) }),
            draft.notification == notification, draft.materials == materials.named(.init(notification))
        else { return nil }
        return draft
    }

    /// Those of notifications that were changed, or fired by another, before their instants.
    func forget(before instant: Instant) {
        state.withLock { state in
            state.drafts = state.drafts.filter { $1.notification.next.map { $0.at >= instant } ?? false }
        }
    }
}
