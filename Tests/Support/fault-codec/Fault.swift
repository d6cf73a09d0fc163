import SatchelCore
import FoundationEssentials
import Glibc
import FaultInjection

/// What the commands do, by the moment of the conversation.
enum Fault {
    /// While the source is identified.
    ///
    /// - Returns: What became of an attempt that the kernel answered.
    static func early(_ command: String, _ argument: String, _ source: Int32) throws(AttachmentError) -> String {
        switch command {
        case "reach": return answer(unsafe fault_reach(argument, source, socket ?? -1))
        case "null", "busy", "echo", "expensive", "nice", "rare": return "null"
        case "segv": fault_segfault()
        case "abort": abort()
        case "trap": fault_trap()
        case "exit": _exit(3)
        case "starve": startThread()
        case "kill": raise(SIGKILL)
        case "slow-segv":
            usleep(300_000)
            fault_segfault()
        case "spin": while true {}
        case "sleep": sleep(1000)
        case "eat": fault_eat_memory()
        case "open": return answer(unsafe fault_open(argument))
        case "create": return answer(unsafe fault_write_file(argument))
        case "connect": return answer(fault_connect(UInt16(argument) ?? 0))
        case "fork": return answer(fault_fork())
        case "exec": return answer(unsafe fault_exec(argument))
        case "ptrace": return answer(fault_ptrace(getppid()))
        case "ptrace-process": return answer(fault_ptrace(Int32(argument) ?? 1))
        case "signal": return answer(fault_signal(Int32(argument) ?? getppid()))
        case "peek": return answer(fault_read_memory(Int32(argument) ?? 1))
        case "limit": return answer(fault_limit(Int32(argument) ?? 1))
        case "root": return answer(fault_become_root())
        case "namespace": return answer(fault_namespace())
        case "dumpable": return answer(fault_dumpable())
        case "nonsense": send(Array("no message at all".utf8))
        case "oversize": send([UInt8](repeating: 32, count: CodecMessage.maximumBytes + 1))
        case "empty": send([])
        case "deep": send(String(repeating: "[", count: 60_000))
        case "descriptor": if let socket { _ = fault_send_descriptor(socket, source) }
        case "finished-first":
            if let bytes = try? JSON.encode(CodecMessage.finished(Ending())) { send(Array(bytes)) }
        case "flood":
            for _ in 0..<100_000 { send(#"{"probeResult":{}}"#) }
        case "hang-up": hangUp()
        case "refuse": throw .unreadable(Finding(.failed, named: "a clause\u{7} with a bell"))
        case "store-failed": throw .storeFailed(reason: "a lie")
        case "store-full": throw .storeFull
        case "refuse-falsely": throw .blockedAddress(host: "codec", address: "127.0.0.1")
        case "rendition-first":
            let report = RenditionReport(role: .main, type: .jpeg, bytes: 1, note: "")
            if let bytes = try? JSON.encode(CodecMessage.rendition(report)) { send(Array(bytes)) }
        default: break
        }
        return command
    }

    /// Before a rendition is delivered.
    static func late(
        _ command: String, _ argument: String, _ output: Int32, _ report: inout RenditionReport,
        _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        switch command {
        case "late-segv": fault_segfault()
        case "late-sleep": sleep(1000)
        case "late-starve": startThread()
        case "late-kill": raise(SIGKILL)
        case "late-pause": usleep(300_000)
        case "late-eat": fault_eat_memory()
        case "late-main-segv" where report.role == .main: fault_segfault()
        case "late-main-sleep" where report.role == .main: sleep(1000)
        case "wrong-size": report.bytes += 1
        case "wrong-type": report.type = .heic
        case "negative": report.size = PixelSize(width: -1, height: 3)
        case "unordered":
            var stray = report
            stray.role = .waveform
            if let bytes = try? JSON.encode(CodecMessage.rendition(stray)) { send(Array(bytes)) }
        case "large":
            var written = Int64(report.bytes)
            let block = [UInt8](repeating: 7, count: 1 << 20)
            while true {
                let count = unsafe write(output, block, block.count)
                guard count > 0 else { break }
                written += Int64(count)
            }
            throw .unreadable(Finding(.failed, named: "\(SystemError("write").reason) after \(written) bytes"))
        case "hold":
            // A second descriptor stays open, and so does the right to write.
            unsafe held = dup(output)
        case "busy", "expensive":
            // Honest work: as much processor time as asked for.
            let end = clock() + (Int(argument) ?? 0) * CLOCKS_PER_SEC / 1000
            while clock() < end {}
        default: break
        }
    }

    nonisolated(unsafe) private static var held: Int32 = -1

    /// After a rendition was delivered.
    static func afterwards(
        _ command: String, _ report: RenditionReport, _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        switch command {
        case "twice":
            if let bytes = try? JSON.encode(CodecMessage.rendition(report)) { send(Array(bytes)) }
        case "hold":
            // Not before the service has looked at the size.
            usleep(200_000)
            for _ in 0..<20 {
                let bytes = Array("later".utf8)
                _ = unsafe write(held, bytes, bytes.count)
                usleep(20_000)
            }
        default: break
        }
    }

    static func misstate(_ command: String, _ argument: String, _ probeResult: inout ProbeResult) {
        switch command {
        case "kind": probeResult.kind = .audio
        case "plan": probeResult.planned = [.main, .waveform]
        case "plan-twice": probeResult.planned = [.main, .main]
        case "estimate": probeResult.estimate.memory = -1
        case "expensive": probeResult.estimate.cpuSeconds = 60
        case "costly": probeResult.estimate.memory = Int64(argument) ?? 1 << 50
        case "escape": probeResult.note = "\u{1b}[2J\u{202e}note" + String(repeating: "x", count: 5000)
        default: break
        }
    }

    static func misstate(_ command: String, _ ending: inout Ending) {
        switch command {
        case "ending": ending.thumbnailClippingRect = UnitRect(x: 5, y: 5, width: 5, height: 5)
        case "warnings": ending.warnings = Array(repeating: String(repeating: "w", count: 400), count: 100)
        default: break
        }
    }

    /// Starts a thread where the kernel gives no more, as a library does.
    private static func startThread() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = unsafe setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit)
        var thread = pthread_t()
        _ = unsafe pthread_create(&thread, nil, { _ in nil }, nil)
    }

    private static func answer(_ code: Int32) -> String {
        code == 0 ? "done" : "errno \(code)"
    }

    // MARK: The socket that Confinement keeps for itself

    private static var socket: Int32? {
        (3..<64).first { number in
            var status = stat()
            return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }

    private static func send(_ text: String) {
        send(Array(text.utf8))
    }

    private static func send(_ bytes: [UInt8]) {
        guard let socket else { return }
        _ = unsafe fault_send(socket, bytes, bytes.count)
    }

    private static func hangUp() {
        if let socket { close(socket) }
        sleep(1000)
    }
}
