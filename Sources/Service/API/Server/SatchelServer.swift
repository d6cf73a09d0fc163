public import HTTPServer
import Hummingbird
import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle

/// Where the service listens.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A host name or an address; IPv6 without brackets.
    public var host: String
    /// 0 for any that is free.
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The service on a socket: connections with their limits, TLS where there is a certificate, and the whole API.
///
/// Run as a part of a `ServiceGroup`. On its graceful shutdown no more connections are taken, idle ones are closed,
/// requests that are being answered get `grace` to finish, and whatever is open then is cut.
public struct SatchelServer: ServiceLifecycle.Service {
    private static let group = MultiThreadedEventLoopGroup.singleton

    private let service: Service
    private let preview: LivePreview?
    private let places: [Listener.Place]
    private let tls: ReloadingCertificate?
    private let grace: Duration
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - sockets: Stream sockets that somebody listens on for the service already, which then owns them; where there are
    ///     some, nothing is done about `listen`.
    ///   - preview: Is served, with content, in the API's place.
    ///   - tls: The certificate and key; nil for plain HTTP.
    ///   - grace: For requests that are being answered when the service stops.
    ///   - onListening: Called with the port once it is listened on.
    /// - Throws: ``TLSFiles/Unusable`` where the certificate or key can't be used.
    public init(
        _ service: Service, preview: LivePreview? = nil, listen: ListenAddress, sockets: [Int32] = [],
        tls: TLSFiles? = nil, grace: Duration = .seconds(20), onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(TLSFiles.Unusable) {
        self.service = service
        self.preview = preview
        self.places = sockets.isEmpty ? [.address(host: listen.host, port: listen.port)] : sockets.map { .socket($0) }
        self.grace = grace
        self.logger = service.logger
        self.onListening = onListening
        if let tls {
            self.tls = try ReloadingCertificate(tls, logger: service.logger)
        } else {
            self.tls = nil
        }
    }

    /// Listens and answers until the shutdown.
    public func run() async throws {
        let loopStates = try await EventLoopStates(group: Self.group) { [service] loop in
            ContentResponder(loop: loop, service: service)
        }
        let responder = (preview?.routes() ?? routes(of: service)).buildResponder()
        let connections = ConnectionChannel(
            responder: { [logger] request, writer, channel in
                let context = ServiceContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                let response = try await responder.respond(to: request, context: context)
                try await writer.write(response: response.head, body: response.body)
            },
            limits: service.settings.connections, loopStates: loopStates, tls: tls, grace: grace,
            refusals: { fault in
                let problem = Problem(fault)
                return (problem.response.head, ByteBuffer(bytes: problem.body))
            })
        let listener = Listener(
            connections, at: places, group: Self.group, logger: logger,
            onListening: { [onListening] in onListening($0?.port ?? 0) })
        let services: [any ServiceLifecycle.Service] = [tls].compactMap(\.self) + [listener]
        try await ServiceGroup(services: services, logger: logger).run()
    }

    /// Returns once every event loop has had a turn, which one that hangs never has.
    public static func turnOfEveryLoop() async throws {
        for loop in group.makeIterator() { try await loop.submit {}.get() }
    }
}
