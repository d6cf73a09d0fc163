internal import SatchelCore
internal import Crypto
internal import Glibc
internal import NIOCore
internal import Platform

/// Consecutive bytes of a file that nobody writes any more, to be sent as a body any number of times, piece by piece.
struct FileRegion: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let file: ScratchFile
    let range: Range<Int64>

    /// Bytes of a piece.
    private static let piece: Int64 = 256 << 10

    /// SHA-256 in lower-case hexadecimal.
    ///
    /// - Throws: `file`.
    func digest() async throws(S3Error) -> String {
        try await BlockingWork.run { () throws(S3Error) in
            var hash = SHA256()
            var next = range.lowerBound
            while next < range.upperBound {
                let piece = try read(at: next)
                unsafe piece.withUnsafeReadableBytes { unsafe hash.update(bufferPointer: $0) }
                next += Int64(piece.readableBytes)
            }
            return hash.finalize().hexadecimal
        }
    }

    /// All that is left of a piece that begins there.
    private func read(at place: Int64) throws(S3Error) -> ByteBuffer {
        let count = Int(Swift.min(range.upperBound - place, Self.piece))
        var buffer = ByteBuffer()
        var failure: SystemError?
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
            var read = 0
            while read < count {
                let got = unsafe pread(
                    file.reader.number, bytes.baseAddress?.advanced(by: read), count - read, off_t(place) + off_t(read))
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = SystemError("read a file that is to be stored") }
                guard got > 0 else { break }
                read += got
            }
            return read
        }
        if let failure { throw .file(failure) }
        guard buffer.readableBytes == count else {
            throw .file(reason: "a file that is to be stored was cut", isOutOfSpace: false)
        }
        return buffer
    }

    func makeAsyncIterator() -> Iterator { Iterator(region: self, next: range.lowerBound) }

    struct Iterator: AsyncIteratorProtocol {
        let region: FileRegion
        var next: Int64

        mutating func next() async throws -> ByteBuffer? {
            guard next < region.range.upperBound else { return nil }
            let (region, place) = (region, next)
            let piece = try await BlockingWork.run { () throws(S3Error) in try region.read(at: place) }
            next += Int64(piece.readableBytes)
            return piece
        }
    }
}

extension S3Error {
    static func file(_ error: SystemError) -> S3Error {
        .file(reason: error.description, isOutOfSpace: error.isOutOfSpace)
    }
}
