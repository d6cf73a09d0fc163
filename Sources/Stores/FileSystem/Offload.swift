internal import Attachments
internal import Dispatch

/// Runs calls that wait for a disk beside the threads of Swift's tasks, which must not block.
enum Offload {
    private static let queue = DispatchQueue(label: "satchel.stores.files", attributes: .concurrent)

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AttachmentError) -> Value
    ) async throws(AttachmentError) -> Value {
        let result: Result<Value, AttachmentError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(AttachmentError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
