import Glibc
import Synchronization

/// Standard error, for summaries, progress and complaints; results go to standard output.
enum Console {
    private static let progressLine = Mutex("")

    /// Whether progress is shown: only a terminal gets it.
    static let showsProgress = isatty(STDERR_FILENO) == 1

    /// A line for the person who runs the command.
    static func say(_ line: String) {
        progressLine.withLock { progress in
            write((progress.isEmpty ? "" : "\r\u{1B}[K") + line + "\n" + progress)
        }
    }

    /// Replaces the line at the bottom that tells how far the work is; an empty one removes it.
    static func showProgress(_ line: String) {
        guard showsProgress else { return }
        progressLine.withLock { progress in
            guard line != progress else { return }
            progress = line
            write("\r\u{1B}[K" + line)
        }
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
        print(text)
        guard fflush(nil) == 0 else {
            throw CommandFailure("the results can't be written: \(SystemErrorText.current)")
        }
    }
}

enum SystemErrorText {
    static var current: String {
        unsafe String(cString: strerror(errno))
    }
}
