public import SatchelCore
internal import FoundationEssentials
internal import Synchronization

/// Keeps blobs as objects: `blobs/<xx>/<claim>/<n>`, where `xx` are the claim's last two digits, which spread the load.
///
/// `n` is counted by this process for every new file, also when one is made again under the same claim. So only a repeated
/// request for the same bytes writes a key twice, and all that was written under a claim is found by its key.
public final class S3BlobStore: BlobStore {
    private let client: S3Client

    /// Of all stores of this process.
    private static let numbers = Atomic<UInt64>(0)

    /// How long a location is good that a proxy is told.
    private static let locationTime: Duration = .seconds(60)
    /// "Copying, moving, and renaming objects" of the Amazon S3 User Guide: what one request copies.
    private static let largestCopy: Int64 = 5 << 30

    public init(_ client: S3Client) {
        self.client = client
    }

    public func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        let name = try Self.newName(under: claim)
        do throws(S3Error) {
            try await client.put(file, as: key(name))
        } catch {
            throw AttachmentError(error, writing: Self.what)
        }
        return CommittedBlob(name: name, sha256: file.sha256, bytes: file.bytes)
    }

    /// By the server, where the bytes are.
    public func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        guard blob.name.isKey, blob.bytes <= Self.largestCopy else { return nil }
        let name = try Self.newName(under: claim)
        do throws(S3Error) {
            try await client.copy(key(blob.name), to: key(name))
        } catch {
            // Not every store copies what it keeps encrypted.
            if error == .noSuchObject || error.isUnknownOperation { return nil }
            throw AttachmentError(error, writing: Self.what)
        }
        return CommittedBlob(name: name, sha256: blob.sha256, bytes: blob.bytes)
    }

    public func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        let (blob, version) = name.parts
        guard blob.isKey else { throw .notInStore(what: Self.what) }
        do throws(S3Error) { return try await client.get(key(blob), version: version, range) } catch {
            throw AttachmentError(error, reading: Self.what)
        }
    }

    /// Where the bucket keeps versions, also what was removed; else what is there now.
    public func versions(of name: BlobName) async throws(AttachmentError) -> [BlobName] {
        guard name.isKey else { return [] }
        do throws(S3Error) {
            return try await client.versions(of: key(name)).map { BlobName(rawValue: "\(name.rawValue)@\($0)") }
        } catch {
            if error.isUnknownOperation { return [] }
            throw AttachmentError(error, reading: Self.what)
        }
    }

    /// By the server, where the bytes are.
    public func restore(_ name: BlobName, from other: BlobName) async throws(AttachmentError) -> Bool {
        let (blob, version) = other.parts
        guard name.isKey, blob.isKey else { return false }
        do throws(S3Error) {
            try await client.copy(key(blob), version: version, to: key(name))
            return true
        } catch {
            if error == .noSuchObject || error.isUnknownOperation { return false }
            throw AttachmentError(error, writing: Self.what)
        }
    }

    /// A stream, of which the first read tells whether the bytes are there; behind a proxy its prefix with the path and query
    /// of a presigned URL, good for a minute: the proxy passes what follows its prefix on to the server of the bucket.
    public func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        guard name.isKey else { throw .notInStore(what: Self.what) }
        guard let proxy else { return .stream }
        do throws(S3Error) {
            let target = try await client.presignedTarget(of: key(name), for: Self.locationTime)
            return .redirect(proxy + target.dropFirst())
        } catch {
            throw AttachmentError(error, reading: Self.what)
        }
    }

    /// The bucket's own server has to be where clients reach it.
    public func url(
        of name: BlobName, as type: MediaType, disposition: String
    ) async throws(AttachmentError) -> String? {
        guard name.isKey else { throw .notInStore(what: Self.what) }
        do throws(S3Error) {
            return try await client.presignedURL(
                of: key(name), for: Self.locationTime,
                query: [
                    (name: "response-content-type", value: type.rawValue),
                    (name: "response-content-disposition", value: disposition),
                ])
        } catch {
            throw AttachmentError(error, reading: Self.what)
        }
    }

    public func remove(_ names: [BlobName]) async throws(AttachmentError) {
        do throws(S3Error) {
            try await client.delete(names.filter(\.isKey).map(key))
        } catch {
            throw AttachmentError(error, removing: Self.what)
        }
    }

    /// Removes whatever was written under a claim, whether or not it was ever delivered.
    public func removeAll(under claim: ClaimID) async throws(AttachmentError) {
        let prefix = client.configuration.prefix + (try Self.prefix(of: claim))
        do throws(S3Error) {
            while true {
                let page = try await client.list(prefix, limit: 1000)
                try await client.delete(page.elements.map(\.key))
                if page.next == nil { return }
            }
        } catch {
            throw AttachmentError(error, removing: Self.what)
        }
    }

    /// In the order of the keys.
    public func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
        try await client.stored(in: "blobs/", after: cursor, limit: limit) { text in
            let name = BlobName(rawValue: text)
            return name.isKey ? name : nil
        }
    }

    private func key(_ name: BlobName) -> String { client.configuration.prefix + name.rawValue }

    private static let what = "This rendition"

    private static func newName(under claim: ClaimID) throws(AttachmentError) -> BlobName {
        let number = numbers.add(1, ordering: .relaxed).newValue
        return BlobName(rawValue: "\(try prefix(of: claim))\(number)")
    }

    private static func prefix(of claim: ClaimID) throws(AttachmentError) -> String {
        guard claim.rawValue.isUUID else { throw .storeFailed(reason: "'\(claim.rawValue.prefix(64))' is not a claim") }
        return "blobs/\(claim.rawValue.suffix(2))/\(claim.rawValue)/"
    }
}

extension BlobName {
    /// A blob of this store, and which version of it; nil for the latest.
    fileprivate var parts: (blob: BlobName, version: String?) {
        guard let mark = rawValue.firstIndex(of: "@") else { return (self, nil) }
        return (
            BlobName(rawValue: String(rawValue[..<mark])), String(rawValue[rawValue.index(after: mark)...])
        )
    }

    /// Whether it is one of this store's, so that none leads elsewhere.
    fileprivate var isKey: Bool {
        let parts = rawValue.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "blobs" && String(parts[2]).isUUID && parts[2].hasSuffix(parts[1])
            && parts[1].utf8.count == 2 && UInt64(parts[3]).map(String.init) == String(parts[3])
    }
}
