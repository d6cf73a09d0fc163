import Foundation
import Glibc

/// The properties of a standard stream that affect its output.
struct Terminal: Sendable {
    static let output = Terminal(STDOUT_FILENO)
    static let errors = Terminal(STDERR_FILENO)

    let descriptor: Int32
    let isTerminal: Bool
    /// Whether it supports cursor movement, which a dumb terminal does not.
    let movesCursor: Bool
    /// Whether to use colors: the terminal supports them and `NO_COLOR` is not set (<https://no-color.org>).
    let showsColors: Bool

    private init(_ descriptor: Int32) {
        let environment = ProcessInfo.processInfo.environment
        let kind = environment["TERM"] ?? ""
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        movesCursor = isTerminal && !kind.isEmpty && kind != "dumb"
        showsColors = movesCursor && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// The current width of the terminal, that of `COLUMNS`, or 80, in this order; `nil` if it is not a terminal.
    var width: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        let told = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 0
        return told > 0 ? told : 80
    }

    /// Whether this process is in the foreground.
    var isOurs: Bool {
        let foreground = tcgetpgrp(descriptor)
        // Without job control there is no foreground group.
        return foreground <= 0 || foreground == getpgrp()
    }
}

/// The color of a row on a terminal that supports colors.
enum Emphasis: String {
    case bad = "31"
    case faint = "2"

    func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
