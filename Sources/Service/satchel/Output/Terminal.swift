import Foundation
import Glibc

/// Where one of the standard streams leads, as far as what is written there depends on it.
struct Terminal: Sendable {
    static let output = Terminal(STDOUT_FILENO)
    static let errors = Terminal(STDERR_FILENO)

    let descriptor: Int32
    let isTerminal: Bool
    /// Whether it moves its cursor when told to; a dumb terminal would show the codes.
    let movesCursor: Bool
    /// Whether it shows colours, and nobody wants to do without (<https://no-color.org>).
    let showsColours: Bool

    private init(_ descriptor: Int32) {
        let environment = ProcessInfo.processInfo.environment
        let kind = environment["TERM"] ?? ""
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        movesCursor = isTerminal && !kind.isEmpty && kind != "dumb"
        showsColours = movesCursor && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Its columns at this moment, else those of `COLUMNS`, else 80; nil where it is no terminal.
    var width: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        let told = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 0
        return told > 0 ? told : 80
    }

    /// Whether it listens to this process now, not to another that was started after it.
    var isOurs: Bool {
        let foreground = tcgetpgrp(descriptor)
        // Without job control there is none.
        return foreground <= 0 || foreground == getpgrp()
    }
}

/// What a row is emphasised by on a terminal that shows colours.
enum Emphasis: String {
    case bad = "31"
    case faint = "2"

    func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
