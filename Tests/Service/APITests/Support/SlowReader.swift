import Foundation
import Synchronization
import TestSupport

/// A client that takes 20 kB, waits, and takes the next.
final class SlowReader: Sendable {
    private let port: Int
    private let count = Mutex(0)

    init(port: Int) {
        self.port = port
    }

    /// Bytes of the answer so far, with its head.
    var bytes: Int { count.withLock { $0 } }

    /// Bytes when the answer ended, or was cut off.
    ///
    /// - Parameters:
    ///   - target: As a request line has it.
    ///   - pause: Microseconds after each 20 kB.
    func read(_ target: String, pause: UInt32) async throws -> Int {
        try await onThread { [self] in
            let client = try RawClient(port: port, receiveBuffer: 65_536)
            client.send("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            do {
                while case let read = try client.receive(upTo: 20_000).count, read > 0 {
                    count.withLock { $0 += read }
                    usleep(pause)
                }
            } catch RawClient.Failure.reset {}
            return bytes
        }
    }
}
