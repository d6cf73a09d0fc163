import NIOHTTP1
import Testing

@testable import HTTPServer

/// What a request's head says of its body and its connection.
@Suite struct RequestFramingTests {
    private static func framing(
        _ headers: [(String, String)], _ method: HTTPMethod = .POST, version: HTTPVersion = .http1_1, uri: String = "/"
    ) -> RequestFraming {
        RequestFraming(HTTPRequestHead(version: version, method: method, uri: uri, headers: HTTPHeaders(headers)))
    }

    @Test func `whatever two readers could understand differently is a fault`() {
        let host = ("Host", "x")
        let cases: [([(String, String)], RequestFault?)] = [
            ([host], nil), ([], .invalidHost), ([host, ("HOST", "y")], .invalidHost),
            ([host, ("content-LENGTH", "5")], nil), ([host, ("Transfer-Encoding", "Chunked")], nil),
            ([host, ("Content-Length", "5"), ("Content-Length", "5")], .ambiguousLength),
            ([host, ("Content-Length", "5"), ("Transfer-Encoding", "chunked")], .ambiguousLength),
            ([host, ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], .ambiguousLength),
            ([host, ("Transfer-Encoding", "gzip, chunked")], .unknownTransferEncoding),
            ([host, ("Transfer-Encoding", "identity")], .unknownTransferEncoding),
            ([host, ("Expect", "cake")], .unknownExpectation), ([host, ("Expect", "100-Continue")], nil),
        ]
        for (headers, fault) in cases { #expect(Self.framing(headers).fault == fault, "\(headers)") }
        for length in ["", "-1", "+5", "5, 5", "0x5", "5 ", "99999999999999999999999", "٣"] {
            #expect(Self.framing([host, ("Content-Length", length)]).fault == .invalidLength, "\(length)")
        }
        #expect(Self.framing([host], .CONNECT).fault == .proxyRequest)
        let chunked = ("Transfer-Encoding", "chunked")
        #expect(Self.framing([chunked], version: .http1_0).fault == .unexpectedTransferEncoding)
        // HTTP/1.0 knows neither.
        #expect(Self.framing([("Expect", "cake")], version: .http1_0).fault == nil)
    }

    @Test func `a body's length, and whether the client waits to send it`() {
        let host = ("Host", "x")
        let expect = ("Expect", "100-continue")
        #expect(Self.framing([host]).length == 0)
        #expect(Self.framing([host, ("Content-Length", "70000")]).length == 70_000)
        #expect(Self.framing([host, ("Transfer-Encoding", "chunked")]).length == nil)
        #expect(Self.framing([host, ("Content-Length", "5"), expect]).awaitsContinue)
        #expect(Self.framing([host, ("Transfer-Encoding", "chunked"), expect]).awaitsContinue)
        #expect(!Self.framing([host, ("Content-Length", "0"), expect]).awaitsContinue)
        #expect(!Self.framing([host, ("Content-Length", "5"), expect], version: .http1_0).awaitsContinue)
        #expect(Self.framing([host, ("Upgrade", "websocket")]).wantsUpgrade)
    }

    @Test(
        arguments: [
            ("/a?b", nil), ("http://x/a?b", "/a?b"), ("HTTPS://x:1/a", "/a"), ("http://x", "/"), ("http://x?b", "/?b"),
            ("*", nil), ("ftp://x/a", nil), ("x:443", nil),
        ] as [(String, String?)])
    func `a target in absolute form has its path and query`(target: String, originForm: String?) {
        #expect(Self.framing([("Host", "x")], uri: target).originForm == originForm)
    }
}
