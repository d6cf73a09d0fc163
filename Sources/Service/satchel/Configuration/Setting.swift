import API
import SatchelCore
import Foundation

/// One setting: its key, its description, and how it is read and shown. ``all`` is the source of the settings reader,
/// `satchel config keys` and the example file.
struct Setting: Sendable {
    typealias Path<Value> = WritableKeyPath<ServiceConfiguration, Value> & Sendable

    let key: String
    /// The type of its value, for messages.
    let type: String
    /// What the setting does, starting with a noun.
    let summary: String
    /// Whether it takes several values.
    let isList: Bool
    /// The depth of a mapping; 0 if the setting is not a mapping.
    let levels: Int
    /// A description of the default, if it is not a value.
    let defaultText: String?
    let set: @Sendable ([String], inout ServiceConfiguration) throws(SettingError) -> Void
    let shown: @Sendable (ServiceConfiguration) -> PlainValue

    init(
        _ key: String, _ type: String, _ summary: String, isList: Bool = false, levels: Int = 0,
        default text: String? = nil,
        set: @escaping @Sendable ([String], inout ServiceConfiguration) throws(SettingError) -> Void,
        shown: @escaping @Sendable (ServiceConfiguration) -> PlainValue
    ) {
        self.key = key
        self.type = type
        self.summary = summary
        self.isList = isList
        self.levels = levels
        defaultText = text
        self.set = set
        self.shown = shown
    }

    /// A setting with one value.
    init<Value>(_ key: String, _ path: any Path<Value>, _ kind: SettingKind<Value>, _ summary: String) {
        self.init(key, kind.name, summary) { texts, configuration throws(SettingError) in
            configuration[keyPath: path] = try kind.read(texts.first ?? "")
        } shown: {
            kind.show($0[keyPath: path])
        }
    }

    /// A setting with an optional value.
    init<Value>(
        _ key: String, _ path: any Path<Value?>, _ kind: SettingKind<Value>, default text: String = "none",
        _ summary: String
    ) {
        let isSet = ServiceConfiguration()[keyPath: path] != nil
        self.init(key, kind.name, summary, default: isSet ? nil : text) { texts, configuration throws(SettingError) in
            configuration[keyPath: path] = try kind.read(texts.first ?? "")
        } shown: {
            $0[keyPath: path].map(kind.show) ?? .nothing
        }
    }

    /// A setting with several values.
    init(_ key: String, list path: any Path<[String]>, _ kind: SettingKind<String>, _ summary: String) {
        self.init(key, "list of \(kind.name)", summary, isList: true) { texts, configuration throws(SettingError) in
            var values: [String] = []
            for text in texts { values.append(try kind.read(text)) }
            configuration[keyPath: path] = values
        } shown: {
            .list($0[keyPath: path])
        }
    }

    /// A setting that maps names to values, written `name=value` in the environment and in flags.
    init(_ key: String, map path: any Path<[String: String]>, _ summary: String) {
        self.init(key, "mapping", summary, isList: true, levels: 1) { texts, configuration throws(SettingError) in
            var values: [String: String] = [:]
            for text in texts {
                let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
                guard parts.count == 2 else {
                    throw SettingError("entries must be name=value", about: text)
                }
                values[parts[0]] = parts[1]
            }
            configuration[keyPath: path] = values
        } shown: {
            .object($0[keyPath: path].sorted { $0.key < $1.key }.map { PlainValue.Member($0.key, .text($0.value)) })
        }
    }

    /// The name of its environment variable.
    var variable: String { "SATCHEL_" + key.uppercased().replacing(".", with: "_") }

    /// The default, as it is written in a settings file.
    var defaultValue: String { defaultText ?? shown(ServiceConfiguration()).text }
}

/// An invalid value and what it must be.
struct SettingError: Error {
    var remedy: String
    /// The invalid entry of a list; `nil` for the whole value.
    var entry: String?

    init(_ remedy: String, about entry: String? = nil) {
        self.remedy = remedy
        self.entry = entry
    }
}

/// How values of one kind are read and shown.
struct SettingKind<Value: Sendable>: Sendable {
    let name: String
    let read: @Sendable (String) throws(SettingError) -> Value
    let show: @Sendable (Value) -> PlainValue
}

extension SettingKind where Value: FixedWidthInteger {
    static func bytes(atLeast minimum: Value = 1) -> Self {
        SettingKind(name: "bytes") { text throws(SettingError) in
            guard let count = ByteCount(argument: text), let value = Value(exactly: count.bytes), value >= minimum
            else {
                throw SettingError(
                    "must be at least \(minimum) bytes, as a whole number or with a unit (512K, 50M, 4G)")
            }
            return value
        } show: {
            .integer(Int64($0))
        }
    }

