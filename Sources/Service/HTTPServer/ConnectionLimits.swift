/// How long and how much a connection may keep the server busy. Hummingbird has no idle timeout of its own, and each piece
/// of a body would start it anew.
public struct ConnectionLimits: Hashable, Sendable {
    /// Connections at once; more are closed as they come.
    public var connections = 4096
    /// For the request line and all headers.
    public var header: Duration = .seconds(10)
    /// Bytes of the request line and all headers.
    public var headerBytes = 32 << 10
    public var headerFields = 100
    /// Between two requests.
    public var idle: Duration = .seconds(60)
    /// Bytes per second that a body must keep up, averaged over ``rateWindow``.
    public var minimumRate = 4096
    public var rateWindow: Duration = .seconds(10)
    /// For a whole request body.
    public var body: Duration = .seconds(900)
    /// For a whole response, at ``minimumRate`` at the least.
    public var response: Duration = .seconds(3600)
    /// For a client to read the answer to a request that was refused before it ended, or to get its answer after it
    /// closed its own side.
    public var linger: Duration = .seconds(2)

    public init() {}
}
