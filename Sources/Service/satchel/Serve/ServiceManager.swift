import SatchelCore
import Dispatch
import Glibc
import Logging

/// Who started the service and wants to hear how it is, as systemd does: sd_notify(3), sd_watchdog_enabled(3).
final class ServiceManager: Sendable {
    enum Message {
        /// It takes requests.
        case ready(String)
        /// It takes no more, and ends within that time.
        case stopping(within: Duration)
        /// It works, and isn't just there.
        case alive

        var text: String {
            switch self {
            case .ready(let place): "READY=1\nSTATUS=Listening on \(place)"
            case .stopping(let limit):
                """
                STOPPING=1
                STATUS=Finishing what is underway
                EXTEND_TIMEOUT_USEC=\(Int(limit.inSeconds * 1e6))
                """
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// What the environment tells of it, and of the sockets that it passes: for this process alone.
    static let variables = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
    ]

    /// After so long without ``Message/alive`` it takes the service for dead; nil where it doesn't care.
    let patience: Duration?
    private let socket: Descriptor
    private let address: [UInt8]
    // Where it can't keep up, whoever tells it waits.
    private let queue = DispatchQueue(label: "satchel.service-manager")
    private let logger: Logger

    /// Nil where nobody wants to hear.
    init?(_ environment: [String: String], logger: Logger) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return nil }
        // The first byte of an abstract address is 0.
        var bytes = Array(path.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard [0, UInt8(ascii: "/")].contains(bytes[0]), bytes.count < 108, number >= 0 else {
            logger.warning("the service manager can't be told anything", metadata: ["socket": "\(path)"])
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

    /// In the order of the calls; nobody waits for it.
    func notify(_ message: Message) {
        queue.async { [self] in
            let text = message.text
            let sent = unsafe address.withUnsafeBytes { address in
                unsafe send(text, to: address.baseAddress?.assumingMemoryBound(to: sockaddr.self))
            }
            guard sent < 0 else { return }
            logger.warning(
                "the service manager can't be told",
                metadata: ["message": "\(text)", "reason": "\(SystemErrorText.current)"])
        }
    }

    private func send(_ text: String, to address: UnsafePointer<sockaddr>?) -> Int {
        unsafe sendto(
            socket.number, text, text.utf8.count, Int32(MSG_NOSIGNAL), address, socklen_t(self.address.count))
    }

    /// Programs that are started from now on don't take themselves for the service.
    static func forget() {
        for name in variables { unsafe unsetenv(name) }
    }
}
