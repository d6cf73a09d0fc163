import Foundation
import TestSupport
import Testing

/// A platform that the client is for.
enum Platform: String, CaseIterable, Sendable {
    case iOS, macOS, watchOS, tvOS, visionOS
    case linux = "Linux"

    /// Modules that are there beside the standard library, of those that the sources ask for.
    var modules: Set<String> {
        let all: Set = [
            "Foundation", "CoreFoundation", "CoreGraphics", "CoreTransferable", "Darwin", "UniformTypeIdentifiers",
            "UserNotifications",
        ]
        return switch self {
        case .iOS, .visionOS: all.union(["PhotosUI", "SwiftUI", "UIKit", "UserNotificationsUI"])
        case .macOS: all.union(["UserNotificationsUI"])
        case .watchOS, .tvOS: all.union(["UIKit"])
        case .linux: ["Foundation", "FoundationNetworking", "Glibc"]
        }
    }
}

/// The client on platforms that these tests don't run on: a copy of the sources in which `#if` is decided as it is there,
/// against stand-ins for Apple's modules, which lack what Apple prohibits on the platform (`Tests/Client/apple`).
@Suite(.inCheck("compiles the client five times"), .serialized, .timeLimit(.minutes(3)))
struct PlatformTests {
    @Test(arguments: Platform.allCases) func `the client compiles`(for platform: Platform) throws {
        let bench = try Workbench(platform)
        // Most platforms see the same sources and the same modules as a phone, for which the tests below build them.
        if try bench.looksLike(Workbench(.iOS)) { return }
        try bench.buildModules()
        try bench.checkClient()
    }

