import SatchelCore
import Confinement
import FoundationEssentials
import Glibc
import FaultInjection

/// A codec that reads what to do wrong from its source: `fault: sleep`, or `fault: connect 8080`.
///
/// `fault: null` does nothing wrong: its probe result is an image and each rendition holds its role's name; those of
/// `fault: echo WORD` hold the word too, so that different sources have different renditions. `fault: expensive 500`
/// announces a minute of processor time, uses so many milliseconds for each rendition and tells its nice value in them,
/// as `fault: nice WORD` does.
struct FaultCodec: ConfinedCodec, ~Copyable {
    private var command = ""
    private var argument = ""
    /// Whether it has the place of the codec for stills, by its name.
    private let isForStills = CommandLine.arguments[0].hasSuffix("-stills")
    let libraries: [CodecLibrary] = []

    mutating func prepare(_ invocation: CodecInvocation) throws(AttachmentError) {
        if CommandLine.arguments.contains("--unprepared") {
            throw .unreadable(Finding(.failed, named: "told not to prepare"))
        }
    }

    mutating func identify(source: Int32, order: WorkOrder) throws(Unidentified) -> ProbeResult {
        let probeResult: ProbeResult
        do {
            probeResult = try identified(source)
        } catch {
            throw .refused(error)
        }
        if command == "rare", isForStills || argument == "always" { throw .beyondDecoderSet }
        return probeResult
    }

    private mutating func identified(_ source: Int32) throws(AttachmentError) -> ProbeResult {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(source, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count >= 2, words[0] == "fault:" else { throw .unrecognizedType(sniffed: "text/plain") }
        command = words[1]
        argument = words.count > 2 ? words[2] : ""
        let note = try Fault.early(command, argument, source)
        var probeResult = ProbeResult(
            kind: .image, type: .jpeg, sniffedType: "image/jpeg", size: PixelSize(width: 4, height: 3), note: note,
            planned: [.thumbnail, .main], estimate: Estimate(memory: 1 << 20, cpuSeconds: 0.01))
        Fault.misstate(command, argument, &probeResult)
        return probeResult
    }

    mutating func render(
        _ command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        for role in command.outputs {
            guard let output = outputs[role] else { continue }
            let content =
                switch self.command {
                case "echo": argument
                case "expensive", "nice": "at nice \(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))"
                default: "by pid \(getpid())"
                }
            let bytes = Array("\(role.rawValue) \(content)".utf8)
            guard unsafe write(output, bytes, bytes.count) == bytes.count else {
                throw .unreadable(Finding(.failed, named: "cannot write: \(SystemError("write").reason)"))
            }
            var report = RenditionReport(
                role: role, type: .jpeg, size: PixelSize(width: 4, height: 3), bytes: Int64(bytes.count),
                note: "at will")
            try Fault.late(self.command, argument, output, &report, deliver)
            try deliver(report)
            try Fault.afterwards(self.command, report, deliver)
        }
        var ending = Ending(warnings: ["a warning with \u{1b}[31mcolour"])
        Fault.misstate(self.command, &ending)
        return ending
    }

    mutating func forget() {}

    static func value(of name: String, in argument: String) -> String? {
        argument.hasPrefix(name + "=") ? String(argument.dropFirst(name.count + 1)) : nil
    }
}
