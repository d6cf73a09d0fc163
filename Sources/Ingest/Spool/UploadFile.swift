public import Attachments
import CSandbox
public import Crypto
import FoundationEssentials
import Glibc
import Platform

/// The bytes of an upload while a request writes them, with the hash of all that is there.
public struct UploadFile: ~Copyable, Sendable {
    /// Bytes of which the disk is asked to begin with: see ``SpoolFile``.
    private static let piece: Int64 = 1 << 20
    /// Read at once where there is no hash of what lies before.
    private static let readBytes: Int64 = 1 << 20

    private let file: Descriptor
    /// Bytes that were written, whether a power cut would leave them or not.
    public private(set) var offset: Int64
    /// Nil where nobody has hashed what lies before.
    public private(set) var hash: SHA256?
    private var writtenBack: Int64

    /// Takes over what stands behind `offset` bytes.
    ///
    /// - Parameter hash: Of those bytes; nil where it isn't known. Then all is read once, when it is asked for.
    public init(_ file: consuming Descriptor, at offset: Int64, hash: SHA256?) {
        self.file = file
        self.offset = offset
        self.hash = offset == 0 ? SHA256() : hash
        writtenBack = offset
    }

    /// Appends bytes. Blocks on the disk when its cache is full.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public mutating func write(_ data: UnsafeRawBufferPointer) throws(AttachmentError) {
        do { unsafe try Files.write(data, to: file, to: "write an upload") } catch { throw AttachmentError(error) }
        offset += Int64(data.count)
        unsafe hash?.update(bufferPointer: data)
        if offset - writtenBack >= Self.piece {
            csandbox_begin_writeback(file.number, writtenBack, offset - writtenBack)
            writtenBack = offset
        }
    }

    /// Makes what was written outlive a power cut.
    ///
    /// - Returns: How much there is.
    /// - Throws: `store_failed`: the kernel may have dropped what was written, so that nothing more may be told of it.
    public mutating func sync() throws(AttachmentError) -> Int64 {
        guard fdatasync(file.number) == 0 else {
            throw AttachmentError(SystemError("make an upload durable"))
        }
        writtenBack = offset
        return offset
    }

    /// Takes back what was written behind `offset`.
    ///
    /// - Parameter hash: Of what stays; nil where it isn't known.
    public mutating func cut(to offset: Int64, hash: SHA256?) throws(AttachmentError) {
        guard ftruncate(file.number, off_t(offset)) == 0,
            lseek(file.number, off_t(offset), SEEK_SET) == off_t(offset)
        else { throw AttachmentError(SystemError("cut an upload")) }
        self.offset = offset
        self.hash = offset == 0 ? SHA256() : hash
        writtenBack = offset
    }

    /// The SHA-256 of all bytes, in lower-case hexadecimal.
    public mutating func sha256() throws(AttachmentError) -> String {
        if let hash { return hash.finalize().hexadecimal }
        var whole = SHA256()
        for start in stride(from: 0, to: offset, by: Int(Self.readBytes)) {
            do throws(SystemError) {
                let piece = try Files.read(start..<min(start + Self.readBytes, offset), of: file)
                whole.update(data: piece)
            } catch {
                throw AttachmentError(error)
            }
        }
        hash = whole
        return whole.finalize().hexadecimal
    }
}
