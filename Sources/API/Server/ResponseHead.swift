import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// How a response is written in HTTP/1.
struct ResponseHead {
    /// How its end is marked.
    enum Framing: Hashable, Sendable {
        case none
        case length
        case chunks
        /// By the end of the connection.
        case close
    }

    /// Writes the status line and all headers.
    ///
    /// - Returns: How the body is to be framed.
    static func write(
        _ response: HTTPResponse, to head: HTTPRequestHead, closing: Bool, into buffer: inout ByteBuffer
    ) -> Framing {
        buffer.writeString("HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)\r\n")
        let isInformational = response.status.kind == .informational
        let isBare = isInformational || response.status == .noContent || response.status == .notModified
        var hasLength = false
        for field in response.headerFields {
            switch field.name {
            case .connection, .transferEncoding: continue
            case .contentLength:
                if isBare { continue }
                hasLength = true
            default: break
            }
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        var framing = Framing.none
        if !isBare {
            if hasLength {
                framing = .length
            } else if head.version == .http1_1 {
                framing = .chunks
                buffer.writeStaticString("Transfer-Encoding: chunked\r\n")
            } else {
                framing = .close
            }
        }
        if !isInformational { writeConnection(head, closing: closing || framing == .close, into: &buffer) }
        buffer.writeStaticString("\r\n")
        return head.method == .HEAD ? .none : framing
    }

    static func writeConnection(_ head: HTTPRequestHead, closing: Bool, into buffer: inout ByteBuffer) {
        if closing {
            buffer.writeStaticString("Connection: close\r\n")
        } else if head.version != .http1_1 {
            buffer.writeStaticString("Connection: keep-alive\r\n")
        }
    }
}
