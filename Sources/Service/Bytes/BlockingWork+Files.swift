package import SatchelCore
package import Platform

extension BlockingWork {
    /// Runs calls of the file system on a thread that may block; their failure is the attachment's.
    package static func files<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SystemError) -> Value
    ) async throws(AttachmentError) -> Value {
        try await run { () throws(AttachmentError) in
            do throws(SystemError) { return try body() } catch { throw AttachmentError(error) }
        }
    }
}
