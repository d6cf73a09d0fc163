public import SatchelCore
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// Keeps sources as objects, `sources/<xx>/<uuid>`, where `xx` are the uuid's last two digits; they are opened as copies in the
/// scratch of this machine that have no name and go with their descriptor.
public struct S3SourceStore: SourceStore {
    let client: S3Client
    /// A directory for copies.
    let scratch: String

    public init(_ client: S3Client, scratch: String) {
        self.client = client
        self.scratch = scratch
    }

    public func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName {
        let name = Self.newName(in: Self.sources)
        do throws(S3Error) {
            try await client.put(file, as: key(name))
        } catch {
            throw AttachmentError(error, writing: Self.what)
        }
        return name
    }

    public func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor {
        guard name.isKey else { throw .notInStore(what: Self.what) }
        do throws(S3Error) {
            let scratch = scratch
            let copy = try await BlockingWork.run { () throws(S3Error) in try ScratchCopy(in: scratch) }
            if name.isUpload {
                try await read(name, into: copy.writer.number)
            } else {
                _ = try await client.fetch(key(name), into: copy.writer.number)
            }
            return try copy.takeReader()
        } catch {
            throw AttachmentError(error, reading: Self.what)
        }
    }

    /// From the latest version, where the bucket keeps any: a name is written once.
    public func restore(_ name: SourceName) async throws(AttachmentError) -> Bool {
        guard name.isKey, !name.isUpload else { return false }
        do throws(S3Error) {
            guard let latest = try await client.versions(of: key(name)).first else { return false }
            try await client.copy(key(name), version: latest, to: key(name))
            return true
        } catch {
            if error == .noSuchObject || error.isUnknownOperation { return false }
            throw AttachmentError(error, writing: Self.what)
        }
    }

    public var uploads: any UploadFiles { self }

    public func remove(_ names: [SourceName]) async throws(AttachmentError) {
        do throws(S3Error) {
            let keys = names.filter(\.isKey)
            for upload in Set(keys.filter(\.isUpload)) { try await removeAll(of: upload) }
            try await client.delete(keys.filter { !$0.isUpload }.map(key))
        } catch {
            throw AttachmentError(error, removing: Self.what)
        }
    }

    /// In the order of the keys; an upload has its name once for each of its objects.
    public func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<SourceName>> {
        if let cursor, cursor.hasPrefix(Self.uploads) {
            return try await list(Self.uploads, after: cursor, limit: limit)
        }
        var page = try await list(Self.sources, after: cursor, limit: limit)
        guard page.next == nil else { return page }
        let more = try await list(Self.uploads, after: nil, limit: max(1, limit - page.elements.count))
        page.elements += more.elements
        page.next = more.next
        return page
    }

    private func list(
        _ folder: String, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<SourceName>> {
        try await client.stored(in: folder, after: cursor, limit: limit) { text in
            let name = SourceName(rawValue: text.split(separator: "/").prefix(3).joined(separator: "/"))
            return name.isKey ? name : nil
        }
    }

    public func localBytes() -> Int64 { 0 }

    func key(_ name: SourceName) -> String { client.configuration.prefix + name.rawValue }

    static let sources = "sources/"
    static let uploads = "uploads/"

    static func newName(in folder: String) -> SourceName {
        let id = UUID.version7().uuidString.lowercased()
        return SourceName(rawValue: "\(folder)\(id.suffix(2))/\(id)")
    }

    private static let what = "The source's copy"
}

extension SourceName {
    /// Whether it came as an upload, and may be more than one object.
    var isUpload: Bool { rawValue.hasPrefix(S3SourceStore.uploads) }

    /// Whether it is one of this store's, so that none leads elsewhere.
    var isKey: Bool {
        let parts = rawValue.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && ["sources", "uploads"].contains(parts[0]) && String(parts[2]).isUUID
            && parts[2].hasSuffix(parts[1])
            && parts[1].utf8.count == 2
    }
}
