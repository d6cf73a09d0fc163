import API
import SatchelCore
import Glibc

/// Finds and checks unused ports.
enum FreePort {
    /// Returns the port of an address, or a free one where that is 0.
    ///
    /// - Throws: ``CommandFailure`` if the address can't be listened on.
    static func bound(_ address: ListenAddress) throws -> Int {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let first = unsafe found else {
            throw CommandFailure(
                "the host '\(address.host)' is unknown. Listen on an address of this machine.", status: .usage)
        }
        defer { unsafe freeaddrinfo(first) }
        let number = unsafe socket(first.pointee.ai_family, first.pointee.ai_socktype, 0)
        guard number >= 0 else {
            throw CommandFailure("a socket can't be created: \(SystemErrorText.current).", status: .unavailable)
        }
        let socket = Descriptor(owning: number)
        // Like the server, so that closed connections do not block the port.
        var isReused: Int32 = 1
        unsafe setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(socket.number, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            throw CommandFailure(
                "\(address) can't be listened on: \(SystemErrorText.current). Choose another address or port with --listen, or stop the program that uses it.",
                status: .unavailable)
        }
        var own = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &own) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(socket.number, $0, &length)
            }
        }
        guard isKnown == 0 else {
            throw CommandFailure("no free port can be found: \(SystemErrorText.current).", status: .unavailable)
        }
        // The port has the same offset in both address families.
        return Int(UInt16(bigEndian: own.sin6_port))
    }
}
