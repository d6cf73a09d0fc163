import SatchelCore
import Payloads

/// A medium of a payload, and what became of it.
struct EnrichedMedium: Hashable, Sendable {
    var identifier: String
    /// Nil where it is gone.
    var record: AttachmentRecord?
    var outcome: MediumOutcome
    /// Why one of its places doesn't show it, though it is ready.
    var unfit: MediumFailure?
    /// Where its renditions are, as far as links open them.
    var urls: [RenditionRole: String] = [:]
    /// When these end; nil where there are none.
    var expiresAt: Instant?
}

extension EnrichedMedium {
    /// Remembers of places that don't show their media the first that is this one's.
    mutating func mark(_ places: [UnfitPlace]) {
        unfit = places.first { $0.medium == identifier }?.failure
    }
}