    static func count(_ range: ClosedRange<Value>) -> Self {
        SettingKind(name: "count") { text throws(SettingError) in
            guard let value = Value(text), range.contains(value) else {
                throw SettingError("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        } show: {
            .integer(Int64($0))
        }
    }
}

/// Reads seconds from text such as `0.5`, `25`, `10m`, `24h` or `7d`; `nil` for anything else.
private func seconds(of text: String) -> Double? {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    let unit = text.last.flatMap { units[$0] }
    guard let number = Double(unit == nil ? text : String(text.dropLast())), number.isFinite else { return nil }
    return number * (unit ?? 1)
}

private func read(_ text: String, within range: ClosedRange<Double>) throws(SettingError) -> Double {
    guard let value = seconds(of: text), range.contains(value) else {
        throw SettingError(
            "must be between \(PlainValue.number(range.lowerBound).text) and \(PlainValue.number(range.upperBound).text) seconds, as a number or with a unit (30s, 10m, 24h, 7d)"
        )
    }
    return value
}

extension SettingKind<Duration> {
    static func seconds(_ range: ClosedRange<Double>) -> Self {
        SettingKind(name: "seconds") { text throws(SettingError) in
            .seconds(fraction: try satchel.read(text, within: range))
        } show: {
            .number($0.inSeconds)
        }
    }
}

extension SettingKind<Double> {
    static func seconds(_ range: ClosedRange<Double>) -> Self {
        SettingKind(name: "seconds") { text throws(SettingError) in
            try satchel.read(text, within: range)
        } show: {
            .number($0)
        }
    }
}

extension SettingKind<Bool> {
    static var flag: Self {
        SettingKind(name: "true or false") { text throws(SettingError) in
            switch text.lowercased() {
            case "true", "yes", "on", "1": return true
            case "false", "no", "off", "0": return false
            default: throw SettingError("must be true or false")
            }
        } show: {
            .flag($0)
        }
    }
}

extension SettingKind where Value: RawRepresentable<String> & CaseIterable {
    static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        return SettingKind(name: names.joined(separator: ", ")) { text throws(SettingError) in
            guard let value = Value(rawValue: text.lowercased()) else {
                throw SettingError("must be one of \(names.joined(separator: ", "))")
            }
            return value
        } show: {
            .text($0.rawValue)
        }
    }
}

extension SettingKind<ListenAddress> {
    static var listen: Self {
        SettingKind(name: "address:port") { text throws(SettingError) in
            guard let address = ListenAddress(text) else {
                throw SettingError(
                    "must be an address and a port, such as 127.0.0.1:8080, [::1]:8080, or :8080 for all interfaces")
            }
            return address
        } show: {
            .text($0.description)
        }
    }
}

extension SettingKind<String> {
    static var path: Self { text(named: "path") { $0.isEmpty ? "must be a path" : nil } }

    /// An absolute http(s) URL without credentials, query or fragment. A trailing slash is removed.
    static var publicURL: Self {
        SettingKind(name: "URL") { text throws(SettingError) in
            var text = text
            while text.hasSuffix("/") { text.removeLast() }
            guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
                ["http", "https"].contains(scheme), parts.host?.isEmpty == false, parts.user == nil,
                parts.password == nil, parts.query == nil, parts.fragment == nil
            else {
                throw SettingError(
                    "must be an http or https URL without credentials or query, such as https://media.example.com")
            }
            return text
        } show: {
            .text($0)
        }
    }

    /// The origin of a web page, as browsers send it; `*` for any.
    static var pageOrigin: Self {
        text(named: "origin") { text in
            guard text != "*" else { return nil }
            let parts = URLComponents(string: text)
            guard let scheme = parts?.scheme, ["http", "https"].contains(scheme), parts?.host?.isEmpty == false,
                parts?.path.isEmpty == true, parts?.query == nil, text == text.lowercased()
            else { return "must be an origin as browsers send it, such as https://app.example.com, or *" }
            return nil
        }
    }

    /// A text. `problem` returns what it must be, if it is invalid.
    static func text(named name: String, _ problem: @escaping @Sendable (String) -> String?) -> Self {
        SettingKind(name: name) { text throws(SettingError) in
            if let remedy = problem(text) { throw SettingError(remedy, about: text) }
            return text
        } show: {
            .text($0)
        }
    }
}
