/// What one attachment came to, before it is recorded.
public struct AttachmentOutcome: Hashable, Sendable {
    public var id: AttachmentID
    public var result: Result<AttachmentResult, AttachmentError>
    /// Known even where the attachment failed.
    public var kind: MediaKind?
    public var source: SourceFacts
    public var steps: [Step]

    public init(
        id: AttachmentID, result: Result<AttachmentResult, AttachmentError>, kind: MediaKind?, source: SourceFacts,
        steps: [Step]
    ) {
        self.id = id
        self.result = result
        self.kind = kind
        self.source = source
        self.steps = steps
    }

    /// The blobs that hold its renditions.
    public var blobs: [BlobName] {
        guard case .success(let result) = result else { return [] }
        return result.renditions.values.map(\.blob)
    }
}

/// The delivered half of an outcome.
public struct AttachmentResult: Hashable, Sendable {
    public var fidelity: Fidelity
    public var best: RenditionRole
    public var renditions: [RenditionRole: DeliveredRendition]
    public var options: DisplayOptions
    public var trim: TrimReport?
    public var placeholder: Placeholder?
    public var contentSizeRatio: Double?

    public init(
        fidelity: Fidelity, best: RenditionRole, renditions: [RenditionRole: DeliveredRendition],
        options: DisplayOptions, trim: TrimReport?, placeholder: Placeholder?, contentSizeRatio: Double?
    ) {
        self.fidelity = fidelity
        self.best = best
        self.renditions = renditions
        self.options = options
        self.trim = trim
        self.placeholder = placeholder
        self.contentSizeRatio = contentSizeRatio
    }
}

/// A rendition and the durable blob that holds its bytes.
public struct DeliveredRendition: Hashable, Sendable {
    public var rendition: Rendition
    public var blob: BlobName

    public init(rendition: Rendition, blob: BlobName) {
        self.rendition = rendition
        self.blob = blob
    }
}
