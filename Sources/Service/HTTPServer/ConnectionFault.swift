/// Why a connection was ended early, as whoever answers a request on it sees it.
package enum ConnectionFault: Error, Hashable, Sendable {
    /// The client left, or what it sent is no HTTP, before the whole body was here.
    case bodyIncomplete
    /// The body came too slowly.
    case bodyTooSlow
}
