internal import AsyncHTTPClient
internal import SatchelCore
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import Platform

extension S3Client {
    /// Writes all of an object into a new file: its first 8 MiB, and what is more in ranges of as many, four at once.
    ///
    /// - Parameters:
    ///   - file: Open for writing until this returns, and empty from there on.
    ///   - place: Where in the file the object begins.
    ///   - etag: Of the only state of the object that is wanted.
    /// - Throws: `noSuchObject`, `file`, `noRoom`; `refused` with 412 where it has another state.
    /// - Returns: How many bytes it has.
    func fetch(
        _ key: String, of etag: String? = nil, into file: Int32, at place: Int64 = 0
    ) async throws(S3Error) -> Int64 {
        let size = configuration.partSize
        let total: Int64
        do throws(S3Error) {
            total = try await fetch(key, 0..<size, of: nil, etag, into: file, at: place)
        } catch {
            // No range of nothing can be asked for.
            guard case .refused(status: 416, _) = error else { throw error }
            return 0
        }
        let starts = Array(stride(from: size, to: total, by: Int64.Stride(size)))
        _ = try await inParallel(starts.count) { [self] index throws(S3Error) in
            try await fetch(
                key, starts[index]..<min(starts[index] + size, total), of: total, etag, into: file, at: place)
        }
        return total
    }

    /// - Parameter total: What the object has in all, where that is known.
    /// - Returns: That.
    private func fetch(
        _ key: String, _ range: Range<Int64>, of total: Int64?, _ etag: String?, into file: Int32, at place: Int64
    ) async throws(S3Error) -> Int64 {
        let host = address.host
        return try await send(reading(key, range, of: etag)) { answer in
            guard answer.status == .partialContent else {
                throw S3Error.malformedAnswer(reason: "it isn't the range that was asked for")
            }
            let part = try ContentRange(answer, within: range)
            guard total == nil || part.total == total else {
                throw S3Error.malformedAnswer(reason: "the object changed while it was read")
            }
            var next = part.range.lowerBound
            var gathered = ByteBuffer()
            for try await piece in answer.body {
                gathered.writeImmutableBuffer(piece)
                guard next + Int64(gathered.readableBytes) <= part.range.upperBound else {
                    throw S3Error.malformedAnswer(reason: "it has more bytes than it says")
                }
                guard gathered.readableBytes >= 256 << 10 else { continue }
                try await Self.write(gathered, to: file, at: place + next, of: place + part.total)
                next += Int64(gathered.readableBytes)
                gathered = ByteBuffer()
            }
            try await Self.write(gathered, to: file, at: place + next, of: place + part.total)
            guard next + Int64(gathered.readableBytes) == part.range.upperBound else {
                throw S3Error.brokenConnection(host: host)
            }
            return part.total
        }
    }

    private static func write(
        _ bytes: ByteBuffer, to file: Int32, at place: Int64, of whole: Int64
    ) async throws(S3Error) {
        try await BlockingWork.run { () throws(S3Error) in
            var written = 0
            while written < bytes.readableBytes {
                let count = unsafe bytes.withUnsafeReadableBytes {
                    unsafe pwrite(
                        file, $0.baseAddress?.advanced(by: written), $0.count - written, off_t(place) + off_t(written))
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else {
                    let error = SystemError("write a source's copy")
                    throw error.isOutOfSpace ? .noRoom(needed: whole) : .file(error)
                }
                written += count
            }
        }
    }
}
