import SatchelCore
import Dispatch
import Glibc
import Synchronization

/// Standard error, for summaries, progress and problems. Results go to standard output.
///
/// Progress is one line at the bottom. The cursor stays at its start, so that erasing also removes what a terminal made of
/// the line when its width changed.
enum Console {
    private struct State {
        var progress = ""
        var compose: (@Sendable (_ width: Int) -> String)?
        /// Counts the progresses.
        var number = 0
    }

    private static let state = Mutex(State())
    private static let erasing = "\r\u{1B}[J"
    private static let interval = DispatchTimeInterval.milliseconds(100)
    /// The time between two lines of progress where standard error is no terminal.
    private static let pause = DispatchTimeInterval.seconds(10)

    /// Whether progress is shown, which needs a terminal that can erase a line.
    static var showsProgress: Bool { Terminal.errors.movesCursor }

    /// Whether standard error is systemd's journal, according to `JOURNAL_STREAM`.
    static func isJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return environment["JOURNAL_STREAM"] == "\(status.st_dev):\(status.st_ino)"
    }

    /// Prints a line and escapes control characters, which names may contain.
    static func printError(_ line: String) {
        let line = line.showingInvisible(but: "\n")
        state.withLock { state in
            write((state.progress.isEmpty ? "" : erasing) + line + "\n" + drawn(state.progress))
        }
    }

    /// Writes to standard output, above the progress line if both are the same terminal.
    static func withoutProgress<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            let isInTheWay = Terminal.output.isTerminal && !state.progress.isEmpty
            if isInTheWay { write(erasing) }
            defer { if isInTheWay { write(drawn(state.progress)) } }
            try body()
        }
    }

    /// Shows a progress line until ``endProgress()``; where standard error is no terminal, prints it every 10 s.
    ///
    /// - Parameter compose: Returns the line; called several times a second with its maximum width.
    static func beginProgress(_ compose: @escaping @Sendable (_ width: Int) -> String) {
        state.withLock { $0.compose = compose }
        if showsProgress { refresh() } else if !Terminal.errors.isTerminal { report(state.withLock { $0.number }) }
    }

    /// Prints the progress from time to time, until it ends.
    private static func report(_ number: Int) {
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) {
            let line = state.withLock { $0.number == number ? $0.compose?(120) : nil }
            guard let line else { return }
            printError(line)
            report(number)
        }
    }

    /// Removes the progress line.
    static func endProgress() {
        state.withLock { end(&$0) }
    }

    /// Removes the progress line unless another thread is writing.
    static func abandonProgress() {
        state.withLockIfAvailable { end(&$0) }
    }

    private static func end(_ state: inout State) {
        if !state.progress.isEmpty { write(erasing) }
        state = State(number: state.number + 1)
    }

    /// Draws the line periodically, if it has changed, until the progress ends.
    private static func refresh() {
        let goesOn = state.withLock { state in
            guard let compose = state.compose else { return false }
            guard Terminal.errors.isOurs else { return true }
            // Some terminals start a new line after the last column.
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

/// Standard output, flushed after every line so that the reader of a pipe sees each result immediately.
struct ResultOutput {
    func line(_ text: String) throws {
        try Console.withoutProgress {
            print(text)
            guard fflush(nil) == 0 else {
                throw CommandFailure("the results can't be written: \(SystemErrorText.current).", status: .unavailable)
            }
        }
    }
}

enum SystemErrorText {
    static var current: String {
        unsafe String(cString: strerror(errno))
    }
}
