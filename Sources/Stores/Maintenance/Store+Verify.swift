public import Attachments
internal import FoundationEssentials
internal import Platform

/// What a check of all bytes found.
public struct VerifyReport: Hashable, Sendable, Codable {
    /// Blobs that were read.
    public var blobs: Int
    public var bytes: Int64
    /// A record refers to them, and there is no file.
    public var missing: [BlobName]
    /// Their bytes are not those that were stored.
    public var damaged: [BlobName]
    /// No record refers to them; a sweep removes them.
    public var orphaned: [BlobName]

    /// Whether everything that a record promises is there and whole.
    public var isSound: Bool { missing.isEmpty && damaged.isEmpty }
}

extension Store {
    /// Reads every blob and computes its hash anew. What turns out damaged or missing is not referred to by new
    /// deliveries any more.
    public func verify() async throws(AttachmentError) -> VerifyReport {
        let blobs = blobs
        // Listed first: what is delivered and deleted meanwhile is neither missing nor orphaned.
        let files = try await BlockingWork.run { () throws(AttachmentError) in try blobs.list() }
        let referenced = try await records.referencedBlobs()
        var report = VerifyReport(blobs: 0, bytes: 0, missing: [], damaged: [], orphaned: [])
        for blob in referenced {
            let found = try await BlockingWork.run { () throws(AttachmentError) -> (sha256: String, bytes: Int64)? in
                do throws(AttachmentError) {
                    let file = try blobs.open(blob.name)
                    do throws(SystemError) {
                        return try Files.digest(of: file)
                    } catch {
                        throw AttachmentError(error)
                    }
                } catch {
                    if case .notInStore = error { return nil }
                    throw error
                }
            }
            guard let found else {
                if try await records.unreferenced(among: [blob.name]).isEmpty { report.missing.append(blob.name) }
                continue
            }
            report.blobs += 1
            report.bytes += found.bytes
            if found.sha256 != blob.sha256 || found.bytes != blob.bytes { report.damaged.append(blob.name) }
        }
        report.orphaned = try await records.unreferenced(among: files.map(\.name))
        try await records.markDamaged(report.missing + report.damaged)
        return report
    }
}
