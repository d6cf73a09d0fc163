import SatchelCore
import HTTPTypes
import Hummingbird
import NIOCore

/// A lease as the API shows it.
struct LeaseAnswer: Encodable {
    struct Part: Encodable {
        var uti: String
        var mediaType: SatchelCore.MediaType
        var bytes: Int64
        @Nullable var width: Int?
        @Nullable var height: Int?
        var url: String
        /// Null where it isn't encrypted.
        @Nullable var encryption: EncryptionBody?
    }

    var id: String
    var attachmentID: AttachmentID
    @Nullable var grantID: String?
    var startedAt: Instant
    var expiresAt: Instant
    /// The rendition to show, of those that the lease opens.
    @Nullable var best: RenditionRole?
    var renditions: [String: Part]

    init(_ lease: LeaseRecord, _ token: AccessToken, to attachment: AttachmentRecord, of service: Service) {
        id = lease.id
        attachmentID = lease.attachment
        grantID = lease.grant
        startedAt = lease.startedAt
        expiresAt = lease.expiresAt
        let opened = attachment.renditions.filter { lease.renditions?.contains($0.key) ?? true }
        best = ([attachment.best].compactMap(\.self) + [.main, .poster, .thumbnail, .waveform, .original])
            .first { opened[$0] != nil }
        renditions = Dictionary(
            uniqueKeysWithValues: opened.map { role, rendition in
                (
                    role.rawValue,
                    Part(
                        uti: rendition.uti, mediaType: rendition.mediaType, bytes: rendition.bytes,
                        width: rendition.width, height: rendition.height,
                        url: service.contentURL(token, role, rendition.mediaType),
                        encryption: service.encryption(of: rendition, attachment.tenant))
                )
            })
    }
}

/// A grant as the API shows it to whoever it is given to.
struct GrantAnswer: Encodable {
    var id: String
    var token: String
    var attachmentID: AttachmentID
    @Nullable var parentID: String?
    /// Null: all.
    @Nullable var renditions: [RenditionRole]?
    var leaseLimit: Int
    var createdAt: Instant
    var expiresAt: Instant

    init(_ grant: GrantRecord, _ token: AccessToken) {
        id = grant.id
        self.token = token.secretText
        attachmentID = grant.attachment
        parentID = grant.parent
        renditions = grant.renditions
        leaseLimit = grant.leaseLimit
        createdAt = grant.createdAt
        expiresAt = grant.expiresAt
    }
}

extension Response {
    /// What opens something: for whoever asked, and kept by nobody on the way.
    static func secret(_ status: HTTPResponse.Status, _ answer: some Encodable, location: String? = nil) throws
        -> Response
    {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if let location { headers[.location] = location }
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSON.encode(answer))))
    }
}
