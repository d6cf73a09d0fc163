import SatchelCore
import NIOCore
import Stores

/// Content that may be read: what a token opened, and the bytes.
struct OpenContent: Sendable {
    var access: ContentAccess
    var body: ContentBody
    /// See ``RecordStore/revocations``: as it was before the token was looked at.
    var revocations: UInt64?
    /// No read starts afterwards.
    var expires: NIODeadline

    /// Whether bytes may go on being sent. What has expired since may be finished, what was taken back or shortened may
    /// not.
    ///
    /// - Parameter end: Of the access, as it is now; nil where it was taken back.
    func mayContinue(until end: Instant?) -> Bool {
        guard let end else { return false }
        return end >= access.expiresAt || .now() < expires - TimeAmount(access.expiresAt - end)
    }
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
        guard access.remaining > .zero, let body = try await body(of: access) else { return nil }
        return OpenContent(
            access: access, body: body, revocations: revocations, expires: before + TimeAmount(access.remaining))
    }

    /// Nil where it was deleted since.
    private func body(of access: ContentAccess) async throws -> ContentBody? {
        let blobs = service.store.blobs
        do throws(AttachmentError) {
            // A bucket would call ciphertext what it holds.
            if service.settings.contentRedirect == .shared, access.delivery == .shared,
                access.rendition.encryption == nil,
                let url = try await blobs.url(
                    of: access.blob, as: access.rendition.mediaType, disposition: access.disposition)
            {
                return .elsewhere(url)
            }
            switch try await blobs.content(of: access.blob, behind: service.settings.accelPrefix) {
            case .file(let descriptor): return .file(BlobFile(descriptor))
            case .redirect(let location): return .redirect(location)
            case .stream:
                return .stream(
                    BlobStream(
                        blobs: blobs, name: access.blob, size: access.rendition.bytes, cache: service.smallBlobs))
            }
        } catch {
            guard error.code == .notInStore else { throw error }
            return nil
        }
    }
}
