import SatchelCore
import Glibc
import NIOPosix
import Platform

/// Resolves host names with the system's name service.
enum NameResolver {
    // Of its own, so that names that take long don't keep files from being written; with so many threads that a few
    // name servers that never answer don't hold up the others. Lives as long as the process.
    private static let threads: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 16)
        pool.start()
        return pool
    }()

    /// All addresses of a name, in the order in which the system would try them (RFC 6724).
    ///
    /// A cancelled caller gets its answer at once; the query itself can't be called back and ends by itself.
    static func addresses(of host: String) async throws -> [IPAddress] {
        let answer = Promise<[IPAddress]>()
        threads.submit { state in
            answer.make(state == .active ? Result { try lookUp(host) } : .failure(CancellationError()))
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.make(.failure(CancellationError()))
        }
    }

    private static func lookUp(_ host: String) throws(AttachmentError) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            throw .fetchFailed(
                .dns,
                reason: status == EAI_AGAIN
                    ? "the host name can't be resolved at the moment" : "the host name has no address")
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = unsafe list
        while let info = unsafe next {
            if let address = unsafe IPAddress(info.pointee), !addresses.contains(address) { addresses.append(address) }
            unsafe next = info.pointee.ai_next
        }
        return addresses
    }
}

extension IPAddress {
    /// Nil for families other than IPv4 and IPv6.
    fileprivate init?(_ info: addrinfo) {
        guard let raw = unsafe UnsafeRawPointer(info.ai_addr) else { return nil }
        switch unsafe info.ai_family {
        case AF_INET:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self = .v4(UInt32(bigEndian: address.sin_addr.s_addr))
        case AF_INET6:
            self = unsafe IPAddress(raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default: return nil
        }
    }
}
