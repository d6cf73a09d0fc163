import Glibc
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import Platform
import SatchelCore
internal import Stores

/// Notes when requests were read, so that the records refuse those that are too old.
struct ReadingMiddleware: RouterMiddleware {
    let records: RecordStore

    @concurrent func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        // Bytes of an upload that arrived are kept, whatever became of their client: offsets protect newer ones.
        let isUploadOfBytes = request.uri.path.hasPrefix("/u/") && request.method != .delete
        guard ![.get, .head, .options].contains(request.method), !isUploadOfBytes else {
            return try await next(request, context)
        }
        let reading = try await RequestReading { [records, channel = context.channel] in
            records.time - (try await channel.silence)
        }
        return try await RequestReading.$current.withValue(reading) { try await next(request, context) }
    }
}

extension Channel {
    /// How long ago the last byte of a client arrived that has closed its side; zero while that is open.
    ///
    /// The kernel knows this even if the process was paused.
    ///
    /// - Throws: If the client reset the connection.
    fileprivate var silence: Duration {
        get async throws {
            // Without TCP, such as on a socket of this machine, the kernel doesn't know.
            let found = try? await (self as? any SocketOptionProvider)?.getTCPInfo()
                .map { (state: $0.tcpi_state, age: $0.tcpi_last_data_recv) }.get()
            guard isActive, found?.state != UInt8(TCP_CLOSE) else { throw ConnectionFault.bodyIncomplete }
            guard let found, found.state != UInt8(TCP_ESTABLISHED) else { return .zero }
            return .milliseconds(Int(found.age))
        }
    }
}
