import Foundation
import Glibc

/// A socket that listens on 127.0.0.1 alone, at a port of the kernel's choice, until the program ends.
struct LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter backlog: Connections that may wait to be accepted.
    init(backlog: Int32) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && listen(listener, backlog) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard bound else { throw CommandFailure(command: ["listen"], reason: "127.0.0.1 cannot be listened on") }
        port = UInt16(bigEndian: place.sin_port)
        descriptor = listener
    }

    /// Hands every connection to `answer`, which closes it, on a thread of the listener's own.
    func serve(_ answer: @escaping @Sendable (Int32) -> Void) {
        Thread.detachNewThread { [descriptor] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { continue }
                answer(connection)
            }
        }
    }
}
