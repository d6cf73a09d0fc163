import HTTPTypes
import NIOHTTP1

/// How the end of a response is marked, and whether the connection goes on after it.
struct ResponseFraming: Hashable {
    enum Body: Hashable {
        /// By its status there is none.
        case none
        case length
        case chunks
        /// By the end of the connection.
        case untilClose
    }

    /// What the head says of the body.
    let body: Body
    /// Whether it answers `HEAD`: nothing follows the head, whatever that says.
    let toHead: Bool
    let isHTTP1_1: Bool
    let closes: Bool

    init(status: Int, hasLength: Bool, toHead: Bool, isHTTP1_1: Bool, closes: Bool) {
        body =
            if status == 204 || status == 304 {
                .none
            } else if hasLength {
                .length
            } else {
                isHTTP1_1 ? .chunks : .untilClose
            }
        self.toHead = toHead
        self.isHTTP1_1 = isHTTP1_1
        self.closes = closes || body == .untilClose
    }

    /// Of an answer that ends the connection.
    static func refusal(toHead: Bool) -> ResponseFraming {
        ResponseFraming(status: 400, hasLength: true, toHead: toHead, isHTTP1_1: true, closes: true)
    }

    var hasBody: Bool { !toHead && body != .none }

    /// Says it in the headers of a head that says its length at the most.
    func describe(in headers: inout HTTPHeaders) {
        if body == .chunks { headers.add(name: "Transfer-Encoding", value: "chunked") }
        if closes {
            headers.add(name: "Connection", value: "close")
        } else if !isHTTP1_1 {
            headers.add(name: "Connection", value: "keep-alive")
        }
    }
}

extension HTTPResponseHead {
    /// The head of a response as it is written. What the response itself says of framing and connection is overruled.
    init(_ response: HTTPResponse, _ framing: ResponseFraming) {
        var headers = HTTPHeaders()
        headers.reserveCapacity(response.headerFields.count + 2)
        for field in response.headerFields {
            switch field.name {
            case .connection, .transferEncoding: break
            case .contentLength where framing.body == .none: break
            default: headers.add(name: field.name.rawName, value: field.value)
            }
        }
        framing.describe(in: &headers)
        self.init(version: .http1_1, status: HTTPResponseStatus(response.status), headers: headers)
    }

    /// The head of an informational response, which says nothing of framing or connection.
    init(informational response: HTTPResponse) {
        let headers = response.headerFields.filter {
            $0.name != .connection && $0.name != .transferEncoding && $0.name != .contentLength
        }
        self.init(
            version: .http1_1, status: HTTPResponseStatus(response.status),
            headers: HTTPHeaders(headers.map { ($0.name.rawName, $0.value) }))
    }
}

extension HTTPResponseStatus {
    fileprivate init(_ status: HTTPResponse.Status) {
        self.init(statusCode: status.code, reasonPhrase: status.reasonPhrase)
    }
}
