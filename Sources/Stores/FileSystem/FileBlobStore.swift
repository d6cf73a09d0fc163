public import Attachments
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Keeps blobs as files: `blobs/ab/<sha256>.<uuid>`, where `ab` are the first two digits of the hash.
///
/// The 256 directories are made with the store, so that a new blob costs two syncs: one for its bytes and one for
/// its name. Files have mode 0400, directories 0700.
public struct FileBlobStore: BlobStore {
    let directory: String
    let staging: Staging

    /// - Parameter directory: The store's.
    public init(directory: String) {
        self.init(directory: directory, staging: Staging())
    }

    init(directory: String, staging: Staging) {
        self.directory = directory
        self.staging = staging
    }

    /// Makes the directories under `directory`; what is in `blobs` is durable, the names in `directory` are not yet. To
    /// be called until it succeeded once; what an earlier call that was cut off had made is made durable by the next.
    static func prepare(_ directory: String) throws(SystemError) {
        let blobs = directory + "/blobs"
        try Files.makeDirectory(blobs)
        try Files.makeDirectory(directory + "/staging")
        for byte in UInt8.min...UInt8.max {
            try Files.makeDirectory(blobs + "/" + hexadecimal(byte))
        }
        try Files.syncDirectory(blobs)
    }

    public func open(_ name: BlobName) throws(AttachmentError) -> Descriptor {
        guard let path = path(of: name) else { throw .notInStore(what: "This rendition") }
        do {
            return try Files.open(path, O_RDONLY | O_NOFOLLOW, to: "open a blob")
        } catch {
            guard error.code == ENOENT else { throw AttachmentError(error) }
            throw .notInStore(what: "This rendition")
        }
    }

    /// No sync follows: a name that comes back after a power cut is an orphan, which the next sweep removes.
    public func remove(_ names: [BlobName]) throws(AttachmentError) {
        for name in names {
            guard let path = path(of: name) else { continue }
            do { try Files.remove(path) } catch { throw AttachmentError(error) }
        }
    }

    public func list() throws(AttachmentError) -> [(name: BlobName, bytes: Int64, age: Duration)] {
        do {
            var blobs: [(name: BlobName, bytes: Int64, age: Duration)] = []
            for byte in UInt8.min...UInt8.max {
                for text in try Files.names(in: directory + "/blobs/" + Self.hexadecimal(byte)) {
                    let name = BlobName(rawValue: text)
                    guard let path = path(of: name), let facts = try Files.facts(of: path) else { continue }
                    blobs.append((name, facts.bytes, facts.age))
                }
            }
            return blobs
        } catch {
            throw AttachmentError(error)
        }
    }

    public func removeAbandonedStaging(where isOld: (Duration) -> Bool) throws(AttachmentError) -> Int {
        do {
            var count = 0
            for name in try Files.names(in: directory + "/staging") {
                let path = directory + "/staging/" + name
                guard let facts = try Files.facts(of: path), isOld(facts.age) else { continue }
                if try Files.remove(path) { count += 1 }
            }
            return count
        } catch {
            throw AttachmentError(error)
        }
    }

    /// Nil for what no blob of this store is called, so that a name never leads elsewhere.
    func path(of name: BlobName) -> String? {
        guard name.isWellFormed else { return nil }
        return "\(directory)/blobs/\(name.rawValue.prefix(2))/\(name.rawValue)"
    }

    static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}

/// How files are staged: without a name (`O_TMPFILE`) where the file system can have them so and name them later, else
/// under one in `staging/`.
final class Staging: Sendable {
    private enum Way {
        case untried
        case unnamed
        case named
    }

    private let way: Mutex<Way>
    private let leases = Mutex<Bool?>(nil)

    /// - Parameter needsName: Whether nothing else is tried.
    init(needsName: Bool = false) {
        way = Mutex(needsName ? .named : .untried)
    }

    var needsName: Bool { way.withLock { $0 == .named } }

    /// Whether there are read leases, by a trial that is made once.
    func hasLeases(_ trial: () -> Bool) -> Bool {
        leases.withLock { known in
            if let known { return known }
            let answer = trial()
            known = answer
            return answer
        }
    }

    /// Settles the way by a trial, unless it is settled; one that throws settles nothing.
    func tryOnce(_ works: () throws(SystemError) -> Bool) throws(SystemError) {
        try way.withLock { way throws(SystemError) in
            if way == .untried { way = try works() ? .unnamed : .named }
        }
    }
}

extension BlobName {
    /// A name for bytes of this hash that was never given before.
    static func make(sha256: String) -> BlobName {
        BlobName(rawValue: sha256 + "." + UUID().uuidString.lowercased())
    }

    /// 64 lower-case hexadecimal digits, a dot, and 36 characters of a lower-case UUID.
    var isWellFormed: Bool {
        let text = Array(rawValue.utf8)
        guard text.count == 101, text[64] == UInt8(ascii: ".") else { return false }
        func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        return text[..<64].allSatisfy(isDigit) && text[65...].allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    /// The hash in a well-formed name.
    var sha256: String { String(rawValue.prefix(64)) }
}
