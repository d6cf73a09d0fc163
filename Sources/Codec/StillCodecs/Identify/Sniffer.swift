package import SatchelCore
import CMagic
import Glibc
import Synchronization

/// What libmagic makes of the start of a source.
package struct Sniffed: Hashable, Sendable {
    /// libmagic's media type.
    package var type: String
    /// Up to ``Sniffer/headBytes`` of the source.
    package var head: [UInt8]

    /// The one image decoder that may try the source; nil where it is no image.
    var pictureFormat: PictureFormat? {
        PictureFormat(sniffed: type) ?? PictureFormat(head: head)
    }
}

/// libmagic, with its database in memory.
@safe
struct Sniffer: ~Copyable {
    /// Bytes that libmagic looks at.
    static let headBytes = 64 << 10

    /// So many equal bytes are no text or number, and what is left unwritten comes in blocks.
    private static let leastFiller = 64

    // Archives, documents and text are refused whatever they are: what would parse them deeper stays off.
    private static let flags =
        MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_APPTYPE
        | MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_TOKENS | MAGIC_NO_CHECK_CSV | MAGIC_NO_CHECK_JSON

    private let cookie: magic_t

    private static let shared = Mutex<Sniffer?>(nil)

    /// Takes over a cookie whose database is loaded.
    private init(owning cookie: magic_t) {
        unsafe self.cookie = unsafe cookie
    }

    private static func open() throws(AttachmentError) -> Sniffer {
        guard let cookie = unsafe magic_open(flags) else {
            throw .codecCrashed(reason: "libmagic does not start")
        }
        let sniffer = unsafe Sniffer(owning: cookie)
        guard unsafe magic_load(cookie, nil) == 0 else {
            throw .codecCrashed(reason: "libmagic's database cannot be loaded")
        }
        return sniffer
    }

    deinit {
        unsafe magic_close(cookie)
    }

    /// Loads the database, once.
    static func prepare() throws(AttachmentError) {
        try shared.withLock { (sniffer) throws(AttachmentError) in
            if sniffer == nil { sniffer = try open() }
        }
    }

    /// Names the type of an open file, by its first bytes.
    static func sniff(_ descriptor: Int32) throws(AttachmentError) -> Sniffed {
        let head = try readBytes(descriptor, count: headBytes)
        if let filler = head.first, filler == 0 || head.count >= leastFiller, head.allSatisfy({ $0 == filler }) {
            return Sniffed(type: filler == 0 ? ForeignFormat.zerosType : ForeignFormat.fillerType, head: head)
        }
        var type = Self.type(of: head, asText: mayBeText(head)) ?? "application/octet-stream"
        if type == "application/pdf", try isLockedDocument(descriptor, head: head) {
            type = ForeignFormat.lockedDocumentType
        }
        return Sniffed(type: type, head: head)
    }

    /// Whether a PDF's trailer, at its end or of a linearized one at its beginning, names how it is encrypted
    /// (ISO 32000-1, 7.5.5).
    private static func isLockedDocument(_ descriptor: Int32, head: [UInt8]) throws(AttachmentError) -> Bool {
        let mark = Array("/Encrypt".utf8)
        let tailBytes = 4096
        let tail = try readBytes(
            descriptor, count: tailBytes, from: max(0, try fileBytes(descriptor) - Int64(tailBytes)))
        return [head, tail].contains { $0.firstRange(of: mark) != nil }
    }

    /// Whether libmagic may find an encoding of text: it finds none in bytes of which one is zero, but of UTF-16 and UTF-32 with
    /// their mark.
    ///
    /// Looking for one takes nine bytes of cleared memory for each byte of the head, of every source.
    static func mayBeText(_ head: [UInt8]) -> Bool {
        let marks: [[UInt8]] = [[0xff, 0xfe], [0xfe, 0xff], [0, 0, 0xfe, 0xff]]
        return marks.contains(where: head.starts) || !head.contains(0)
    }

    /// libmagic's media type.
    static func type(of head: [UInt8], asText: Bool) -> String? {
        shared.withLock { sniffer in sniffer?.type(of: head, flags: flags | (asText ? 0 : MAGIC_NO_CHECK_ENCODING)) }
    }

    private func type(of head: [UInt8], flags: Int32) -> String? {
        unsafe magic_setflags(cookie, flags)
        return unsafe head.withUnsafeBytes { bytes in
            unsafe magic_buffer(cookie, bytes.baseAddress, bytes.count).map { unsafe String(cString: $0) }
        }
    }
}

/// `count` bytes of a file from `start` on, or as many as there are; leaves its offset alone.
package func readBytes(
    _ descriptor: Int32, count: Int, from start: Int64 = 0
) throws(AttachmentError) -> [UInt8] {
    var failed = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        while initialized < count {
            let got = unsafe pread(
                descriptor, buffer.baseAddress.map { unsafe $0 + initialized }, count - initialized,
                off_t(start) + off_t(initialized))
            if got > 0 {
                initialized += got
            } else if got == 0 {
                break
            } else if errno != EINTR {
                failed = true
                break
            }
        }
    }
    if failed { throw .invalidSource(reason: "it cannot be read") }
    return bytes
}

/// The same; nil where there are fewer, or they can't be read.
package func allBytes(_ descriptor: Int32, count: Int, from start: Int64) -> [UInt8]? {
    guard let bytes = try? readBytes(descriptor, count: count, from: start) else { return nil }
    return bytes.count == count ? bytes : nil
}

/// The bytes of an open regular file.
package func fileBytes(_ descriptor: Int32) throws(AttachmentError) -> Int64 {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
        throw .invalidSource(reason: "it cannot be read")
    }
    return Int64(status.st_size)
}
