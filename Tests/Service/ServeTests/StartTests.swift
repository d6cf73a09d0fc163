import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct StartTests {
    @Test func `on loopback it makes a key, which ends with the process`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        let key = try #require(server.key)
        #expect(server.url.host() == "127.0.0.1")
        #expect(try await server.accepts())
        #expect(try await !server.accepts(key + "x"))
        #expect(try !server.program.outputSoFar.contains(key))
        #expect(try await harness.run("key", "list").outputText.contains("active"))
        #expect(try await server.stop().status == 0)
        let keys = try await harness.run("key", "list").outputText
        #expect(keys.contains("revoked") && !keys.contains("active"), "\(keys)")
        // Where a key is, none is made.
        _ = try await harness.makeKey()
        let second = try await harness.serve()
        #expect(second.key == nil)
    }

    @Test func `of the program's file it holds what it uses, not what its start used`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        /// Kilobytes of its code and constants.
        func held() throws -> Int {
            var total = 0, isCounted = false
            let process = server.program.process.processIdentifier
            for line in try String(contentsOfFile: "/proc/\(process)/smaps", encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                if !words[0].hasSuffix(":") {
                    isCounted = words.last?.hasSuffix("/satchel") == true && !words[1].contains("w")
                } else if words[0] == "Rss:", isCounted {
                    total += Int(words[1]) ?? 0
                }
            }
            return total
        }
        let began = try held()
        try await eventually("it lets go of most") { try held() < began / 2 }
        #expect(try await server.accepts())
        #expect(try await server.stop().status == 0)
    }

    @Test func `the key of a service that was killed is taken back by the next one`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        let key = try #require(server.key)
        server.signal(SIGKILL)
        _ = try await server.program.end()
        let second = try await harness.serve()
        #expect(second.key != nil && second.key != key)
        #expect(try await !second.accepts(key))
        #expect(try await second.accepts())
    }

    @Test func `off loopback it doesn't start without a key or without a public URL`() async throws {
        let harness = try ServiceHarness()
        let withoutURL = try await harness.run("serve", "--listen", ":0")
        #expect(withoutURL.status == 2 && withoutURL.errorText.contains("public_url"), "\(withoutURL.errorText)")
        let withoutKey = try await harness.run(
            "serve", "--listen", "0.0.0.0:0", "--public-url", "https://media.example.com")
        #expect(
            withoutKey.status == 2 && withoutKey.errorText.contains("satchel key create"), "\(withoutKey.errorText)")
        let careless = try await harness.run(
            "serve", "--listen", ":0", "--public-url", "https://media.example.com", "--set", "api_keys.required=false")
        #expect(careless.status == 2 && careless.errorText.contains("api_keys.required"), "\(careless.errorText)")
        _ = try await harness.makeKey()
        let started = try harness.satchel.start([
            "serve", "--listen", "0.0.0.0:0", "--public-url", "https://media.example.com",
        ])
        try await eventually("it listens") { try started.outputSoFar.contains("\"listening\"") }
        #expect(try !started.errorsSoFar.contains("satk_"))
        started.process.terminate()
        #expect(try started.wait().status == 0)
    }

    @Test func `without keys on loopback every program is an administrator, but no web page`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve("--set", "api_keys.required=false")
        #expect(server.key == nil)
        #expect(try await server.get("/metrics").status == 200)
        for header in ["Host: evil.example", "Sec-Fetch-Site: cross-site"] {
            let asked = try Program.tool("curl").run([
                "-sS", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}", "-H", header,
                server.url.absoluteString + "/v1/jobs",
            ])
            #expect(asked.outputText == "403", "\(header): \(asked.errorText)")
        }
    }

    @Test func `an address in use, or none, is one clear sentence`() async throws {
        let harness = try ServiceHarness()
        let server = try await harness.serve()
        let port = try #require(server.url.port)
        let second = try await harness.run("serve", "--listen", "127.0.0.1:\(port)")
        #expect(second.status == 3 && second.errorText.contains("can't be listened on"), "\(second.errorText)")
        #expect(!second.errorText.contains("satk_"), "it made a key without a port")
        #expect(second.errorText.contains("--listen") && !second.errorText.contains("Fatal"))
        let nowhere = try await harness.run(
            "serve", "--listen", "192.0.2.1:0", "--public-url", "https://media.example.com")
        #expect(nowhere.status == 3 && !nowhere.errorText.contains("Fatal"), "\(nowhere.errorText)")
    }

    @Test func `it doesn't start where the codec or its confinement is missing`() async throws {
        let harness = try ServiceHarness()
        var satchel = harness.satchel
        satchel.environment["SATCHEL_CODEC"] = "/bin/false"
        let result = try satchel.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(result.status == 1 && result.errorText.contains("/bin/false"), "\(result.errorText)")
        #expect(!result.outputText.contains("listening"))
        // Nothing is left behind that would open it.
        #expect(try await !harness.run("key", "list").outputText.contains("active"))
    }

    @Test func `it speaks TLS by certificate files`() async throws {
        let harness = try ServiceHarness()
        let home = harness.home.path
        try await onThread {
            try Program.makeCertificate("localhost", certificate: home + "/cert.pem", key: home + "/key.pem")
        }
        let server = try await harness.serve("--tls-certificate", "cert.pem", "--tls-key", "key.pem")
        #expect(server.url.scheme == "https")
        let trusted = try Program.tool("curl").run([
            "-sS", "--cacert", harness.home.path + "/cert.pem", server.url.absoluteString + "/livez",
        ])
        #expect(trusted.outputText == "ok\n", "\(trusted.errorText)")
        let untrusted = try Program.tool("curl").run(["-sS", server.url.absoluteString + "/livez"])
        #expect(untrusted.status != 0)
        let plain = try Program.tool("curl").run([
            "-sS", "-m", "5", server.url.absoluteString.replacing("https", with: "http") + "/livez",
        ])
        #expect(plain.outputText.isEmpty)
        #expect(try await server.stop().status == 0)
        let mismatched = try await harness.run(
            "serve", "--listen", "127.0.0.1:0", "--tls-certificate", "cert.pem", "--tls-key", "cert.pem")
        #expect(mismatched.status == 2 && mismatched.errorText.contains("private key"), "\(mismatched.errorText)")
    }
}
