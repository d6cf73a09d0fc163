package import HTTPTypes
package import NIOCore

/// An answer before the answer (a status of 1xx), to the request that is being answered on a connection. Where nobody waits for
/// it any more, or the client is one of HTTP/1.0, which knows none, nothing is sent.
package struct InterimResponse: Sendable {
    let head: HTTPResponse

    /// - Precondition: The status is informational.
    package init(_ head: HTTPResponse) {
        precondition(head.status.kind == .informational, "no interim response")
        self.head = head
    }

    /// Sends it at once. Whoever answers a request sends none when the answer has been written to its end: the connection may
    /// have gone on to the next request by then.
    package func send(on channel: any Channel) async {
        // A connection that is no more needs none.
        try? await channel.triggerUserOutboundEvent(self)
    }
}
