import Foundation
import Glibc
import Testing

/// Chromium, driven by WebDriver's own JSON through ChromeDriver (https://www.w3.org/TR/webdriver2/). It ends with the process,
/// however that ends.
public final class Browser: Sendable {
    private let port: Int
    private let session: String
    private let process: Process
    /// The driver's input, whose end is its end.
    private let hold: FileHandle

    private static let running = Task { try await Browser() }

    /// The one that all tests share; started when it is first asked for, which takes a second.
    public static func shared() async throws -> Browser {
        try await running.value
    }

    /// What the browser didn't do, and why.
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    private init() async throws {
        try Server.chromium.demand()
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
        hold = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        let output = Pipe()
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", Self.holding]
        process.environment = ProcessInfo.processInfo.environment.merging(["PATH": Program.searchPath]) { $1 }
        process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process.standardOutput = output
        try process.run()
        port = try await onThread {
            var said = ""
            while true {
                let more = output.fileHandleForReading.availableData
                said += String(decoding: more, as: UTF8.self)
                if let port = said.firstMatch(of: /on port (\d+)\./).flatMap({ Int($0.1) }) { return port }
                guard !more.isEmpty else { throw Failure(description: "ChromeDriver didn't come up: \(said)") }
            }
        }
        // Pictures may be held back for as long as somebody looks at what is there without them.
        session = try await Self.send(
            port, "POST", "/session",
            """
            {"capabilities": {"alwaysMatch": {"browserName": "chrome", "pageLoadStrategy": "eager",
              "timeouts": {"script": 300000},
              "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
              "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--disable-component-update", "--no-first-run", "--hide-scrollbars"]}}}}
            """, as: Session.self
        ).sessionId
    }

    private struct Session: Decodable, Sendable {
        var sessionId: String
    }

    /// Ends the driver, and with it the browser, at the end of the input. A thread of the tests may block the signals that
    /// ask, and what it starts inherits that.
    private static let holding = """
        import os, signal, subprocess, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        driver = subprocess.Popen(
            ['chromedriver', '--port=0', '--log-level=SEVERE'], stdin=subprocess.DEVNULL, start_new_session=True)
        sys.stdin.read()
        driver.terminate()
        try: driver.wait(5)
        except subprocess.TimeoutExpired: pass
        try: os.killpg(driver.pid, signal.SIGKILL)
        except ProcessLookupError: pass
        """

    // MARK: Commands

    private struct Answer<Value: Decodable & Sendable>: Decodable, Sendable {
        var value: Value
    }

    /// For a command that answers nothing.
    private struct Nothing: Decodable, Sendable {
        init(from decoder: any Decoder) {}
    }

    private static func send<Value: Decodable & Sendable>(
        _ port: Int, _ method: String, _ path: String, _ body: String, as type: Value.Type
    ) async throws -> Value {
        let reply = try await onThread {
            let client = try RawClient(port: port)
            client.send(
                """
                \(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r
                Content-Length: \(body.utf8.count)\r\n\r\n\(body)
                """)
            return try client.reply()
        }
        guard reply.status == 200 else {
            throw Failure(description: "\(path): \(String(decoding: reply.body.prefix(1000), as: UTF8.self))")
        }
        return try JSONDecoder().decode(Answer<Value>.self, from: reply.body).value
    }

    private func post<Value: Decodable & Sendable>(
        _ command: String, _ body: [String: any Encodable & Sendable] = [:], as type: Value.Type = Nothing.self
    ) async throws -> Value {
        let members = try body.map { name, value in
            "\"\(name)\": \(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))"
        }
        return try await Self.send(
            port, "POST", "/session/\(session)/\(command)", "{\(members.joined(separator: ", "))}", as: type)
    }

    /// Opens a page; what it loads may still be on its way.
    public func open(_ url: String) async throws {
        let _: Nothing = try await post("url", ["url": url])
    }

    /// What a script returns.
    public func script<Value: Decodable & Sendable>(
        _ source: String, as type: Value.Type = Value.self
    ) async throws -> Value {
        try await post("execute/sync", ["script": source, "args": [String]()], as: type)
    }

    /// Runs a script for what it does.
    public func run(_ source: String) async throws {
        let _: Nothing = try await post("execute/sync", ["script": source, "args": [String]()])
    }

    /// Waits until a script's expression is true.
    public func wait(_ expression: String) async throws {
        try await eventually(expression) {
            // A page that is just being left has nothing to say.
            (try? await script("return !!(\(expression))", as: Bool.self)) ?? false
        }
    }

    /// Clicks, with the pointer, what a CSS selector finds first.
    public func click(_ selector: String) async throws {
        let found = try await post(
            "element", ["using": "css selector", "value": selector], as: [String: String].self)
        guard let element = found.values.first else { throw Failure(description: "there is no \(selector)") }
        let _: Nothing = try await post("element/\(element)/click")
    }

    /// Presses keys one after the other, whatever has the focus: characters, or WebDriver's codes for others.
    public func press(_ keys: String) async throws {
        let strokes = keys.flatMap { key in ["keyDown", "keyUp"].map { KeyAction(type: $0, value: String(key)) } }
        let _: Nothing = try await post("actions", ["actions": [KeySource(actions: strokes)]])
    }

    public static let tab = "\u{E004}"
    public static let enter = "\u{E007}"
    public static let escape = "\u{E00C}"
    public static let left = "\u{E012}"

    private struct KeySource: Encodable, Sendable {
        var type = "key"
        var id = "keyboard"
        var actions: [KeyAction]
    }

    private struct KeyAction: Encodable, Sendable {
        var type: String
        var value: String
    }

    /// Moves the focus on, as Tab does, until it is on what a CSS selector finds.
    public func tab(to selector: String) async throws {
        for _ in 0..<60 {
            try await press(Self.tab)
            let isThere: Bool = try await script(
                "return document.activeElement.matches(\(Self.quoted(selector)))")
            if isThere { return }
        }
        throw Failure(description: "no Tab leads to \(selector)")
    }

    /// A string of JavaScript.
    public static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "''"
    }

    /// A command of Chromium's own (https://chromedevtools.github.io/devtools-protocol/).
    public func chromium(_ command: String, _ parameters: String = "{}") async throws {
        let _: Nothing = try await Self.send(
            port, "POST", "/session/\(session)/goog/cdp/execute",
            "{\"cmd\": \"\(command)\", \"params\": \(parameters)}", as: Nothing.self)
    }

    // MARK: What it wrote down

    private struct Entry: Decodable, Sendable {
        var level: String
        var message: String
    }

    /// Errors since the last look: of the content security policy, of scripts, of what couldn't be loaded.
    public func consoleErrors() async throws -> [String] {
        try await post("se/log", ["type": "browser"], as: [Entry].self).map { "\($0.level): \($0.message)" }
    }

    /// The URLs of requests since the last look.
    public func requests() async throws -> [String] {
        try await post("se/log", ["type": "performance"], as: [Entry].self).compactMap { entry in
            let event = try JSONDecoder().decode(Event.self, from: Data(entry.message.utf8)).message
            return event.method == "Network.requestWillBeSent" ? event.params.request?.url : nil
        }
    }

    private struct Event: Decodable {
        struct Message: Decodable {
            var method: String
            var params: Parameters
        }
        struct Parameters: Decodable {
            var request: Request?
        }
        struct Request: Decodable {
            var url: String
        }
        var message: Message
    }
}
