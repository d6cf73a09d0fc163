/// Keeps the bytes of uploads while they come, each under the name of the source that it will be.
public protocol UploadFiles: Sendable {
    /// Opens what has arrived, to be written on behind `offset`: what lies beyond is cut off. Where nothing has arrived a file
    /// is made, durable by name.
    ///
    /// Whoever has it open has it alone, in all processes.
    ///
    /// - Returns: For reading and writing; nil while another process has it.
    /// - Throws: `not_in_store` where less is there than `offset`; `store_failed`, `store_full`.
    func resume(_ name: SourceName, at offset: Int64) async throws(AttachmentError) -> Descriptor?
}
