package import SatchelCore
internal import FoundationEssentials
internal import Platform
internal import SystemPackage

/// A new file without a name, to be filled by one and read by another.
package final class ScratchCopy: Sendable {
    package let writer: Descriptor

    package init(in directory: String) throws(S3Error) {
        writer = try Self.open(in: directory)
    }

    /// For reading and writing.
    static func open(in directory: String) throws(S3Error) -> Descriptor {
        let directory = FilePath(directory)
        do throws(SystemError) {
            if let unnamed = try? Files.open(
                directory, .readWrite, .unnamed, permissions: .ownerReadWrite, to: "make a file in '\(directory)'")
            {
                return unnamed
            }
            // Where the file system has none without a name, one loses its name at once; what is cut off between the two
            // ends as files do that are being received, so that a sweep takes it.
            let path = directory.appending(UUID().uuidString.lowercased() + ".part")
            let named = try Files.open(
                path, .readWrite, [.create, .exclusiveCreate, .noFollow], permissions: .ownerReadWrite,
                to: "make a file in '\(directory)'")
            try Files.remove(path)
            return named
        } catch {
            throw .file(error)
        }
    }

    /// The same file, for reading alone, from its beginning.
    package func takeReader() throws(S3Error) -> Descriptor {
        do { return try Files.reopenForReading(writer) } catch { throw .file(error) }
    }
}
