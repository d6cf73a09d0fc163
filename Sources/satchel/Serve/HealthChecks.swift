import API
import Attachments
import Glibc
import Intake
import Stores

/// What must be well for the service to be ready.
enum HealthChecks {
    static func all(
        of store: Store, spool: Spool, codecs: CodecPool, _ settings: ServiceSettings
    ) -> [ServiceHealth.Check] {
        [
            ServiceHealth.Check("store") {
                do {
                    _ = try await store.records.now()
                    _ = try await store.records.statistics()
                    // A disk that is read-only, full or gone shows here. What isn't committed has no name that stays.
                    var file = try spool.create()
                    try unsafe Array("1".utf8).withUnsafeBytes { try unsafe file.write($0) }
                    return nil
                } catch {
                    return (error as? AttachmentError)?.message ?? "it fails"
                }
            },
            ServiceHealth.Check("disk") {
                guard let free = Disk.freeBytes(at: store.directory) else { return "its room can't be told" }
                guard free < settings.intake.freeBytes else { return nil }
                return
                    "\(Quantity.bytes(free)) are free, less than intake.free_bytes (\(Quantity.bytes(settings.intake.freeBytes)))"
            },
            ServiceHealth.Check("queue") {
                guard let statistics = try? await store.records.statistics() else { return "it can't be looked at" }
                let pending = statistics.queues.values.reduce(0) { $0 + $1.pending }
                guard pending >= settings.intake.queue else { return nil }
                return "\(pending) jobs wait, as many as intake.queue allows"
            },
            ServiceHealth.Check("codecs") {
                await codecs.isWorking ? nil : "no codec process can be started; see 'satchel doctor'"
            },
        ]
    }
}

/// A port that nobody uses.
enum FreePort {
    static func find(on host: String) throws -> Int {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, "0", &hints, &found) == 0, let first = unsafe found else {
            throw CommandFailure("the host '\(host)' of --listen is unknown.", status: 2)
        }
        defer { unsafe freeaddrinfo(first) }
        let number = unsafe socket(first.pointee.ai_family, first.pointee.ai_socktype, 0)
        guard number >= 0 else { throw CommandFailure("no socket can be made: \(SystemErrorText.current).") }
        let socket = Descriptor(owning: number)
        guard unsafe bind(socket.number, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            throw CommandFailure("'\(host)' can't be listened on: \(SystemErrorText.current).")
        }
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(socket.number, $0, &length)
            }
        }
        guard isKnown == 0 else { throw CommandFailure("no port can be found: \(SystemErrorText.current).") }
        // The port is at the same place for both families.
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}
