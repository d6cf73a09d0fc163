import SatchelCore
import HTTPTypes
import Hummingbird
import Jobs
import Stores

/// The records of attachments, and the profiles they are made by.
struct AttachmentRoutes: Sendable {
    let service: Service

    func add(to table: RouteTable) {
        table.list(.listAttachments, as: "attachments", by: RecordFilter.parameters) {
            RecordFilter($0)
        } page: { filter, context, part in
            try await service.records.attachments(
                of: context.tenant, where: filter, after: part.cursor, limit: part.limit)
        } body: {
            try await service.document($0)
        }
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
            // The limits are what a source may ask of the machine, whatever its profile.
            try .json(
                ["profiles": service.profiles.map(\.values), "limits": service.settings.limits] as JSONFields)
        }
    }

}
