public import SatchelCore
package import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import Glibc

/// Keeps blobs as files: `blobs/ab/<sha256>.<uuid>`, where `ab` are the first two digits of the hash.
///
/// The 256 directories are made with the store, so that a new blob costs two syncs: one for its bytes and one for
/// its name. Files have mode 0400, directories 0700.
public struct FileBlobStore: BlobStore {
    /// `blobs` in the store's.
    let directory: FilePath
    private let removals: RemovalHold?

    /// - Parameters:
    ///   - store: The store's directory.
    ///   - removals: While it is held, nothing is removed.
    package init(store: FilePath, removals: RemovalHold? = nil) {
        directory = Self.directory(in: store)
        self.removals = removals
    }

    package static let shelves = (UInt8.min...UInt8.max).map { [$0].hexadecimal }

    private static func directory(in store: FilePath) -> FilePath { store.appending("blobs") }

    /// Makes the directories under `store`; what is in `blobs` is durable, the names in `store` are not yet. To
    /// be called until it succeeded once; what an earlier call that was cut off had made is made durable by the next.
    package static func prepare(_ store: FilePath) throws(SystemError) {
        let blobs = directory(in: store)
        try Files.makeDirectory(blobs)
        let descriptor = try Files.open(blobs, .readOnly, .directory, to: "open the directory '\(blobs)'")
        for shelf in shelves { try Files.makeDirectory(shelf, in: descriptor) }
        try Files.sync(descriptor, "the directory '\(blobs)'")
    }

    public func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        let name = BlobName.make(sha256: file.sha256)
        guard let path = path(of: name) else { throw .storeFailed(reason: "a blob's name is not a file name") }
        try await BlockingWork.files { () throws(SystemError) in
            try Files.keep(file.file, as: path, "a blob")
        }
        return CommittedBlob(name: name, sha256: file.sha256, bytes: file.bytes)
    }

    public func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        let name = BlobName.make(sha256: blob.sha256)
        guard let old = path(of: blob.name), let new = path(of: name) else { return nil }
        let isThere = try await BlockingWork.files { () throws(SystemError) in
            let code = Files.link(old, to: new)
            guard code == 0 else {
                if Self.linkRefusals.contains(code) { return false }
                throw SystemError("give a blob another name", code: code)
            }
            do throws(SystemError) {
                try Files.syncDirectory(shelf(of: name))
            } catch {
                _ = try? Files.remove(new)
                throw error
            }
            return true
        }
        return isThere ? CommittedBlob(name: name, sha256: blob.sha256, bytes: blob.bytes) : nil
    }

    /// The bytes are gone or have too many names, or the file system, or what surrounds the program, knows no second ones.
    private static let linkRefusals: Set<Int32> = [ENOENT, EMLINK, EPERM, EACCES, EOPNOTSUPP, ENOSYS, EXDEV]

    public func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        try await BlockingWork.run { () throws(AttachmentError) in
            let file = try open(name)
            do throws(SystemError) { return try Files.read(range, of: file) } catch { throw AttachmentError(error) }
        }
    }

    public func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        if let proxy, name.isWellFormed { return .redirect("\(proxy)\(name.rawValue.prefix(2))/\(name.rawValue)") }
        let number = try await BlockingWork.run { () throws(AttachmentError) in try open(name).release() }
        return .file(Descriptor(owning: number))
    }

    public func restore(_ name: BlobName, from other: BlobName) async throws(AttachmentError) -> Bool {
        try await restore(name, from: other, of: self)
    }

    func open(_ name: BlobName) throws(AttachmentError) -> Descriptor {
        guard let path = path(of: name) else { throw .notInStore(what: "This rendition") }
        do {
            return try Files.open(path, .readOnly, to: "open a blob")
        } catch {
            guard error.code == ENOENT else { throw AttachmentError(error) }
            throw .notInStore(what: "This rendition")
        }
    }

    /// No sync follows: a name that comes back after a power cut is an orphan, which the next sweep removes.
    public func remove(_ names: [BlobName]) async throws(AttachmentError) {
        try await removals.remove(names.compactMap(path))
    }

    /// Whole directories at a time.
    public func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
        try await BlockingWork.files { () throws(SystemError) in
            var page = Page<StoredObject<BlobName>>(elements: [], next: nil)
            let shelves = try Files.open(directory, .readOnly, .directory, to: "read the directory '\(directory)'")
            for shelf in Self.shelves where cursor.map({ shelf > $0 }) ?? true {
                for text in try Files.names(in: shelf, of: shelves) {
                    let name = BlobName(rawValue: text)
                    guard let path = path(of: name), let facts = try Files.facts(of: path) else { continue }
                    page.elements.append(StoredObject(name: name, bytes: facts.bytes, age: facts.age))
                }
                if page.elements.count >= limit, shelf != Self.shelves.last {
                    page.next = shelf
                    break
                }
            }
            return page
        }
    }

    func shelf(of name: BlobName) -> FilePath {
        directory.appending(String(name.rawValue.prefix(2)))
    }

    /// Nil for what no blob of this store is called, so that a name never leads elsewhere.
    func path(of name: BlobName) -> FilePath? {
        name.isWellFormed ? directory.appending("\(name.rawValue.prefix(2))/\(name.rawValue)") : nil
    }
}

extension BlobName {
    /// A name for bytes of this hash that was never given before.
    static func make(sha256: String) -> BlobName {
        BlobName(rawValue: sha256 + "." + UUID().uuidString.lowercased())
    }

    /// 64 lower-case hexadecimal digits, a dot, and 36 characters of a lower-case UUID.
    fileprivate var isWellFormed: Bool {
        let text = Array(rawValue.utf8)
        guard text.count == 101, text[64] == UInt8(ascii: ".") else { return false }
        func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        return text[..<64].allSatisfy(isDigit) && text[65...].allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
    }
}
