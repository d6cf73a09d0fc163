public import SatchelCore
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

    /// Where they are written.
    public let arrived: ArrivedBytes
    /// Bytes that were written, whether a power cut would leave them or not.
    public private(set) var offset: Int64
    /// Nil where nobody has hashed what lies before.
    public private(set) var hash: SHA256?
    private var writtenBack: Int64

    /// Takes over what stands behind `offset` bytes.
    ///
    /// - Parameter hash: Of those bytes; nil where it isn't known.
    public init(_ arrived: ArrivedBytes, at offset: Int64, hash: SHA256?) {
        self.arrived = arrived
        self.offset = offset
        self.hash = offset == 0 ? SHA256() : hash
        writtenBack = offset
    }

    /// Appends bytes. Blocks on the disk when its cache is full.
    ///
    /// - Throws: `store_failed`, `store_full`.
    public mutating func write(_ data: UnsafeRawBufferPointer) throws(AttachmentError) {
        do { unsafe try Files.write(data, to: arrived.file.reader, to: "write an upload") } catch {
            throw AttachmentError(error)
        }
        offset += Int64(data.count)
        unsafe hash?.update(bufferPointer: data)
        if arrived.areKeptInPlace, offset - writtenBack >= Self.piece {
            csandbox_begin_writeback(arrived.file.reader.number, writtenBack - arrived.base, offset - writtenBack)
            writtenBack = offset
        }
    }

    /// Takes back what was written behind `offset`.
    ///
    /// - Parameter hash: Of what stays; nil where it isn't known.
    public mutating func cut(to offset: Int64, hash: SHA256?) throws(AttachmentError) {
        let place = off_t(offset - arrived.base)
        let number = arrived.file.reader.number
        guard ftruncate(number, place) == 0, lseek(number, place, SEEK_SET) == place else {
            throw AttachmentError(SystemError("cut an upload"))
        }
        self.offset = offset
        self.hash = offset == 0 ? SHA256() : hash
        writtenBack = offset
    }

    /// The SHA-256 of an upload of which some came before anybody here hashed it, in lower-case hexadecimal.
    ///
    /// - Throws: `store_failed`.
    public static func sha256(of file: borrowing Descriptor) throws(AttachmentError) -> String {
        var hash = SHA256()
        do throws(SystemError) {
            let bytes = try Files.size(of: file)
            for start in stride(from: 0, to: bytes, by: Int(readBytes)) {
                hash.update(data: try Files.read(start..<min(start + readBytes, bytes), of: file))
            }
        } catch {
            throw AttachmentError(error)
        }
        return hash.finalize().hexadecimal
    }
}
