internal import Glibc
internal import Synchronization

/// Stops threads that wait with `poll`, while it is set: a byte lies in its socket.
final class PollStop: Sendable {
    let descriptor: Int32
    private let writer: Int32
    private let state = Mutex(false)

    init() {
        var ends: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        _ = unsafe socketpair(AF_UNIX, Int32(type), 0, &ends)
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    var isSet: Bool { state.withLock(\.self) }

    func set(_ isSet: Bool) {
        state.withLock { state in
            guard state != isSet else { return }
            state = isSet
            var byte: UInt8 = 0
            _ = unsafe isSet ? write(writer, &byte, 1) : read(descriptor, &byte, 1)
        }
    }

    func wait(for pause: Duration) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&watched, 1, Int32(pause / .milliseconds(1)))
    }
}
