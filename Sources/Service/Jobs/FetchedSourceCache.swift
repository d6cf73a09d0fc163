import SatchelCore
import Ingest
import Synchronization

/// Keeps what was fetched for an attachment that moves to the expensive lane, so that its origin isn't asked twice.
///
/// Only what the same process claims again is found here; everything else is fetched anew.
final class FetchedSourceCache: Sendable {
    private final class Box: Sendable {
        let until: ContinuousClock.Instant
        private let source: Mutex<OpenedSource?>

        init(_ source: consuming OpenedSource, until: ContinuousClock.Instant) {
            self.until = until
            self.source = Mutex(source)
        }

        func take() -> OpenedSource? {
            source.withLock { $0.take() }
        }
    }

    /// Sources: each holds a descriptor and its bytes on the disk.
    private static let capacity = 32
    private static let memory: Duration = .seconds(600)

    private let boxes = Mutex<[AttachmentID: Box]>([:])

    func keep(_ source: consuming OpenedSource, for attachment: AttachmentID) {
        let box = Box(source, until: .now + Self.memory)
        boxes.withLock { boxes in
            boxes = boxes.filter { $0.value.until > .now }
            // Whoever finds nothing fetches again.
            if boxes.count < Self.capacity { boxes[attachment] = box }
        }
    }

    func take(_ attachment: AttachmentID) -> OpenedSource? {
        boxes.withLock { $0.removeValue(forKey: attachment) }?.take()
    }
}
