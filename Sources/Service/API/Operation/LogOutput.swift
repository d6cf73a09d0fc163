import SatchelCore
import FoundationEssentials
import Glibc
public import Logging
import Payloads
import Synchronization

/// How log lines are written.
public enum LogFormat: String, CaseIterable, Hashable, Sendable {
    /// A JSON object on each line.
    case json
    /// For people.
    case text
}

/// Writes log lines to standard output. Whatever looks like one of our tokens is cut to its first 8 characters, whoever
/// logged it.
public struct LogOutput: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    public var logLevel: Logger.Level {
        get { own ?? level() }
        set { own = newValue }
    }
    /// A logger's own level.
    private var own: Logger.Level?
    private let level: @Sendable () -> Logger.Level
    private let format: LogFormat
    private static let writing = Mutex(())

    /// - Parameter level: Returns the level of all loggers that have none of their own. It may change.
    public init(format: LogFormat, level: @escaping @Sendable () -> Logger.Level) {
        self.level = level
        self.format = format
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var metadata = metadata
        metadata.merge(metadataProvider?.get() ?? [:]) { _, new in new }
        metadata.merge(event.metadata ?? [:]) { _, new in new }
        if let error = event.error { metadata["error"] = "\(error)" }
        Self.write(line(event.level, event.message.description, metadata))
    }

    func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let time = Instant.wallClock()
        let fields = metadata.sorted { $0.key < $1.key }
        let text: String
        switch format {
        case .json:
            var object = "{\"time\":\"\(time)\",\"level\":\"\(level)\",\"message\":\(Self.quoted(message))"
            for (key, value) in fields { object += ",\(Self.quoted(key)):\(Self.json(value))" }
            text = object + "}\n"
        case .text:
            let pairs = fields.map { " \($0)=\(Self.json($1))" }.joined()
            text = "\(time) \(level) \(message.replacing("\n", with: " "))\(pairs)\n"
        }
        return Self.masked(text)
    }

    private static func json(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .stringConvertible(let number as any BinaryInteger): "\(number)"
        case .stringConvertible(let flag as Bool): "\(flag)"
        case .stringConvertible(let number as Double) where number.isFinite: "\((number * 1e6).rounded() / 1e6)"
        case .stringConvertible(let other): quoted(other.description)
        case .array(let values): "[" + values.map(json).joined(separator: ",") + "]"
        case .dictionary(let values):
            "{" + values.sorted { $0.key < $1.key }.map { "\(quoted($0)):\(json($1))" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        let quoted = String(decoding: JSONString.encode(text), as: UTF8.self)
        // Which a terminal would act on.
        return quoted.utf8.contains(0x7F) ? quoted.replacing("\u{7F}", with: "\\u007f") : quoted
    }

    private static func masked(_ text: String) -> String {
        guard TokenKind.allCases.contains(where: { text.contains($0.rawValue) }) else { return text }
        return text.replacing(/(sat[kgln]_[0-9A-Za-z]{3})[0-9A-Za-z]{16,}/) { "\($0.1)…" }
    }

    private static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        writing.withLock { _ in
            while !bytes.isEmpty {
                let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { return }
                bytes = bytes.dropFirst(written)
            }
        }
    }
}
