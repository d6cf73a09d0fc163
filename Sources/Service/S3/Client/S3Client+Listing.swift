internal import AsyncHTTPClient
public import SatchelCore

extension S3Client {
    /// Objects in the order of their keys' bytes, at most 1,000 a request and as many requests as it takes.
    ///
    /// - Parameters:
    ///   - prefix: What keys begin with, the configuration's prefix included.
    ///   - start: Only keys that come after this one.
    ///   - limit: At most so many; then `next` is the last one's key.
    public func list(
        _ prefix: String, after start: String? = nil, limit: Int
    ) async throws(S3Error) -> Page<S3Object> {
        var objects: [S3Object] = []
        var token: String?
        while true {
            let part = try await listOnce(prefix, after: start, token: token, limit: min(limit - objects.count, 1000))
            objects += part.objects
            guard let next = part.next else { return Page(elements: objects, next: nil) }
            guard objects.count < limit else { return Page(elements: objects, next: objects.last?.key) }
            guard next != token else { throw .malformedAnswer(reason: "a list repeats its continuation token") }
            token = next
        }
    }

    private struct Part {
        var objects: [S3Object]
        var next: String?
    }

    private func listOnce(
        _ prefix: String, after start: String?, token: String?, limit: Int
    ) async throws(S3Error) -> Part {
        var query = [
            // XML can't write every character of a key.
            (name: "encoding-type", value: "url"), (name: "list-type", value: "2"),
            (name: "max-keys", value: "\(limit)"),
            (name: "prefix", value: prefix),
        ]
        if let token {
            query.append((name: "continuation-token", value: token))
        } else if let start {
            query.append((name: "start-after", value: start))
        }
        return try await send(S3Request(operation: "listing", method: "GET", key: nil, query: query)) { answer in
            let tree = try await Self.document("ListBucketResult", in: answer, atMost: 8 << 20)
            let objects = try tree.all("Contents").map { entry throws(S3Error) in
                // By bytes: a mark that begins the rest would be one character with the prefix's slash.
                guard let key = entry["Key"].flatMap({ Self.decoded($0.text) }), key.utf8.starts(with: prefix.utf8),
                    let bytes = entry["Size"].flatMap({ Int64($0.text) }), bytes >= 0
                else { throw .malformedAnswer(reason: "an object of a list has no key or size") }
                return S3Object(
                    key: key, bytes: bytes, modifiedAt: entry["LastModified"].flatMap { Instant(timestamp: $0.text) },
                    etag: entry["ETag"]?.text ?? "")
            }
            guard tree["IsTruncated"]?.text == "true" else { return Part(objects: objects, next: nil) }
            guard let next = tree["NextContinuationToken"]?.text, !next.isEmpty, objects.count <= limit else {
                throw S3Error.malformedAnswer(reason: "a truncated list has no continuation token")
            }
            return Part(objects: objects, next: next)
        }
    }

    /// What a bucket with versions has kept under a key, the latest first; where it keeps none, what is there now.
    ///
    /// - Throws: `accessDenied` without the right to list versions, which nothing else needs.
    func versions(of key: String, atOnce limit: Int = 1000) async throws(S3Error) -> [String] {
        var versions: [String] = []
        var place: VersionPlace?
        repeat {
            let part = try await versionsOnce(of: key, after: place, limit: limit)
            versions += part.elements
            guard part.next == nil || part.next != place else {
                throw .malformedAnswer(reason: "a list repeats its continuation token")
            }
            place = part.next
            // Keys that this one begins come behind it.
        } while place?.key == key
        return versions
    }

    private struct VersionPlace: Hashable {
        var key: String
        var version: String
    }

    private struct VersionPart {
        var elements: [String]
        var next: VersionPlace?
    }

    private func versionsOnce(
        of key: String, after place: VersionPlace?, limit: Int
    ) async throws(S3Error) -> VersionPart {
        var query = [
            (name: "encoding-type", value: "url"), (name: "max-keys", value: "\(limit)"), (name: "prefix", value: key),
            (name: "versions", value: ""),
        ]
        if let place {
            query += [(name: "key-marker", value: place.key), (name: "version-id-marker", value: place.version)]
        }
        return try await send(
            S3Request(operation: "listing versions", method: "GET", key: nil, query: query)
        ) { answer in
            let tree = try await Self.document("ListVersionsResult", in: answer, atMost: 8 << 20)
            let found = tree.all("Version").compactMap { entry in
                entry["Key"].flatMap { Self.decoded($0.text) } == key ? entry["VersionId"]?.text : nil
            }
            guard tree["IsTruncated"]?.text == "true" else { return VersionPart(elements: found, next: nil) }
            guard let next = tree["NextKeyMarker"].flatMap({ Self.decoded($0.text) }) else {
                throw S3Error.malformedAnswer(reason: "a truncated list has no continuation token")
            }
            let version = tree["NextVersionIdMarker"]?.text ?? ""
            return VersionPart(elements: found, next: VersionPlace(key: next, version: version))
        }
    }

    /// A key of a list, which is encoded as forms are; nil where it is not.
    private static func decoded(_ text: String) -> String? {
        PercentCoding.decode(text, plusIsSpace: true)
    }
}
