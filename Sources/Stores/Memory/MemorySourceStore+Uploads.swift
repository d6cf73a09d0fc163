public import Attachments
internal import Platform
internal import SystemPackage

extension MemorySourceStore: UploadFiles {
    public func resume(_ name: SourceName, at offset: Int64) async throws(AttachmentError) -> Descriptor? {
        let file: Descriptor
        do throws(SystemError) {
            file = try Files.open(try upload(name).file.reader.path, .readWrite, [], to: "open an upload in memory")
        } catch {
            throw AttachmentError(error)
        }
        return try FileSourceStore.hold(file, from: offset)
    }
}
