import API
import SatchelCore
import Glibc

/// A listening socket passed by the service manager: socket activation, as in sd_listen_fds(3).
struct PassedSocket: Sendable, CustomStringConvertible {
    enum Place: Hashable, Sendable {
        case network(ListenAddress)
        /// A path in the file system, or an abstract address that starts with `@`.
        case local(String)
    }

    let descriptor: Int32
    let place: Place

    var description: String {
        switch place {
        case .network(let address): address.description
        case .local(let path): path
        }
    }

    /// Whether only programs on this machine can connect.
    var isLocal: Bool {
        switch place {
        case .network(let address): address.isLoopback
        case .local: true
        }
    }

    /// The number of the first passed descriptor.
    private static let firstDescriptor: Int32 = 3

    /// Returns the sockets meant for this process, and keeps child processes from inheriting them.
    static func all(in environment: [String: String]) throws(CommandFailure) -> [PassedSocket] {
        guard environment["LISTEN_PID"] == "\(getpid())", let text = environment["LISTEN_FDS"], let count = Int32(text),
            (0...1024).contains(count)
        else { return [] }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        var sockets: [PassedSocket] = []
        for offset in 0..<count {
            let descriptor = firstDescriptor + offset
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, let place = place(of: descriptor) else {
                let name = names.indices.contains(Int(offset)) ? " '\(names[Int(offset)])'" : ""
                throw CommandFailure(
                    "descriptor \(descriptor)\(name), passed by LISTEN_FDS, is not a listening stream socket. In a .socket unit, use ListenStream= with Accept=no.",
                    status: .usage)
            }
            sockets.append(PassedSocket(descriptor: descriptor, place: place))
        }
        return sockets
    }

    /// Returns the address of a listening stream socket; `nil` for any other descriptor.
    private static func place(of descriptor: Int32) -> Place? {
        guard option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN, of: descriptor) == 1
        else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Place? in
                guard unsafe getsockname(descriptor, address, &length) == 0 else { return nil }
                if unsafe Int32(address.pointee.sa_family) == AF_UNIX {
                    let header = MemoryLayout<sa_family_t>.size
                    let bytes = unsafe UnsafeRawBufferPointer(start: address, count: Int(length)).dropFirst(header)
                    let path = unsafe String(decoding: bytes.drop { $0 == 0 }.prefix { $0 != 0 }, as: UTF8.self)
                    return .local(unsafe bytes.first == 0 ? "@" + path : path)
                }
                var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
                let known = unsafe getnameinfo(
                    address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                    NI_NUMERICHOST | NI_NUMERICSERV)
                guard known == 0, let number = Int(text(port)) else { return nil }
                return .network(ListenAddress(host: text(host), port: number))
            }
        }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
