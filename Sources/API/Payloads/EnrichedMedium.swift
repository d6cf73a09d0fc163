import Attachments
import Payloads

/// A medium of a payload, and what became of it.
struct EnrichedMedium: Hashable, Sendable {
    var identifier: String
    /// Nil where it is gone.
    var record: AttachmentRecord?
    var outcome: MediumOutcome
    /// Where its renditions are, as far as links open them.
    var urls: [RenditionRole: String] = [:]
    /// When these end; nil where there are none.
    var expiresAt: Instant?
}
