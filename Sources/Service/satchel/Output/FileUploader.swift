import AsyncHTTPClient
import SatchelCore
import Foundation
import Ingest
import NIOCore
import NIOHTTP1
import Platform

/// Sends a file to an upload's URL by Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload), and resumes at the
/// service's offset until the upload is complete.
struct FileUploader: Sendable {
    /// The number of bytes read at once.
    private static let pieceBytes = 256 << 10
    private static let longestPause: Duration = .seconds(10)

    /// A rejection that a retry would not change.
    private struct Refused: Error {
        var sentence: String
    }

    private let file: FileHandle
    private let url: String
    private let patience: Duration

    init(_ file: FileHandle, to url: String, patience: Duration) {
        self.file = file
        self.url = url
        self.patience = patience
    }

    /// - Returns: The job that was submitted for it, if any.
    func run(_ client: HTTPClient) async throws -> String? {
        let length = Int64(try file.seekToEnd())
        var reached: Int64 = -1
        var pause: Duration = .milliseconds(200)
        var end = ContinuousClock.now + patience
        while true {
            let reason: String
            do {
                let offset = try await offset(client)
                guard offset <= length else {
                    throw Refused(
                        sentence:
                            "the service has received more bytes than the file has. Send the file that the upload was started with."
                    )
                }
                if offset > reached {
                    reached = offset
                    pause = .milliseconds(200)
                    end = .now + patience
                }
                return try await send(client, from: offset, of: length)
            } catch let refused as Refused {
                throw CommandFailure(refused.sentence)
            } catch let failure as CommandFailure {
                reason = failure.sentence
            } catch {
                try Task.checkCancellation()
                reason = FetchFailure.reason(error)
            }
            guard .now + pause < end else {
                throw CommandFailure("the upload makes no progress: \(reason)", status: .unavailable)
            }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func offset(_ client: HTTPClient) async throws -> Int64 {
        var request = HTTPClientRequest(url: url)
        request.method = .HEAD
        let response = try await client.execute(request, timeout: .seconds(60))
        guard let offset = response.headers.first(name: "Upload-Offset").flatMap({ Int64($0) }) else {
            throw refusal(response.status, "")
        }
        return offset
    }

    private func send(_ client: HTTPClient, from offset: Int64, of length: Int64) async throws -> String? {
        var request = HTTPClientRequest(url: url)
        request.method = .PATCH
        request.headers = [
            "Upload-Offset": "\(offset)", "Upload-Complete": "?1", "Content-Type": "application/partial-upload",
        ]
        request.body = .stream(pieces(from: offset, to: length), length: .known(length - offset))
        let response = try await client.execute(request, deadline: .distantFuture)
        let body = try await response.body.collect(upTo: 64 << 10)
        guard response.headers.first(name: "Upload-Complete") == "?1" else {
            throw refusal(response.status, String(buffer: body))
        }
        return response.headers.first(name: "Satchel-Job")
    }

    /// Returns a ``CommandFailure`` if a retry may help, and otherwise a ``Refused``.
    private func refusal(_ status: HTTPResponseStatus, _ body: String) -> any Error {
        let detail = (try? JSONDecoder().decode(Detail.self, from: Data(body.utf8)))?.detail
        if status == .notFound {
            return Refused(sentence: "there is no upload at this URL; it may have expired. Request a new one.")
        }
        let sentence = "the service answered \(status.code)" + (detail.map { ": \($0)" } ?? ".")
        let mayPass = [408, 409, 429].contains(status.code) || status.code >= 500
        return mayPass ? CommandFailure(sentence) : Refused(sentence: sentence)
    }

    private struct Detail: Decodable {
        var detail: String
    }

    private func pieces(from start: Int64, to end: Int64) -> AsyncThrowingStream<ByteBuffer, any Error> {
        let next = NextPiece(at: start)
        return AsyncThrowingStream {
            let from = next.take(upTo: end, by: Int64(Self.pieceBytes))
            guard from < end else { return nil }
            return try await BlockingWork.run { [file] in
                try file.seek(toOffset: UInt64(from))
                let count = Int(min(Int64(Self.pieceBytes), end - from))
                guard let bytes = try file.read(upToCount: count), bytes.count == count else {
                    throw Refused(sentence: "the file became shorter while it was read.")
                }
                return ByteBuffer(bytes: bytes)
            }
        }
    }
}

/// The offset of the next piece of a file. Not safe for concurrent calls.
private final class NextPiece: @unchecked Sendable {
    private var offset: Int64

    init(at offset: Int64) {
        self.offset = offset
    }

    func take(upTo end: Int64, by bytes: Int64) -> Int64 {
        defer { offset = min(offset + bytes, end) }
        return offset
    }
}
