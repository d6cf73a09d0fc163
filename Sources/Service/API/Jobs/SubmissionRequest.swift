import SatchelCore

/// A submission as the client worded it: every field was checked, nothing was looked up or received yet.
///
/// Encoded it is the canonical form of the body, which tells two submissions of one id apart.
struct SubmissionRequest: Hashable, Sendable, Encodable {
    /// Where an attachment's bytes come from.
    enum Source: Hashable, Sendable, Encodable {
        case url(String, headers: [String: String])
        /// A part of the multipart body.
        case part(String)
        /// The body itself.
        case body
        /// What was uploaded before.
        case upload(UploadID)
    }

    struct Attachment: Hashable, Sendable, Encodable {
        var identifier: String
        var source: Source
        var name: String?
        var typeHint: String?
        var profile: String?
        var crop: Crop?
        var trim: TrimRequest?
        var thumbnailHidden = false
        var thumbnailClippingRect: UnitRect?
        var thumbnailTime: Double?
        var thumbnailFrame: Int?
        /// With what its bytes are encrypted.
        var encryption: MediaEncryption?

        /// What is asked of the codec.
        var request: RenditionRequest {
            RenditionRequest(
                trim: trim, crop: crop, thumbnailTime: thumbnailTime, thumbnailFrame: thumbnailFrame,
                thumbnailClippingRect: thumbnailClippingRect)
        }

        /// What the notification is to do with it.
        var options: DisplayOptions {
            DisplayOptions(
                typeHint: typeHint, thumbnailHidden: thumbnailHidden, thumbnailClippingRect: thumbnailClippingRect,
                thumbnailTime: thumbnailTime ?? thumbnailFrame.map(Double.init))
        }
    }

    var profile: String
    var mode: JobMode
    var priority: JobPriority
    /// Seconds; nil for the profile's.
    var deadline: Double?
    /// Seconds; nil for none.
    var leaseTTL: Double?
    var delivery: DeliveryMode
    /// One of ``EncryptionScheme/ofRenditions``.
    var encrypt: EncryptionScheme?
    var metadata: [String: String]
    var callback: String?
    var attachments: [Attachment]
}

/// The bounds of a submission's fields.
enum SubmissionBounds {
    /// Seconds. Below 50 ms nothing is ever ready.
    static let deadline = 0.05...3600.0
    /// Seconds: up to 30 days, as a link.
    static let leaseTTL = 0.0...2_592_000.0
    /// Seconds of a clip.
    static let time = 0.0...1_000_000.0
    static let metadataPairs = 32
    static let metadataBytes = 4096
}
