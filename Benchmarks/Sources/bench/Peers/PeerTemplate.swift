import Foundation

/// A program or a service of the user's own to measure beside, as `--peer` and `--peer-url` name it.
struct PeerTemplate: Sendable, Hashable {
    enum Call: Sendable, Hashable {
        /// Words with placeholders.
        case command([String])
        /// A URL with placeholders, and the process that serves it, where its CPU is to be measured.
        case url(String, process: Int32?)
    }

    var name: String
    var call: Call

    /// - Parameter text: `NAME=command {input} {output} {width} {height}`; quotes hold words together as in a shell.
    init(command text: String) throws {
        let (name, pattern) = try Self.named(text, option: "--peer")
        let words = try Self.words(of: pattern)
        guard !words.isEmpty, words.contains(where: { $0.contains("{input}") }),
            words.contains(where: { $0.contains("{output}") })
        else { throw Self.wrong("--peer", text, "the command needs {input} and {output}") }
        try Self.check(pattern, known: ["input", "output", "width", "height"], option: "--peer", text)
        self.name = name
        call = .command(words)
    }

    /// - Parameter text: `NAME=http://…{path}…{width}…`, or `NAME@PROCESS=http://…`.
    init(url text: String) throws {
        let (named, pattern) = try Self.named(text, option: "--peer-url")
        guard pattern.hasPrefix("http://"), pattern.contains("{path}") || pattern.contains("{name}") else {
            throw Self.wrong("--peer-url", text, "it needs http:// and {path} or {name}")
        }
        try Self.check(pattern, known: ["path", "name", "width", "height"], option: "--peer-url", text)
        let parts = named.split(separator: "@", maxSplits: 1)
        var process: Int32?
        if parts.count == 2 {
            guard let id = Int32(parts[1]), id > 0 else {
                throw Self.wrong("--peer-url", text, "'\(parts[1])' is no process")
            }
            process = id
        }
        name = parts.first.map(String.init) ?? named
        call = .url(pattern, process: process)
    }

    /// The command for one source and size.
    static func line(_ words: [String], input: String, output: String, width: Int, height: Int) -> [String] {
        words.map {
            fill($0, ["input": input, "output": output, "width": "\(width)", "height": "\(height)"])
        }
    }

    /// The URL for one source and size; every part of the path is escaped, slashes stay.
    static func url(_ pattern: String, input: String, width: Int, height: Int) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~/")
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text }
        let path = input.hasPrefix("/") ? String(input.dropFirst()) : input
        let name = URL(filePath: input).lastPathComponent
        return fill(
            pattern, ["path": escaped(path), "name": escaped(name), "width": "\(width)", "height": "\(height)"])
    }

    /// Puts values in for `{name}`, once: a value with braces stays as it is.
    static func fill(_ pattern: String, _ values: [String: String]) -> String {
        var result = ""
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            let inner = rest[rest.index(after: open)...]
            if let close = inner.firstIndex(of: "}"), let value = values[String(inner[..<close])] {
                result += value
                rest = inner[inner.index(after: close)...]
            } else {
                result += "{"
                rest = inner
            }
        }
        return result + rest
    }

    /// Words as a shell takes them: separated by blanks, held together by quotes, nothing else is special.
    static func words(of text: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { throw wrong("--peer", text, "a quote is not closed") }
        if let done = word { words.append(done) }
        return words
    }

    private static func named(_ text: String, option: String) throws -> (String, String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, !parts[0].isEmpty else { throw wrong(option, text, "it is NAME=…") }
        return (String(parts[0]), String(parts[1]))
    }

    private static func check(_ pattern: String, known: [String], option: String, _ text: String) throws {
        for match in pattern.matches(of: #/\{([a-z]+)\}/#) where !known.contains(String(match.1)) {
            throw wrong(option, text, "{\(match.1)} is not known; known are {\(known.joined(separator: "}, {"))}")
        }
    }

    private static func wrong(_ option: String, _ text: String, _ reason: String) -> CommandFailure {
        CommandFailure(command: ["bench", option, text], reason: reason)
    }
}

extension PeerTemplate {
    /// To be measured on photographs.
    func contender(_ task: StillTask) throws -> Contender {
        switch call {
        case .command(let words):
            return .calls("peer-\(name)", name) { source, place in
                task.sizes.map { size in
                    let output = task.output(of: source, size, in: place)
                    let line = Self.line(words, input: source, output: output, width: size, height: size)
                    return Command(line[0], Array(line.dropFirst()))
                }
            }
        case .url(let pattern, let process):
            return try HTTPPeer(url: pattern, process: process).contender("peer-\(name)", name, task)
        }
    }
}
