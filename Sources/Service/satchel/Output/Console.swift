import SatchelCore
import Dispatch
import Glibc
import Synchronization

/// Standard error, for summaries, progress and complaints; results go to standard output.
///
/// Progress is one line at the bottom, with the cursor kept at its beginning: so whatever a terminal does to the line
/// when its width changes lies behind the cursor, and is erased with it.
enum Console {
    private struct State {
        var progress = ""
        var compose: (@Sendable (_ width: Int) -> String)?
    }

    private static let state = Mutex(State())
    private static let erasing = "\r\u{1B}[J"
    private static let interval = DispatchTimeInterval.milliseconds(100)

    /// Whether progress is shown: only a terminal gets it, and none that can't take a line back.
    static var showsProgress: Bool { Terminal.errors.movesCursor }

    /// Whether what is written goes into systemd's journal, as $JOURNAL_STREAM says, and so stays.
    static func isJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return environment["JOURNAL_STREAM"] == "\(status.st_dev):\(status.st_ino)"
    }

    /// A line for whoever runs the command, be it wrapped; names in it may hold anything.
    static func printError(_ line: String) {
        let line = line.showingInvisible(but: "\n")
        state.withLock { state in
            write((state.progress.isEmpty ? "" : erasing) + line + "\n" + drawn(state.progress))
        }
    }

    /// Writes to standard output, above the progress where both lead to a terminal.
    static func withoutProgress<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            let isInTheWay = Terminal.output.isTerminal && !state.progress.isEmpty
            if isInTheWay { write(erasing) }
            defer { if isInTheWay { write(drawn(state.progress)) } }
            try body()
        }
    }

    /// Shows a line at the bottom from now on, until ``endProgress()``.
    ///
    /// - Parameter compose: Called several times a second, with the columns that the line may take.
    static func beginProgress(_ compose: @escaping @Sendable (_ width: Int) -> String) {
        guard showsProgress else { return }
        state.withLock { $0.compose = compose }
        refresh()
    }

    /// Takes the line at the bottom away.
    static func endProgress() {
        state.withLock { end(&$0) }
    }

    /// The same where somebody may be stuck writing, who is not waited for.
    static func abandonProgress() {
        state.withLockIfAvailable { end(&$0) }
    }

    private static func end(_ state: inout State) {
        if !state.progress.isEmpty { write(erasing) }
        state = State()
    }

    /// Draws the line anew where it has changed, again and again until the progress ends.
    private static func refresh() {
        let goesOn = state.withLock { state in
            guard let compose = state.compose else { return false }
            guard Terminal.errors.isOurs else { return true }
            // In the last column some terminals would begin a line.
            let line = compose((Terminal.errors.width ?? 80) - 1)
            if line != state.progress {
                state.progress = line
                write(erasing + drawn(line))
            }
            return true
        }
        if goesOn { DispatchQueue.global().asyncAfter(deadline: .now() + interval) { refresh() } }
    }

    private static func drawn(_ progress: String) -> String {
        progress.isEmpty ? "" : progress + "\r"
    }

    private static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }
}

/// Standard output, flushed after every line so that a reader at the other end of a pipe sees each result at once.
struct ResultOutput {
    func line(_ text: String) throws {
        try Console.withoutProgress {
            print(text)
            guard fflush(nil) == 0 else {
                throw CommandFailure("the results can't be written: \(SystemErrorText.current)")
            }
        }
    }
}

enum SystemErrorText {
    static var current: String {
        unsafe String(cString: strerror(errno))
    }
}
