import SatchelCore
import Dispatch
import Glibc
import Logging
import Synchronization

/// Notifies a service manager such as systemd: sd_notify(3), sd_watchdog_enabled(3).
final class ServiceManager: Sendable {
    enum Message {
        /// The service accepts requests at this address.
        case ready(String)
        /// The service reads its settings again; ``ready(_:)`` follows.
        case reloading
        /// The service accepts no more requests and ends within this time.
        case stopping(within: Duration)
        /// The service is responsive.
        case alive

        var text: String {
            switch self {
            case .ready(let place): "READY=1\nSTATUS=Listening on \(place)"
            case .reloading: "RELOADING=1\nSTATUS=Reading the settings"
            case .stopping(let limit):
                """
                STOPPING=1
                STATUS=Finishing running jobs
                EXTEND_TIMEOUT_USEC=\(Int(limit.inSeconds * 1e6))
                """
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// Environment variables of the service manager, meant for this process only.
    static let variables = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
    ]

    /// The time without ``Message/alive`` after which the manager restarts the service; `nil` if there is no watchdog.
    let patience: Duration?
    private let socket: Descriptor
    private let address: [UInt8]
    // Sending may block if the manager is slow.
    private let queue = DispatchQueue(label: "satchel.service-manager")
    private let logger: Logger

    /// Fails if there is no service manager to notify.
    init?(_ environment: [String: String], logger: Logger) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return nil }
        // An abstract address starts with a zero byte.
        var bytes = Array(path.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard [0, UInt8(ascii: "/")].contains(bytes[0]), bytes.count < 108, number >= 0 else {
            logger.warning("cannot notify the service manager", metadata: ["socket": "\(path)"])
            if number >= 0 { close(number) }
            return nil
        }
        socket = Descriptor(owning: number)
        address = unsafe withUnsafeBytes(of: sa_family_t(AF_UNIX)) { unsafe Array($0) } + bytes
        self.logger = logger
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        patience = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap {
            isMeant && $0 > 0 ? .microseconds($0) : nil
        }
    }

    /// What ``reload(_:)`` ends with.
    private let ready = Mutex<Message?>(nil)

    /// Tells the manager of a reload, before and after it.
    func reload(_ body: () -> Void) {
        notify(.reloading)
        body()
        if let ready = ready.withLock(\.self) { notify(ready) }
    }

    /// Sends messages in the order of the calls, without blocking.
    func notify(_ message: Message) {
        if case .ready = message { ready.withLock { $0 = message } }
        queue.async { [self] in
            let text = message.text
            let sent = unsafe address.withUnsafeBytes { address in
                unsafe send(text, to: address.baseAddress?.assumingMemoryBound(to: sockaddr.self))
            }
            guard sent < 0 else { return }
            logger.warning(
                "cannot notify the service manager",
                metadata: ["message": "\(text)", "reason": "\(SystemErrorText.current)"])
        }
    }

    private func send(_ text: String, to address: UnsafePointer<sockaddr>?) -> Int {
        unsafe sendto(
            socket.number, text, text.utf8.count, Int32(MSG_NOSIGNAL), address, socklen_t(self.address.count))
    }

    /// Keeps child processes from acting as the service.
    static func forget() {
        for name in variables { unsafe unsetenv(name) }
    }
}
