import Attachments
import NIOCore
import Stores

/// Content that may be read: what a token opened, and the file.
struct OpenContent: Sendable {
    var token: AccessToken
    var access: ContentAccess
    /// Nil where somebody else sends the bytes.
    var file: BlobFile?
    /// See ``AccessRecords/revocations``: as it was before the token was looked at.
    var revocations: UInt64
    /// No read starts afterwards.
    var expires: NIODeadline
}

/// Opens content for whoever has a good URL.
struct ContentOpener: Sendable {
    let service: Service

    /// What the path opens right now; nil for every bad path, at the same cost.
    func open(_ path: ContentPath) async throws -> OpenContent? {
        let records = service.records
        let revocations = records.revocations
        let before = NIODeadline.now()
        let access = try await records.open(path.token, role: path.role ?? .main)
        guard let access, path.role != nil, access.rendition.mediaType.fileExtension == path.fileExtension else {
            return nil
        }
        let remaining = access.expiresAt - (try await records.now())
        guard remaining > .zero else { return nil }
        let file: BlobFile?
        if service.settings.accelPrefix == nil {
            do throws(AttachmentError) {
                file = BlobFile(try service.store.blobs.open(access.blob))
            } catch {
                guard error.code == .notInStore else { throw error }
                // Deleted since.
                return nil
            }
        } else {
            file = nil
        }
        return OpenContent(
            token: path.token, access: access, file: file, revocations: revocations,
            expires: before + TimeAmount(remaining))
    }

    /// Whether bytes of content that was opened may go on being sent. What has expired since may be finished, what was
    /// taken back may not.
    func mayContinue(_ content: OpenContent) async throws -> Bool {
        if try await service.records.open(content.token, role: content.access.role) != nil { return true }
        guard content.expires <= .now(),
            let lease = try await service.records.lease(content.access.id, in: .owner(content.access.tenant))
        else { return false }
        return lease.stoppedAt == nil
    }
}
