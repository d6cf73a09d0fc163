public import SatchelCore
internal import Platform
internal import SystemPackage

extension MemorySourceStore: UploadFiles {
    public func newUploadName() -> SourceName { FileSourceStore.newName() }

    public func resume(_ upload: UploadRecord) async throws(AttachmentError) -> ArrivedBytes? {
        let file: Descriptor
        do throws(SystemError) {
            file = try Files.open(
                try self.upload(upload.source).file.reader.path, .readWrite, [], to: "open an upload in memory")
        } catch {
            throw AttachmentError(error)
        }
        return try FileSourceStore.hold(file, from: upload.offset)
    }

    public func keep(
        _ arrived: ArrivedBytes, upTo offset: Int64, of upload: UploadRecord, _ pause: UploadPause
    ) async -> KeptBytes {
        KeptBytes(to: offset)
    }

    public func discard(_ parts: [UploadParts.Part], of upload: UploadRecord) {}

    public func finish(_ upload: UploadRecord) {}
}
