internal import SatchelCore
internal import FoundationEssentials

/// What a node finds of its bucket, for whoever runs it.
public struct BucketExamination: Hashable, Sendable {
    /// The median of some reads of an object of a few bytes.
    public var roundTrip: Duration
    /// What the server's clock is ahead of this machine's.
    public var clockOffset: Duration
    /// Whether the bucket's rules end uploads in parts that nobody finished; nil where that isn't told.
    public var endsUnfinishedUploads: Bool?
}

extension S3Client {
    /// Writes, reads, copies, lists and deletes a probe under the prefix, and leaves nothing.
    ///
    /// - Throws: The first thing that isn't as it must be.
    public func examine() async throws(S3Error) -> BucketExamination {
        let key = configuration.prefix + "probe/" + UUID().uuidString.lowercased()
        let bytes = Array("Satchel tries whether it can use this bucket.".utf8)
        try await put(bytes, as: key)
        do throws(S3Error) {
            var trips: [Duration] = []
            for _ in 0..<5 {
                let start = ContinuousClock.now
                guard try await get(key, 0..<Int64(bytes.count)) == bytes else {
                    throw S3Error.malformedAnswer(reason: "an object came back as other bytes")
                }
                trips.append(ContinuousClock.now - start)
            }
            let before = now
            let modified = try await head(key).modifiedAt
            try await copy(key, to: key + "-copy")
            let listed = try await list(key, limit: 10).elements.map(\.key)
            guard listed == [key, key + "-copy"] else {
                throw S3Error.malformedAnswer(reason: "a list lacks what was just written")
            }
            try await delete([key, key + "-copy"])
            // Its own date has whole seconds, and was written a moment before: so much is no difference.
            let offset = modified.map { $0 - before } ?? .zero
            return BucketExamination(
                roundTrip: trips.sorted()[trips.count / 2],
                clockOffset: abs(offset.wholeMilliseconds) < 3000 ? clockOffset : clockOffset + offset,
                endsUnfinishedUploads: await endsUnfinishedUploads())
        } catch {
            try? await delete([key, key + "-copy"])
            throw error
        }
    }

    /// "GetBucketLifecycleConfiguration" of the Amazon S3 API Reference.
    private func endsUnfinishedUploads() async -> Bool? {
        let request = S3Request(operation: "reading rules", method: "GET", key: nil, query: [("lifecycle", "")])
        do {
            return try await send(request) { answer in
                let tree = try await Self.document("LifecycleConfiguration", in: answer)
                return tree.all("Rule").contains {
                    $0["Status"]?.text == "Enabled" && $0["AbortIncompleteMultipartUpload"] != nil
                }
            }
        } catch {
            switch error {
            case .refused(404, _), .noSuchObject: return false
            default: return nil
            }
        }
    }
}
