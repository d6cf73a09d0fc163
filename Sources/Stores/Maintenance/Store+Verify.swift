public import Attachments
internal import Crypto
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
        // Listed first: what is delivered and deleted meanwhile is neither missing nor orphaned.
        var stored: [BlobName] = []
        try await Self.forEachPage(of: blobs.list) { page throws(AttachmentError) in stored += page.map(\.name) }
        let referenced = try await records.referencedBlobs()
        var report = VerifyReport(blobs: 0, bytes: 0, missing: [], damaged: [], orphaned: [])
        for blob in referenced {
            guard let found = try await blobs.digest(of: blob.name) else {
                if try await records.unreferenced(among: [blob.name]).isEmpty { report.missing.append(blob.name) }
                continue
            }
            report.blobs += 1
            report.bytes += found.bytes
            if found.sha256 != blob.sha256 || found.bytes != blob.bytes { report.damaged.append(blob.name) }
        }
        report.orphaned = try await records.unreferenced(among: stored)
        try await records.markDamaged(report.missing + report.damaged)
        return report
    }
}

extension BlobStore {
    /// Hash and number of a blob's bytes; nil where they are gone.
    func digest(of name: BlobName) async throws(AttachmentError) -> (sha256: String, bytes: Int64)? {
        var hash = SHA256()
        var bytes: Int64 = 0
        do throws(AttachmentError) {
            while true {
                let piece = try await read(bytes..<bytes + 4 << 20, of: name)
                hash.update(data: piece)
                bytes += Int64(piece.count)
                if piece.count < 4 << 20 { break }
            }
        } catch {
            if case .notInStore = error { return nil }
            throw error
        }
        return (hash.finalize().hexadecimal, bytes)
    }
}
