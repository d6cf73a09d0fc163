import SatchelCore
import HTTPTypes
import Hummingbird
import Jobs

/// An upload by a request that knows no protocol for it: `curl -T`. With `Content-Range` (as `curl -C` sends it) it goes on
/// where it was.
struct PlainUpload: Sendable {
    let exchange: UploadExchange

    func answer() async throws -> Response {
        let range = try contentRange()
        let announced = IncomingBody.announced(by: exchange.request)
        let offset = range?.first ?? 0
        if offset == 0, exchange.upload.offset > 0 { throw UploadFailure.otherOffset(exchange.upload) }
        let length = range == nil ? announced : range?.whole
        if let length, length > exchange.longest { throw Problem.tooLong(exchange.longest) }
        let checksum = exchange.contentDigest
        let record = try await exchange.append(
            UploadAppend(
                offset: offset, length: length, longest: exchange.longest,
                // A whole body ends with the request; a part of one where the whole has its length.
                completes: range == nil ? true : nil, checksum: checksum, description: exchange.description),
            limit: exchange.limit(of: checksum))
        guard record.state != .open else {
            return Response(status: .noContent, headers: UploadExchange.facts(of: record))
        }
        return try exchange.whole(record)
    }

    /// `bytes 1000-4999/5000`, or `bytes 1000-4999/*`.
    private func contentRange() throws(Problem) -> (first: Int64, whole: Int64?)? {
        guard let text = exchange.header(.contentRange) else { return nil }
        let parts = text.split(separator: " ")
        let ends = parts.count == 2 && parts[0].lowercased() == "bytes" ? parts[1].split(separator: "/") : []
        let places = ends.first?.split(separator: "-") ?? []
        guard ends.count == 2, places.count == 2, let first = Int64(places[0]), let last = Int64(places[1]),
            first >= 0, last >= first, ends[1] == "*" || (Int64(ends[1]).map { $0 > last } ?? false)
        else { throw .invalid("Content-Range", "Must be a range such as 'bytes 1000-4999/5000'.") }
        return (first, Int64(ends[1]))
    }
}
