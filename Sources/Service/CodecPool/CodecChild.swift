import SatchelCore
import CSandbox
import Glibc
import Platform

/// A forked and confined process that waits for a source or works on one.
final class CodecChild: Sendable {
    let id: Int
    /// Valid until the zygote relays its end.
    let process: pid_t
    let packets: PacketEnd
    let zygote: RunningZygote
    private let pidfd: Descriptor

    init(
        id: Int, process: pid_t, pidfd: consuming Descriptor, socket: consuming Descriptor, zygote: RunningZygote
    ) {
        self.id = id
        self.process = process
        self.pidfd = pidfd
        packets = PacketEnd(socket)
        self.zygote = zygote
    }

    deinit {
        kill()
    }

    /// SIGKILL; nothing happens where it is dead.
    func kill() {
        _ = sandbox_kill(pidfd.number)
    }

    /// Whether it runs.
    var isAlive: Bool {
        var polled = pollfd(fd: pidfd.number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&polled, 1, 0) == 0
    }

    /// Waits for its death; false where `moment` came first.
    func dies(before moment: ContinuousClock.Instant) async -> Bool {
        await Readiness.shared.wait(for: pidfd.number, until: moment) == .ready
    }

    /// Processor seconds so far; nil where it is dead.
    var cpuSeconds: Double? {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            return nil
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Lowers a limit from outside, where the process can't raise it again. Where the service may not (root without
    /// CAP_SYS_RESOURCE), what the process set for itself counts.
    func limit(_ resource: sandbox_resource, _ soft: UInt64, _ hard: UInt64) {
        guard isAlive else { return }
        _ = sandbox_limit(process, resource, soft, hard)
    }
}
