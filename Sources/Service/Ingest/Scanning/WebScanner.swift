import AsyncHTTPClient
public import SatchelCore
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Platform

/// A scanner over HTTP: it is sent the source by POST, and answers `{"verdict": "yes" | "no", "reason": "…"}`, `yes` to have
/// it delivered.
public struct WebScanner: SourceScanner {
    /// Bytes of an answer; a longer one is none.
    private static let answerLimit = 64 << 10
    private static let connectLimit: Duration = .seconds(5)

    private let client: GuardedClient
    private let url: FetchURL
    private let limit: Duration

    /// - Parameters:
    ///   - url: The operator's: it may lead anywhere.
    ///   - limit: For the request and its answer.
    ///   - userAgent: Such as `Satchel/1.0`.
    ///   - resolve: Stands in for the system's name service.
    /// - Throws: `invalid_source` for what is no URL of a web server.
    public init(
        at url: String, limit: Duration, userAgent: String, resolve: Fetcher.Resolve? = nil
    ) throws(AttachmentError) {
        let url = try FetchURL(url)
        let allowance: FetchAllowance
        do {
            // Host and port of the origin.
            allowance = try FetchAllowance(String(url.origin.drop { $0 != "/" }.dropFirst(2)))
        } catch {
            throw .invalidSource(reason: error.remedy)
        }
        self.url = url
        self.limit = limit
        client = GuardedClient(
            guardedBy: FetchGuard(allowing: [allowance]), userAgent: userAgent, resolve: resolve, keepsConnections: true
        )
    }

    public func verdict(on source: ScannedSource) async throws(ScanFailure) -> ScanVerdict {
        do {
            let answer = try await client.send(to: url, connect: min(Self.connectLimit, limit), time: limit) {
                request in
                request.method = .POST
                request.headers.replaceOrAdd(name: "Content-Type", value: "application/octet-stream")
                request.headers.replaceOrAdd(name: "Satchel-Tenant", value: source.subject.tenant.rawValue)
                request.headers.replaceOrAdd(name: "Satchel-Job", value: source.subject.job.rawValue)
                request.headers.replaceOrAdd(name: "Satchel-Attachment", value: source.subject.attachment.rawValue)
                request.body = .stream(
                    source.pieces.map { ByteBuffer(bytes: $0) }, length: .known(source.bytes))
            } read: { response in
                try await Self.answer(response)
            }
            switch answer.verdict {
            case "no": return .rejected(for: answer.reason ?? "")
            case "yes" where source.isRead: return .clean
            case "yes": throw ScanFailure.early
            default: throw ScanFailure.answered(answer.verdict)
            }
        } catch let failure as ScanFailure {
            throw failure
        } catch {
            throw ScanFailure(FetchFailure.reason(error))
        }
    }

    private struct Answer: Decodable {
        var verdict: String
        var reason: String?
    }

    private static func answer(_ response: HTTPClientResponse) async throws -> Answer {
        guard response.status == .ok else { throw ScanFailure("it answered \(response.status.code)") }
        var body = Data()
        for try await piece in response.body {
            guard body.count + piece.readableBytes <= answerLimit else {
                throw ScanFailure("its answer has more than \(answerLimit) bytes")
            }
            body += piece.readableBytesView
        }
        guard let answer = try? JSON.decode(Answer.self, from: body) else {
            throw ScanFailure.answered(String(decoding: body, as: UTF8.self))
        }
        return answer
    }

    /// Closes what is kept. No scan may be underway.
    public func end() async {
        await client.end()
    }
}
