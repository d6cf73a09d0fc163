import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

@testable import API

extension LiveService {
    /// An attachment that was delivered with these bytes as its renditions, whatever they are.
    func deliver(_ bytes: [RenditionRole: Data], type: MediaType = .jpeg) async throws -> AttachmentID {
        let run = RunID.generate()
        let records = store.records
        let submission = JobSubmission(
            tenant: tenant, id: .generate(), profile: .archive, mode: .lenient, priority: .bulk, deadline: nil,
            metadata: [:], run: run, workKey: nil,
            attachments: [
                AttachmentSubmission(
                    identifier: "photo", location: .url("https://example.com/photo", headers: [:]), name: "photo.jpg",
                    declaredType: nil, options: DisplayOptions())
            ])
        _ = try await records.submit([submission], SubmissionOptions())
        let claim = try #require(
            try await records.claim(
                ClaimCapacity(1), from: .run(run), by: WorkerID(rawValue: run.rawValue), for: .seconds(60)
            ).first)
        var renditions: [RenditionRole: DeliveredRendition] = [:]
        for (role, data) in bytes {
            var staged = try store.staging.stage()
            let writer = FileHandle(fileDescriptor: staged.takeWriter().release(), closeOnDealloc: true)
            try writer.write(contentsOf: data)
            try writer.close()
            let file = try await store.staging.close(
                staged.file, expecting: Int64(data.count), writersAreDead: false)
            let blob = try await store.blobs.put(file, under: claim.id)
            renditions[role] = DeliveredRendition(
                rendition: Rendition(
                    mediaType: type, width: 40, height: 30, duration: nil, bytes: blob.bytes, sha256: blob.sha256),
                blob: blob.name)
        }
        let outcome = AttachmentOutcome(
            id: claim.attachments[0],
            result: .success(
                AttachmentResult(
                    fidelity: .full, best: .main, renditions: renditions, options: DisplayOptions(), trim: nil,
                    placeholder: Placeholder(color: "#6a5d4f"), contentSizeRatio: 0.75)),
            kind: .image, source: SourceFacts(name: "photo.jpg", bytes: 10, decodedType: type), steps: [])
        _ = try await records.deliver([outcome], under: claim)
        return claim.attachments[0]
    }

    /// The path of a rendition under a new lease.
    func leasePath(
        to attachment: AttachmentID, _ role: RenditionRole, type: MediaType = .jpeg,
        for duration: Duration = .seconds(60)
    ) async throws -> String {
        try await lease(to: attachment, role, type: type, for: duration).path
    }

    func lease(
        to attachment: AttachmentID, _ role: RenditionRole, type: MediaType = .jpeg,
        for duration: Duration = .seconds(60)
    ) async throws -> (id: String, path: String) {
        let (lease, token) = try #require(
            try await store.records.startLease(on: attachment, in: .owner(tenant), renditions: nil, for: duration))
        return (lease.id, "/c/\(token.secretText)/\(role.rawValue).\(type.fileExtension)")
    }
}
