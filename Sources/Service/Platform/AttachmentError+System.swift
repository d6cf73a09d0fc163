package import SatchelCore

extension AttachmentError {
    /// What a failed call of the file system means for the attachment.
    package init(_ error: SystemError) {
        self = error.isOutOfSpace ? .storeFull : .storeFailed(reason: error.description)
    }
}