    /// Their texts try to get out of where they are put, and must arrive as they are.
    private static let categories = [
        #"""
        {"id": "a", "options": ["custom_dismiss_action", "hidden_previews_show_title", "allow_in_car_play"],
         "intents": ["INSendMessageIntent"], "hidden_body": "\\(fatalError())", "summary_format": "%u \u202E\"more\"",
         "actions": [
           {"id": "x", "title": "\"); fatalError(\"out\") //", "icon": {"system": "checkmark"}, "options": ["destructive"]},
           {"id": "y\\", "title": "Rotate 20°", "icon": {"template": "'Pen'"}, "options": ["foreground", "authentication_required"],
            "text_input": {"button_title": "\u2028", "placeholder": "👩🏽‍👨"}},
           {"id": "z", "title": "é", "text_input": {"button_title": "OK"}}]}
        """#,
        #"{"id": "b", "hidden_body": "Hidden", "responses": {"handler": {"url": "https://api.example.com/"}}}"#,
        #"{"id": "c"}"#,
    ]

    @Test func `extensions show what came and respond by few lines, and an app registers its categories either way`()
        async throws
    {
        let bench = try Workbench(.iOS)
        try bench.buildModules(areLinked: true)
        try bench.buildClient()
        try bench.checkSamples()
        let exports = try Exports(of: Self.categories)
        let phone = try bench.buildPhone(with: exports.swift)
        let origin = try await NotificationOrigin()
        for name in ["a", "b-refused", "b-small", "c-refused", "c-missing"] { origin.open(name) }
        func link(_ name: String, preview: String) -> String {
            """
            {"identifier": "\(name)", "url": "\(origin.url)get/\(name)", "preview_url": "\(origin.url)get/\(preview)",
            "options": {"type_hint": "public.jpeg", "thumbnail_hidden": true, "thumbnail_time": 1,
            "thumbnail_clipping_rect": {"x": 0, "y": 0, "width": 1, "height": 1}}}
            """
        }
        let links = [
            link("a", preview: "a-stalls"), link("b-refused", preview: "b-small"),
            link("c-refused", preview: "c-missing"),
        ]
        let payload = "{\"satchel\": {\"v\": 1, \"attachments\": [\(links.joined(separator: ", "))]}}"
        #expect(
            try phone.start([payload]).wait(within: 300).outputText == """
                changed ["a", "b-refused"], 2 attached
                a: a with ["hidden", "hint", "rectangle", "time"]
                b-refused: b-small with ["hidden"]
                handled true
                and 2

                """)
        // What expires is answered before that returns.
        #expect(
            try phone.start([payload, "expires"]).wait(within: 300).outputText == """
                changed [], 0 attached
                handled true
                expired

                """)

        try checkDecrypting(phone, of: links)
        try await checkResponses(phone)

        let registered = try phone.start(["categories", exports.json]).wait(within: 300)
        #expect(registered.status == 0, "\(registered.errorText)")
        let lines = registered.output.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 2 && lines.first == lines.last, "\(registered.outputText)")
        let facts = try JSONSerialization.jsonObject(with: #require(lines.first)) as? [[[String]]]
        #expect(
            facts == [
                [
                    ["a", "7"], ["INSendMessageIntent"], ["\\(fatalError())", "%u \u{202E}\"more\""],
                    ["x", "\"); fatalError(\"out\") //", "2", "system", "checkmark"],
                    ["y\\", "Rotate 20°", "5", "template", "'Pen'", "input", "\u{2028}", "👩🏽‍👨"],
                    ["z", "é", "0", "input", "OK", ""],
                ],
                [["b", "0"], [], ["Hidden", ""]], [["c", "0"], [], []],
            ])
    }

    /// What a service extension makes of what the sender encrypted for it alone.
    private func checkDecrypting(_ phone: Program, of links: [String]) throws {
        let secret = Data("{\"v\": 1, \"attachments\": [\(links[0])]}".utf8).base64EncodedString()
        let opened = try phone.start(["{\"encrypted-content\": \"\(secret)\"}"]).wait(within: 300)
        #expect(
            opened.outputText == """
                opens
                changed ["a"], 1 attached
                a: a with ["hidden", "hint", "rectangle", "time"]
                handled true
                opened
                and 0

                """, "\(opened.errorText)")
        // What can't be opened is shown as it came, and nothing of what was begun.
        let payload = "{\"encrypted-content\": \"!\", \"satchel\": {\"v\": 1, \"attachments\": [\(links[0])]}}"
        #expect(
            try phone.start([payload]).wait(within: 300).outputText == """
                opens
                changed ["a"], 1 attached
                a: a with ["hidden", "hint", "rectangle", "time"]
                handled true
                and 1

                """)
    }

    /// What an app's delegate and a content extension do with responses.
    private func checkResponses(_ phone: Program) async throws {
        func answer(
            _ then: String, _ title: String, rotation: Int, after delay: Duration = .zero
        ) -> ResponseOrigin.Step {
            .answer(
                """
                {"id": "01a1fda0-0000-4000-8000-000000000001", "then": "\(then)", "decided_by": "handler",
                 "actions": [{"id": "a", "title": "\(title)", "options": []}],
                 "view": {"rotation": \(rotation), "opacity": 1}}
                """, after: delay)
        }
        let origin = try await ResponseOrigin(
            answer("forward", "A", rotation: 0), answer("forward", "B", rotation: 1), .problem(404, code: "not_found"),
            answer("stay", "C", rotation: 20, after: .milliseconds(300)), answer("dismiss", "D", rotation: 40),
            answer("hover", "E", rotation: 60), .problem(409, code: "unknown_action"))
        let payload = "{\"satchel\": {\"v\": 1, \"attachments\": [], \"respond\": \"\(origin.url)\"}}"
        let responded = try phone.start(["responses", payload]).wait(within: 300)
        #expect(
            responded.outputText == """
                told
                handler B
                not_found
                turned by 20.0
                doNotDismiss, offers [["a", "C", "0"]]
                turned by 40.0
                dismiss, offers [["a", "D", "0"]]
                turned by 60.0
                dismissAndForwardAction, offers [["a", "E", "0"]]
                dismissAndForwardAction, offers [["a", "E", "0"]]
                told
                nothing
                nothing
                dismissAndForwardAction, offers []
                dismissAndForwardAction, offers []
                dismissAndForwardAction, offers []
                dismissAndForwardAction, offers []

                """, "\(responded.errorText)")
        let bodies = try origin.bodies()
        #expect(
            bodies.map { $0["action"] as? String } == [
                "com.apple.UNNotificationDefaultActionIdentifier", "com.apple.UNNotificationDismissActionIdentifier",
                "reply", "rotate", "rotate", "reply", "rotate",
            ])
        #expect(bodies.map { $0["text"] as? String } == [nil, nil, "On my way", nil, nil, "On my way", nil])
        #expect(bodies.map { $0["data"] as? Int } == [nil, 17, nil, 1, 1, 1, 1])
        #expect(Set(bodies.map { $0["id"] as? String }).count == 7)
        let sessions = bodies.map { $0["session"] as? String }
        #expect(Set(sessions).count == 4 && Set(sessions[3...]).count == 1, "one for each opened notification")
    }

    @Test func `the example's app and extensions compile, and its README names each of their files`() throws {
        let bench = try Workbench(.iOS)
        try bench.buildModules(forApps: true)
        try bench.buildClient(isLinked: false)
        let targets = try Workbench.targetsOfExample
        #expect(Set(targets.keys) == ["App", "NotificationService", "NotificationContent"])
        let readme = try String(
            contentsOf: Repository.root.appending(path: "Examples/PhotoMessages/README.md"), encoding: .utf8)
        for (target, files) in targets {
            try bench.check(target, of: files)
            #expect(files.allSatisfy { readme.contains("`\($0)`") }, "\(files)")
        }
    }

    @Test func `conditions are decided as the platform would`() throws {
        let text = """
            a
            #if canImport(UserNotifications) && !os(tvOS)
                b
                #if os(Linux) || (os(iOS))
                    c
                #else
                    d
                #endif
            #elseif os(tvOS)
                e
            #elseif os(Linux)
                f
            #else
                g
            #endif
            """
        func lines(_ platform: Platform) throws -> String {
            try Conditions(platform).decided(in: text).filter(\.isLetter)
        }
        #expect(try Platform.allCases.map(lines) == ["abc", "abd", "abd", "ae", "abd", "af"])
        #expect(throws: (any Error).self) { try Conditions(.iOS).decided(in: "#if DEBUG\n#endif") }
    }
}

/// What the command line exports of categories.
private struct Exports: ~Copyable {
    private let home: TemporaryDirectory
    let swift: String
    /// Its path.
    let json: String

    init(of categories: [String]) throws {
        let home = try TemporaryDirectory()
        let satchel = Program(
            try Repository.product("satchel"),
            environment: [
                "SATCHEL_STORE": home.path + "/store", "SATCHEL_ACCESS_KEYS": home.path + "/access.keys",
                "SATCHEL_PROFILES": "",
            ])
        for category in categories {
            let file = home.url.appending(path: "category.json")
            try Data(category.utf8).write(to: file)
            let put = try satchel.run(["category", "put", file.path(percentEncoded: false)])
            #expect(put.status == 0, "\(put.errorText)")
        }
        let code = try satchel.run(["category", "list", "--as", "swift"]).outputText
        let file = home.url.appending(path: "categories.json")
        try satchel.run(["category", "list", "--as", "json"]).output.write(to: file)
        swift = code
        json = file.path(percentEncoded: false)
        self.home = home
    }
}

/// Copies of the sources and modules for one platform, and the compiler.
private final class Workbench {
    private let platform: Platform
    private let home: TemporaryDirectory
    private static let client = Repository.root.appending(path: "Sources/Client/SatchelClient")
    private static let stubs = Repository.root.appending(path: "Tests/Client/apple")
    /// What the client uses; each uses those before it.
    private static let modules = [
        "AppleFoundation", "Crypto", "CryptoExtras", "CoreGraphics", "UserNotifications", "UIKit",
        "UserNotificationsUI",
    ]
    /// What apps use beside it.
    private static let modulesOfApps = ["UniformTypeIdentifiers", "CoreTransferable", "SwiftUI", "PhotosUI"]
    private static let example = Repository.root.appending(path: "Examples/PhotoMessages")
    /// The house rules of `Package.swift`.
    private static let rules =
        ["-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors"]
        + [
            "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        ].flatMap { ["-enable-upcoming-feature", $0] }

    init(_ platform: Platform) throws {
        self.platform = platform
        home = try TemporaryDirectory()
        for name in ["client", "stubs", "modules"] {
            try FileManager.default.createDirectory(
                at: home.url.appending(path: name), withIntermediateDirectories: true)
        }
        for path in try Self.swiftFiles(below: Self.client) {
            try copy(Self.client.appending(path: path), to: "client/\(path.replacing("/", with: "-"))")
        }
        for path in try Self.swiftFiles(below: Self.stubs) where platform != .linux || Self.isEverywhere(path) {
            try copy(Self.stubs.appending(path: path), to: "stubs/\(path)")
        }
    }

    /// The example's sources by their targets, which are its folders.
    static var targetsOfExample: [String: [String]] {
        get throws { Dictionary(grouping: try swiftFiles(below: example)) { String($0.prefix { $0 != "/" }) } }
    }

    /// Whether a file or a module stands in for what isn't Apple's.
    private static func isEverywhere(_ name: String) -> Bool { name.hasPrefix("Crypto") }

    private static func swiftFiles(below directory: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path(percentEncoded: false))
            .filter { $0.hasSuffix(".swift") }.sorted()
    }

    private func copy(_ file: URL, to path: String) throws {
        var text = try Conditions(platform).decided(in: String(contentsOf: file, encoding: .utf8))
        if platform != .linux, file.lastPathComponent != "AppleFoundation.swift" {
            text = text.replacing(#/import Foundation(?=\n)/#, with: "import AppleFoundation")
        }
        try Data(text.utf8).write(to: home.url.appending(path: path))
    }

    /// Whether the compiler would see the same.
    func looksLike(_ other: Workbench) throws -> Bool {
        func contents(_ bench: Workbench) throws -> [String: String] {
            var contents: [String: String] = [:]
            for path in try Self.swiftFiles(below: bench.home.url) {
                contents[path] = try String(contentsOf: bench.home.url.appending(path: path), encoding: .utf8)
            }
            return contents
        }
        return try contents(self) == contents(other)
    }

    private func paths(in directory: String) throws -> [String] {
        try Self.swiftFiles(below: home.url.appending(path: directory)).map { "\(home.path)/\(directory)/\($0)" }
    }

    private func compile(_ arguments: [String], _ files: [String]) throws {
        let compiler = Program(Program.tool("swiftc").executable, in: home.url)
        let result = try compiler.start(arguments + ["-I", "modules"] + files).wait(within: 600)
        #expect(
            result.status == 0,
            "on \(platform.rawValue):\n\(result.errorText.split(separator: "\n").filter { $0.contains("error:") })")
    }

    /// - Parameter isLinked: Whether programs are made of it; to type-check against it needs no code.
    private func module(_ name: String, isLinked: Bool, _ more: [String], _ files: [String]) throws {
        let library = isLinked ? ["-emit-library", "-static", "-o", "modules/lib\(name).a"] : []
        try compile(
            [
                "-emit-module", "-wmo", "-parse-as-library", "-module-name", name, "-emit-module-path",
                "modules/\(name).swiftmodule",
            ] + library + more, files)
    }

    func buildModules(areLinked: Bool = false, forApps: Bool = false) throws {
        for name in Self.modules + (forApps ? Self.modulesOfApps : [])
        where Self.isEverywhere(name)
            || platform != .linux && (name == Self.modules[0] || platform.modules.contains(name))
        {
            let rules = ["-swift-version", "6", "-enable-upcoming-feature", "InternalImportsByDefault"]
            try module(name, isLinked: areLinked, rules, ["stubs/\(name).swift"])
        }
    }

    /// Type-checks the client.
    func checkClient() throws {
        try compile(["-typecheck", "-module-name", "SatchelClient"] + Self.rules, paths(in: "client"))
    }

    func buildClient(isLinked: Bool = true) throws {
        try module("SatchelClient", isLinked: isLinked, Self.rules, paths(in: "client"))
    }

    /// Type-checks a target of the example, as strictly as Xcode can be asked to.
    func check(_ target: String, of files: [String]) throws {
        try FileManager.default.createDirectory(
            at: home.url.appending(path: target), withIntermediateDirectories: true)
        for file in files { try copy(Self.example.appending(path: file), to: file) }
        try compile(["-typecheck", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library"], files)
    }

    /// Type-checks what the README gives of an app and its extensions.
    func checkSamples() throws {
        let samples = try SwiftSamples.all.filter(\.isForPhones)
        #expect(Set(samples.map(\.document)).count > 1)
        // Each by itself: they name their classes alike.
        for sample in samples {
            try Data(sample.text.utf8).write(to: home.url.appending(path: "Sample.swift"))
            try compile(["-typecheck", "-swift-version", "6", "-parse-as-library"], ["Sample.swift"])
        }
    }

    /// A program in which such an extension runs.
    ///
    /// - Parameter categories: Source code that registers them.
    func buildPhone(with categories: String) throws -> Program {
        try Data(categories.utf8).write(to: home.url.appending(path: "Categories.swift"))
        let libraries = (["SatchelClient"] + Self.modules.reversed()).map { "-l\($0)" }
        try compile(
            ["-swift-version", "6", "-parse-as-library", "-o", "phone", "-L", "modules"] + libraries,
            ["stubs/Phone.swift", "Categories.swift"])
        return Program(home.url.appending(path: "phone"))
    }
}

/// Decides `#if` where it asks for a platform or a module. Lines keep their numbers.
private struct Conditions {
    private let platform: Platform

    struct Unknown: Error {
        var condition: String
    }

    init(_ platform: Platform) {
        self.platform = platform
    }

    /// Of an open `#if`: whether its branch is in, whether one was, whether what it stands in is in.
    private struct Branch {
        var isIn: Bool
        var wasIn: Bool
        var outer: Bool
    }

    private func close(_ open: inout [Branch]) throws -> Branch {
        guard let last = open.popLast() else { throw Unknown(condition: "no #if") }
        return last
    }

    func decided(in text: String) throws -> String {
        var open: [Branch] = []
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ", maxSplits: 1)
            let condition = words.count > 1 ? String(words[1]) : ""
            let outer = open.last?.isIn ?? true
            switch words.first {
            case "#if":
                let isIn = try value(of: condition)
                open.append(Branch(isIn: outer && isIn, wasIn: isIn, outer: outer))
            case "#elseif":
                let last = try close(&open)
                let isIn = try !last.wasIn && value(of: condition)
                open.append(Branch(isIn: last.outer && isIn, wasIn: last.wasIn || isIn, outer: last.outer))
            case "#else":
                let last = try close(&open)
                open.append(Branch(isIn: last.outer && !last.wasIn, wasIn: true, outer: last.outer))
            case "#endif": _ = try close(&open)
            default:
                lines.append(outer ? line : "")
                continue
            }
            lines.append("")
        }
        guard open.isEmpty else { throw Unknown(condition: "no #endif") }
        return lines.joined(separator: "\n")
    }

    /// Alternatives of what is required together; parentheses around one term only.
    private func value(of condition: String) throws -> Bool {
        try condition.components(separatedBy: "||").contains { alternative in
            try alternative.components(separatedBy: "&&").allSatisfy { try term($0) }
        }
    }

    private func term(_ text: String) throws -> Bool {
        let text = text.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("!") { return try !term(String(text.dropFirst())) }
        if text.hasPrefix("("), text.hasSuffix(")") { return try term(String(text.dropFirst().dropLast())) }
        if let match = text.wholeMatch(of: #/os\((\w+)\)/#) { return match.1 == platform.rawValue }
        if let match = text.wholeMatch(of: #/canImport\((\w+)\)/#) { return platform.modules.contains(String(match.1)) }
        throw Unknown(condition: text)
    }
}
