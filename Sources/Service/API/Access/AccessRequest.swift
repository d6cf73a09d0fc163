import SatchelCore
import HTTPTypes
import Hummingbird
import Stores

/// What is asked of a new or renewed lease or grant.
struct AccessRequest {
    var attachment: AttachmentID?
    var duration: Duration?
    /// Nil: all.
    var renditions: [RenditionRole]?
    var leaseLimit: Int?

    /// Fields that a call may have.
    enum Field: String {
        case attachment = "attachment_id"
        case ttl
        case renditions
        case leaseLimit = "lease_limit"
    }

    /// Leases of one grant at most.
    private static let mostLeases = 10_000
}

extension AccessRequest {
    /// Reads the body of a request; an empty one asks for nothing in particular.
    ///
    /// - Throws: A problem that names every field that can't be taken.
    init(_ request: Request, fields: [Field]) async throws {
        self = try await request.fields(fields.map(\.rawValue), isOptional: true) { reader in
            AccessRequest(
                attachment: reader.string(Field.attachment.rawValue, bytes: 1...64).map(AttachmentID.init),
                duration: reader.number(Field.ttl.rawValue, in: 1...AccessLimits.longest.inSeconds)
                    .map { .seconds(fraction: $0) },
                renditions: Self.roles(reader),
                leaseLimit: reader.integer(Field.leaseLimit.rawValue, in: 1...Self.mostLeases))
        }
    }

    private static func roles(_ reader: FieldReader) -> [RenditionRole]? {
        guard let texts = reader.strings(Field.renditions.rawValue) else { return nil }
        var roles: [RenditionRole] = []
        for (pointer, text) in texts {
            guard let role = RenditionRole(rawValue: text) else {
                let all = RenditionRole.allCases.map(\.rawValue).joined(separator: ", ")
                reader.errors.add(pointer, "'\(text.prefix(64))' is not a rendition. Must be one of \(all).")
                continue
            }
            if !roles.contains(role) { roles.append(role) }
        }
        if texts.isEmpty {
            reader.addError(Field.renditions.rawValue, "Must name at least one rendition. Omit the field for all.")
        }
        return roles
    }
}
