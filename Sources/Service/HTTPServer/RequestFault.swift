package import HTTPTypes
package import NIOCore

/// What is wrong with a request so that the connection answers it itself, and ends. Its words are the application's.
package enum RequestFault: Hashable, Sendable, CaseIterable {
    /// What came is no HTTP/1.1.
    case notHTTP
    /// The request line and headers are too long, or too many.
    case headersTooLarge
    /// The request came too slowly or not to its end.
    case tooSlow
    /// `Content-Length` is no number.
    case invalidLength
    /// The length of the body is said more than once.
    case ambiguousLength
    /// Another transfer encoding than `chunked`.
    case unknownTransferEncoding
    /// `Transfer-Encoding` before HTTP/1.1.
    case unexpectedTransferEncoding
    /// No `Host`, or several.
    case invalidHost
    /// `CONNECT`.
    case proxyRequest
    /// `Expect` says something else than `100-continue`.
    case unknownExpectation
    /// The method is none.
    case invalidRequestLine
}

/// What the connection answers where it answers itself: a response without `Content-Length` and `Date`, and its body.
package typealias Refusals = @Sendable (RequestFault) -> (HTTPResponse, ByteBuffer)
