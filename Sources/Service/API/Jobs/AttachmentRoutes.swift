import SatchelCore
import HTTPTypes
import Hummingbird
import Jobs
import Stores

/// The records of attachments, and the profiles they are made by.
struct AttachmentRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.on(.listAttachments) { request, context in try await list(request, of: context.tenant) }
        table.on(.attachment) { _, context in
            let id = AttachmentID(rawValue: try context.parameter("id"))
            guard let record = try await service.records.attachment(id, of: context.tenant) else {
                throw Problem.notFound
            }
            return try .json(try await service.document(record))
        }
        table.on(.deleteAttachment) { _, context in
            let id = AttachmentID(rawValue: try context.parameter("id"))
            let record = try await service.records.attachment(id, of: context.tenant)
            guard try await service.records.delete(id, of: context.tenant) else { throw Problem.notFound }
            // A job goes with the last of its attachments.
            if let record, try await service.records.job(record.job, of: record.tenant) == nil {
                service.jobs.deleted(record.job, of: record.tenant)
            }
            return Response(status: .noContent)
        }
        table.on(.profiles) { _, _ in
            try .json(ProfileListing(profiles: service.profiles.map(\.values), limits: service.settings.limits))
        }
    }

    private struct Listing: Encodable {
        var attachments: [AttachmentDocument]
        @Nullable var next: String?
    }

    private func list(_ request: Request, of tenant: TenantID) async throws -> Response {
        var filter = RecordFilter()
        let query = try ListParameters(request, filters: RecordFilter.parameters) { filter = RecordFilter($0) }
        let page = try await service.records.attachments(
            of: tenant, where: filter, after: query.cursor, limit: query.limit)
        var attachments: [AttachmentDocument] = []
        for record in page.elements { attachments.append(try await service.document(record)) }
        return try .json(Listing(attachments: attachments, next: page.next.map(ListParameters.cursor)))
    }

    private struct ProfileListing: Encodable {
        /// Nothing that is absent is left out.
        var profiles: [PlainValue]
        /// What a source may ask of the machine, whatever its profile.
        var limits: Limits
    }
}
