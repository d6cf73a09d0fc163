import SatchelCore
import Foundation
import Glibc
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

/// What is in encrypted sources, their keys and those of renditions, in whatever the service leaves anywhere.
@Suite(.timeLimit(.minutes(5))) struct EncryptedCanaryTests {
    private static let plaintext = "canary-plaintext-7c41"

    /// A photograph with a comment that says so many times.
    private static func photo() throws -> Data {
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/orientation-6.jpg"))
        let text = Data(String(repeating: plaintext + " ", count: 2000).utf8)
        let length = text.count + 2
        return photo.prefix(2) + Data([0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 255)]) + text + photo.dropFirst(2)
    }

    /// Which of the files beneath some directories have one of these, and how many bytes were searched. Files that go meanwhile
    /// are passed over.
    private static func search(for needles: [String], under places: [String]) -> (found: [String], bytes: Int) {
        var (found, bytes): ([String], Int) = ([], 0)
        for place in places {
            for name in FileManager.default.enumerator(atPath: place)?.compactMap({ $0 as? String }) ?? [] {
                guard let data = FileManager.default.contents(atPath: place + "/" + name) else { continue }
                bytes += data.count
                for needle in needles where data.range(of: Data(needle.utf8)) != nil {
                    found.append("\(needle.prefix(24)) is in \(name)")
                }
            }
        }
        return (found, bytes)
    }

    private static func expectNowhere(_ needles: [String], under places: [String], _ moment: String) -> Int {
        let (found, bytes) = search(for: needles, under: places)
        #expect(found.isEmpty, "\(moment)")
        return bytes
    }

    @Test func `plaintext and keys are in no file, no log, no metric and no answer about sources, at any moment`()
        async throws
    {
        var generator = SeededGenerator(seed: 31)
        let files = try EncryptionJudge.encrypt(
            try EncryptionScheme.allCases.map { .init($0, try Self.photo(), using: &generator) })
        var secrets: [String] = []
        for file in files {
            let key = try #require(file.encryption.key).key
            secrets += [key.base64EncodedString(), key.base64URL, key.map { String($0, radix: 16) }.joined()]
            secrets.append(String(file.description.matches(of: /[0-9A-Fa-f]{88,}/).first?.output ?? "no fragment"))
        }
        // The memory files have no names, so that /dev/shm has none of them either.
        let harness = try ServiceHarness()
        let scratch = harness.home.path + "/tmp"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        let key = try await harness.makeKey("--role", "admin")
        let origin = try await LocalOrigin { _ in LocalOrigin.Answer() }
        let server = try await harness.serve(
            "--callback-allow", "127.0.0.1", "--log-level", "trace", "--set", "log.requests=true", key: key)
        let places = [harness.home.path]
        // What is looked for would be found.
        let seeded = try harness.file("store/seeded", text: "before \(Self.plaintext) after \(secrets[0])")
        let needles = [Self.plaintext] + secrets
        #expect(Self.search(for: needles, under: places).found.count == 2)
        try FileManager.default.removeItem(at: seeded)
        let searching = Task { () -> Int in
            var searched = 0
            while !Task.isCancelled {
                searched += Self.expectNowhere(needles, under: places, "while it works")
                try? await Task.sleep(for: .milliseconds(20))
            }
            return searched
        }
        var body = Data()
        let wishes = files.indices.map { "{\"part\": \"p\($0)\", \"encryption\": \(files[$0].description)}" }
        let description = """
            {"encrypt": "matrix", "callback": {"url": "\(origin.url("/hook"))"},
             "attachments": [\(wishes.joined(separator: ", "))]}
            """
        for (name, part) in [("job", Data(description.utf8))] + files.indices.map({ ("p\($0)", files[$0].bytes) }) {
            body +=
                Data("--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + part + Data("\r\n".utf8)
        }
        body += Data("--B--\r\n".utf8)
        let taken = try await server.send(
            "PUT", "/v1/jobs/one", ["Content-Type": "multipart/form-data; boundary=B"], body: body)
        #expect(taken.status == 202, "\(taken.text)")
        let finished = try await server.finished("one")
        #expect(finished["state"] as? String == "delivered", "\(finished)")
        try await eventually("the callback is called") { origin.requests.contains { $0.method == "POST" } }
        searching.cancel()
        #expect(await searching.value > 4096)

        let record = String(decoding: try JSONSerialization.data(withJSONObject: finished), as: UTF8.self)
        let metrics = try await server.get("/metrics").text
        // What opens the renditions is for whoever reads the record; what opened the sources is for nobody.
        let made = record.matches(of: /"k":"([0-9A-Za-z_-]{43})"/).map { String($0.1) }
        #expect(made.count >= 3)
        let hook = origin.requests.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(made.allSatisfy(hook.contains))
        for secret in secrets + [Self.plaintext] {
            for text in [record, metrics, hook] { #expect(!text.contains(secret)) }
        }
        func search(_ moment: String) throws {
            let logs = try server.program.outputSoFar + server.program.errorsSoFar
            for secret in secrets + made + [Self.plaintext] { #expect(!logs.contains(secret), "\(moment)") }
            // Callbacks are kept as they were made: what they say of renditions is in them, as in the record.
            #expect(Self.expectNowhere(secrets + [Self.plaintext], under: places, moment) > 4096)
            #expect(Self.expectNowhere(["JFIF"], under: [harness.store], moment) > 4096)
        }
        try search("when it has worked")
        #expect(try await server.stop().status == 0)
        try search("after its end")
    }

    // MARK: Memory

    /// Whether the kernel writes cores into the working directory: else nobody knows where they would be.
    private static let hasCores =
        (try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8))
        .map { !$0.hasPrefix("|") && !$0.hasPrefix("/") && geteuid() == 0 } ?? false

    private static func cores(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix("core") }
    }

    /// A process and those that it has started.
    private static func family(of process: pid_t) -> [pid_t] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        let children = tasks.flatMap { task in
            ((try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)) ?? "")
                .split(separator: " ").compactMap { pid_t($0) }
        }
        return [process] + children.flatMap(family)
    }

    /// The processes that have a file in memory with the canary.
    private static func holders(among processes: [pid_t]) -> [pid_t] {
        processes.filter { process in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
            return files.contains { file in
                let path = "/proc/\(process)/fd/\(file)"
                guard (try? FileManager.default.destinationOfSymbolicLink(atPath: path))?.hasPrefix("/memfd:") == true
                else { return false }
                return FileManager.default.contents(atPath: path)?.range(of: Data(plaintext.utf8)) != nil
            }
        }
    }

    @Test(.enabled(if: hasCores))
    func `plaintext is in files in memory while it is needed, and in no core of who has it`() async throws {
        let isHeld = Mutex(false)
        let waits = Mutex(0)
        // Holds on to what was decrypted for as long as it scans.
        let scanner = try await LocalOrigin { _ in
            if isHeld.withLock(\.self) {
                waits.withLock { $0 += 1 }
                try await Task.sleep(for: .seconds(60))
            }
            return LocalOrigin.Answer(body: Data(#"{"verdict": "yes"}"#.utf8))
        }
        let harness = try ServiceHarness()
        let key = try await harness.makeKey("--role", "admin")
        var satchel = harness.satchel
        // Else Swift's runtime would look at each frame before the kernel has its turn.
        satchel.environment["SWIFT_BACKTRACE"] = "enable=no"
        let server = try await ServiceProcess(
            satchel.start([
                "serve", "--listen", "127.0.0.1:0", "--set", "scan.url=\(scanner.url("/scan"))", "--set",
                "scan.timeout=60",
            ]), key: key)
        let process = server.program.process.processIdentifier
        var generator = SeededGenerator(seed: 32)
        let file = try EncryptionJudge.encrypt(.init(.matrix, try Self.photo(), using: &generator))
        func submit(_ id: String) async throws {
            let description = """
                {"profile": "archive", "encrypt": "aesgcm", "lease_ttl": 60, "deadline": 60,
                 "attachments": [{"part": "a", "encryption": \(file.description)}]}
                """
            var body = Data()
            for (name, part) in [("job", Data(description.utf8)), ("a", file.bytes)] {
                body += Data("--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8)
                body += part + Data("\r\n".utf8)
            }
            let taken = try await server.send(
                "PUT", "/v1/jobs/\(id)", ["Content-Type": "multipart/form-data; boundary=B"],
                body: body + Data("--B--\r\n".utf8))
            #expect(taken.status == 202, "\(taken.text)")
        }

        // In and out again, what it was; and then it is in nobody's memory files.
        try await submit("one")
        let finished = try await server.finished("one")
        let attachments = try #require(finished["attachments"] as? [[String: Any]], "\(finished)")
        let renditions = try #require(attachments.first?["renditions"] as? [String: [String: Any]])
        let original = try #require(renditions["original"], "\(finished)")
        let address = try #require(original["url"] as? String)
        let url = try #require(URL(string: address))
        let content = try await server.send("GET", url.path)
        let encryption = try JSONSerialization.data(withJSONObject: try #require(original["encryption"]))
        #expect(
            try EncryptionJudge.decrypt(content.data, String(decoding: encryption, as: UTF8.self)) == Self.photo())
        try await eventually("all plaintext is gone") { Self.holders(among: Self.family(of: process)).isEmpty }
        #expect(Self.expectNowhere([Self.plaintext, "JFIF"], under: [harness.store], "when it has worked") > 4096)

        // While it is there it is found, so that it would have been before.
        isHeld.withLock { $0 = true }
        try await submit("two")
        try await eventually("it is scanned") { waits.withLock(\.self) > 0 }
        let family = Self.family(of: process)
        #expect(Self.holders(among: family).contains(process))
        // It is what the scanner is given: in ciphertext it would find nothing.
        #expect(try scanner.requests.count == 2 && scanner.requests.allSatisfy { try $0.body == Self.photo() })
        #expect(Self.expectNowhere([Self.plaintext], under: [harness.home.path], "while it is decrypted") > 4096)

        // Who has as much to hide, and doesn't forbid it, leaves a core that has it.
        let control = harness.home.path + "/control"
        try FileManager.default.createDirectory(atPath: control, withIntermediateDirectories: true)
        var python = Program.tool("python3")
        python.directory = URL(filePath: control)
        let aborted = try python.run(["-c", Self.abort, String(Self.plaintext.reversed())])
        #expect(aborted.signal == SIGABRT)
        let core = try #require(try Self.cores(in: control).first)
        #expect(FileManager.default.contents(atPath: control + "/" + core)?.range(of: Data(Self.plaintext.utf8)) != nil)
        try FileManager.default.removeItem(atPath: control)

        let allowed = try Program.tool("prlimit").run(["--pid", "\(process)", "--core=unlimited:unlimited"])
        #expect(allowed.status == 0, "\(allowed.errorText)")
        #expect(try await server.stop(SIGABRT).signal == SIGABRT)
        #expect(try Self.cores(in: harness.home.path).isEmpty)
        #expect(Self.expectNowhere([Self.plaintext], under: [harness.home.path], "after a crash") > 4096)
    }

    /// Has in memory what it was told backwards, and crashes.
    private static let abort = """
        import os, resource, sys
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        secret = sys.argv[1][::-1]
        os.abort()
        """
}
