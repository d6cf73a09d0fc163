internal import AsyncHTTPClient
internal import SatchelCore
internal import NIOHTTP1

extension S3Client {
    /// "Amazon S3 multipart upload limits" of the Amazon S3 User Guide.
    static let mostParts: Int64 = 10_000

    /// How long the parts of a file of so many bytes are, for there to be no more than may be.
    func partSize(for bytes: Int64) -> Int64 {
        max(configuration.partSize, (bytes + Self.mostParts - 1) / Self.mostParts)
    }

    /// Keeps a file under a key in parts; where one fails, nothing is left of any.
    func putParts(of file: HashedFile, as key: String, type: String? = nil) async throws(S3Error) {
        let upload = try await beginUpload(of: key, type: type)
        do throws(S3Error) {
            let tags = try await putParts(of: file, as: key, in: upload)
            try await complete(upload, of: key, tags, bytes: file.bytes)
        } catch {
            // Also where this task was cancelled or its time is up: a task of its own isn't. What it can't remove, a lifecycle
            // rule does.
            await StoreTime.$current.withValue(nil) {
                await Task { [self] in try? await abort(upload, of: key) }.value
            }
            throw error
        }
    }

    private func putParts(
        of file: HashedFile, as key: String, in upload: String
    ) async throws(S3Error) -> [String] {
        let size = partSize(for: file.bytes)
        let starts = Array(stride(from: 0, to: file.bytes, by: Int64.Stride(size)))
        return try await inParallel(starts.count) { [self] index throws(S3Error) in
            let region = FileRegion(file: file.file, range: starts[index]..<min(starts[index] + size, file.bytes))
            return try await put(region, part: index + 1, of: upload, as: key)
        }
    }

    /// Results in order of what is done a few at a time. The first failure stops the others, all of which have ended when
    /// this returns.
    func inParallel<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws(S3Error) -> Result
    ) async throws(S3Error) -> [Result] {
        var results: [Result?] = Array(repeating: nil, count: count)
        var failure: S3Error?
        await withTaskGroup(of: (Int, Swift.Result<Result, S3Error>).self) { group in
            var next = 0
            func begin() {
                guard next < count, failure == nil else { return }
                let index = next
                next += 1
                group.addTask {
                    do throws(S3Error) { return (index, .success(try await body(index))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<configuration.partsAtOnce { begin() }
            for await (index, result) in group {
                switch result {
                case .success(let value): results[index] = value
                case .failure(let error):
                    // What is stopped for it fails too.
                    if failure == nil { failure = error }
                    group.cancelAll()
                }
                begin()
            }
        }
        if let failure { throw failure }
        return results.compactMap(\.self)
    }

    /// - Returns: The upload's id.
    func beginUpload(of key: String, type: String? = nil) async throws(S3Error) -> String {
        let request = S3Request(
            operation: "writing", method: "POST", key: key, query: [("uploads", "")],
            headers: configuration.headers(ofType: type))
        return try await send(request) { answer in
            let tree = try await Self.document("InitiateMultipartUploadResult", in: answer)
            guard let id = tree["UploadId"]?.text, !id.isEmpty else {
                throw S3Error.malformedAnswer(reason: "an upload has no id")
            }
            return id
        }
    }

    /// - Returns: The part's tag.
    func put(
        _ region: FileRegion, part: Int, of upload: String, as key: String
    ) async throws(S3Error) -> String {
        let request = S3Request(
            operation: "writing", method: "PUT", key: key, query: [("partNumber", "\(part)"), ("uploadId", upload)],
            body: .file(region, sha256: nil))
        return try await send(request) { answer in
            _ = try await Self.body(of: answer, atMost: 64 << 10)
            guard let tag = answer.headers.first(name: "ETag"), !tag.isEmpty else {
                throw S3Error.malformedAnswer(reason: "a part has no tag")
            }
            return tag
        }
    }

    /// - Parameter bytes: Of all parts.
    func complete(_ upload: String, of key: String, _ tags: [String], bytes: Int64) async throws(S3Error) {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(XMLTree.escaped(tag))</ETag></Part>"
        }
        let body =
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(parts.joined())</CompleteMultipartUpload>"
        let request = S3Request(
            operation: "writing", method: "POST", key: key, query: [("uploadId", upload)],
            headers: [("Content-Type", "application/xml")], body: .bytes(Array(body.utf8)))
        do throws(S3Error) {
            try await send(request) { answer in
                _ = try await Self.document("CompleteMultipartUploadResult", in: answer)
            }
        } catch {
            // An answer that was lost leaves an upload that is none any more, and the object.
            guard case .refused(404, "NoSuchUpload") = error, let object = try? await head(key), object.bytes == bytes
            else { throw error }
        }
    }

    /// Gives up what there is of an upload. One that isn't there is no error.
    func abort(_ upload: String, of key: String) async throws(S3Error) {
        let request = S3Request(operation: "writing", method: "DELETE", key: key, query: [("uploadId", upload)])
        do {
            try await send(request) { answer in _ = try await Self.body(of: answer, atMost: 64 << 10) }
        } catch .refused(status: 404, _) {
            return
        }
    }
}
