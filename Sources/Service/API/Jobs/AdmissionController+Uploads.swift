import SatchelCore
import HTTPTypes
import Stores

/// Room for uploads: what has arrived counts, and some bytes for each open one, but never what somebody says will come. A full
/// spool first ends those that nobody goes on with.
extension AdmissionController {
    /// An upload that got nothing for so long gives way.
    private static let idle: Duration = .seconds(3600)

    /// Whether an upload may be opened, or gone on with.
    ///
    /// - Throws: A problem with the status 507 where there is no room.
    func admitUpload(opening: Bool = false) async throws {
        try await makeRoom(opening: opening)
    }

    /// Bytes of an upload came.
    ///
    /// - Throws: The same.
    func takeUpload(_ bytes: Int) async throws {
        if try await hasRoom(adding: Int64(bytes)) { return }
        try await makeRoom(opening: false)
    }

    private func makeRoom(opening: Bool) async throws {
        // With each that gives way there are fewer for which room is kept.
        while try await !hasRoom(for: opening ? reserved() : 0) {
            guard try await store.records.endUploads(.idle(Self.idle), limit: 1) > 0 else {
                throw Problem(
                    HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "store_full",
                    "The service's disk is nearly full. Bytes received so far are kept. Continue later.",
                    headers: [.retryAfter: "60", .connection: "close"])
            }
            forget()
        }
    }

    /// For those that are open, and one more.
    private func reserved() async throws -> Int64 {
        Int64(try await store.records.uploadUsage(of: nil).open + 1) * UploadUsage.reserved
    }
}
