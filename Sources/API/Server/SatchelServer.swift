public import HTTPServer
import Hummingbird
import HummingbirdCore
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
    private let service: Service
    private let listen: ListenAddress
    private let tls: ReloadingCertificate?
    private let grace: Duration
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - tls: The certificate and key; nil for plain HTTP.
    ///   - grace: For requests that are being answered when the service stops.
    ///   - onListening: Called with the port once it is listened on.
    /// - Throws: ``TLSFiles/Unusable`` where the certificate or key can't be used.
    public init(
        _ service: Service, listen: ListenAddress, tls: TLSFiles? = nil, grace: Duration = .seconds(20),
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(TLSFiles.Unusable) {
        self.service = service
        self.listen = listen
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
        let group = MultiThreadedEventLoopGroup.singleton
        let loopStates = try await EventLoopStates(group: group) { [service] loop in
            ContentResponder(loop: loop, service: service)
        }
        let limits = service.settings.connections
        let application = Application(
            router: routes(of: service),
            server: HTTPServerBuilder { [tls, grace] responder in
                ConnectionChannel(
                    responder: responder, limits: limits, loopStates: loopStates, tls: tls, grace: grace,
                    refusals: { fault in
                        let problem = Problem(fault)
                        return (problem.response.head, ByteBuffer(bytes: problem.body))
                    })
            },
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port), serverName: nil, backlog: 1024),
            services: [tls].compactMap(\.self),
            onServerRunning: { [onListening] channel in onListening(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(group), logger: logger)
        try await application.run()
    }
}
