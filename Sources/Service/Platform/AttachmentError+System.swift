package import SatchelCore

extension AttachmentError {
    /// What a failed call of the file system means for the attachment.
    package init(_ error: SystemError) {
        self =
            error.isOutOfSpace
            ? .storeFull
            : error.isShortage ? .outOfResources(reason: error.description) : .storeFailed(reason: error.description)
    }
}
