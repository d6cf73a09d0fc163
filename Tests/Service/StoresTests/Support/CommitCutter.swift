import Foundation
import Glibc
import Synchronization
import TestSupport

/// Stands between a pool and PostgreSQL's server. When it is told to, it lets the next commit happen and closes the
/// connection in the place of its answer.
final class CommitCutter: Sendable {
    let port: Int
    private let listener: Int32
    private let state = Mutex((wanted: false, cuts: 0))

    init(to server: Int) throws {
        port = try FreePort.find()
        listener = try unsafe Self.socket(at: port) { unsafe bind($0, $1, $2) }
        guard listen(listener, 64) == 0 else { throw Failure() }
        let listener = listener
        Foundation.Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let cutter = self else { return }
                guard let back = try? unsafe Self.socket(at: server, { unsafe connect($0, $1, $2) }) else {
                    close(client)
                    continue
                }
                Foundation.Thread.detachNewThread { cutter.pass(between: client, and: back) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private struct Failure: Error {}

    /// Cuts the answer to the next commit.
    func cutNext() {
        state.withLock { $0.wanted = true }
    }

    /// Answers that were cut.
    var cuts: Int { state.withLock { $0.cuts } }

    private func pass(between client: Int32, and server: Int32) {
        defer { for end in [client, server] { close(end) } }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&ends, 2, -1) > 0 || errno == EINTR {
            for (index, end) in ends.enumerated() where end.revents != 0 {
                let count = unsafe read(end.fd, &buffer, buffer.count)
                guard count > 0 else { return }
                // The tag of what the server did.
                if index == 1, buffer[..<count].contains("COMMIT\0".utf8), isCut() { return }
                var sent = 0
                while sent < count {
                    let written = unsafe buffer[sent..<count].withUnsafeBytes {
                        unsafe send(ends[1 - index].fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { return }
                    sent += written
                }
            }
        }
    }

    private func isCut() -> Bool {
        state.withLock { state in
            guard state.wanted else { return false }
            state = (false, state.cuts + 1)
            return true
        }
    }

    private static func socket(
        at port: Int, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        let end = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe use(end, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(end)
            throw Failure()
        }
        return end
    }
}
