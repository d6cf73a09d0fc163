import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    /// The settings as `satchel config --format json` has them.
    private func settings(_ satchel: Program, _ arguments: String...) throws -> [String: (value: Any, origin: String)] {
        let result = try satchel.run(["config", "--format", "json"] + arguments)
        #expect(result.status == 0, "\(result.errorText)")
        let lines = try #require(try JSONSerialization.jsonObject(with: result.output) as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                guard let key = line["key"] as? String, let origin = line["origin"] as? String else { return nil }
                return (key, (line["value"] ?? NSNull(), origin))
            })
    }

    @Test func `flags win over the environment, which wins over the file, which wins over defaults`() throws {
        let harness = try ServiceHarness()
        _ = try harness.file(
            "satchel.yaml",
            text: """
                memory: 1G
                codecs: 2
                limits:
                  image_bytes: 30M
                  streams: 4
                fetch.allow: [10.0.0.0/8, media.internal:8080]
                categories: {message: message, call: avatar}
                grace: 1m
                """)
        var satchel = harness.satchel
        satchel.environment["SATCHEL_LIMITS_IMAGE_BYTES"] = "20M"
        satchel.environment["SATCHEL_CODECS"] = "3"
        satchel.environment["SATCHEL_PAYLOAD_POINTERS"] = "/a/b, /c"
        let read = try settings(satchel, "--config", "satchel.yaml", "--codecs", "5", "--set", "limits.streams=6")
        func expect<Value: Equatable>(_ key: String, _ value: Value, _ origin: String) {
            let found = read[key]
            #expect(found?.value as? Value == value, "\(key): \(String(describing: found))")
            #expect(found?.origin == origin, "\(key): \(String(describing: found))")
        }
        expect("codecs", 5, "--codecs")
        expect("limits.streams", 6, "--set limits.streams")
        expect("limits.image_bytes", 20 << 20, "SATCHEL_LIMITS_IMAGE_BYTES")
        expect("memory", 1 << 30, "satchel.yaml line 1")
        expect("fetch.allow", ["10.0.0.0/8", "media.internal:8080"], "satchel.yaml line 6")
        expect("categories", ["message": "message", "call": "avatar"], "satchel.yaml line 7")
        expect("payload.pointers", ["/a/b", "/c"], "SATCHEL_PAYLOAD_POINTERS")
        expect("grace", 60, "satchel.yaml line 8")
        expect("limits.animation_frames", 20_000, "default")
        expect("store", harness.store, "SATCHEL_STORE")
    }

    @Test func `every problem is told at once, with its key, where it came from, its value and what would do`()
        async throws
    {
        let harness = try ServiceHarness()
        _ = try harness.file(
            "bad.yaml",
            text: """
                listen: nowhere
                limits:
                  image_bytes: lots
                  image_byte: 5
                colour: blue
                fetch:
                  allow: [10.0.0.1/8]
                log: {level: chatty}
                tls: {key: missing.pem}
                categories: {message: mesage}
                codecs: [1, 2]
                payload: {pointers: [/a~2]}
                """)
        var satchel = harness.satchel
        satchel.environment["SATCHEL_GRACE"] = "-3"
        let result = try satchel.run([
            "serve", "--config", "bad.yaml", "--memory", "1k", "--set", "quota.live_leases=3",
        ])
        #expect(result.status == 2 && result.output.isEmpty)
        for pattern in [
            "listen 'nowhere' (bad.yaml line 1): must be an address and a port",
            "limits.image_bytes 'lots' (bad.yaml line 3): must be at least 1 bytes",
            "limits.image_byte (bad.yaml line 4): there is no such setting (did you mean 'limits.image_bytes'?)",
            "colour (bad.yaml line 5): there is no such setting",
            "fetch.allow '10.0.0.1/8' (bad.yaml line 7): the address has bits beyond the prefix",
            "log.level 'chatty' (bad.yaml line 8): must be one of trace, debug, info",
            "tls.certificate (default): must be set, because tls.key is",
            "tls.key 'missing.pem' (bad.yaml line 9): must be an existing file",
            "categories 'message=mesage' (bad.yaml line 10): there is no profile 'mesage' (did you mean 'message'?)",
            "codecs (bad.yaml line 11): must be one value (count)",
            "payload.pointers '/a~2' (bad.yaml line 12): must be a JSON pointer",
            "grace '-3' (SATCHEL_GRACE): must be between 0 and 3600 seconds",
            "memory '1k' (--memory): must be at least 268435456 bytes",
            "quota.live_leases (--set quota.live_leases): there is no such setting (did you mean 'quotas.live_leases'?)",
        ] {
            #expect(result.errorText.contains(pattern), "not told: \(pattern)\n\(result.errorText)")
        }
        #expect(result.errorText.contains("14 problems in the settings"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: harness.store))
        let checked = try await harness.run("config", "check", "bad.yaml")
        #expect(checked.status == 1 && checked.errorText.contains("11 problems"), "\(checked.errorText)")
    }

    @Test func `quotas of single tenants are read from a file, the environment and flags, and told as they are`() throws
    {
        let harness = try ServiceHarness()
        let (bytes, counts) = (
            ["stored_bytes", "upload_bytes"],
            ["pending_jobs", "live_leases", "submissions_per_minute", "pending_notifications", "open_uploads"]
        )
        let all = (bytes.map { "\($0): 2M" } + counts.map { "\($0): 2" }).joined(separator: ", ")
        _ = try harness.file(
            "satchel.yaml",
            text: "quotas:\n  open_uploads: 5\n  tenants:\n    acme: {\(all)}\n    a.b=c: {stored_bytes: null}\n")
        let read = try settings(harness.satchel, "--config", "satchel.yaml")["quotas.tenants"]
        let tenants = try #require(read?.value as? [String: [String: Any]])
        #expect(
            tenants["acme"]?.keys.sorted() == (bytes + counts).sorted()
                && tenants["acme"]?["stored_bytes"] as? Int == 2 << 20)
        #expect(tenants["acme"]?["open_uploads"] as? Int == 2 && tenants["a.b=c"]?["stored_bytes"] is NSNull)
        let printed = try harness.satchel.run(["config", "--config", "satchel.yaml"])
        _ = try harness.file("printed.yaml", printed.output)
        let again = try settings(harness.satchel, "--config", "printed.yaml")["quotas.tenants"]?.value
        #expect((again as? NSDictionary) == (tenants as NSDictionary))
        var satchel = harness.satchel
        satchel.environment["SATCHEL_QUOTAS_TENANTS"] = "acme.live_leases=3, bob.live_leases=null"
        let named = try settings(satchel, "--config", "satchel.yaml")["quotas.tenants"]?.value
        #expect((named as? NSDictionary) == ["acme": ["live_leases": 3], "bob": ["live_leases": NSNull()]])
        for (entry, complaint) in [
            ("acme.stored_byte=5", "there is no quota 'stored_byte' (did you mean 'stored_bytes'?)"),
            ("acme=5", "entries must be tenant.quota=value"),
            ("acme.open_uploads=0", "must be a whole number from 1"),
        ] {
            let result = try harness.satchel.run(["config", "--set", "quotas.tenants=\(entry)"])
            #expect(result.status == 2 && result.errorText.contains(complaint), "\(entry): \(result.errorText)")
        }
        _ = try harness.file("flat.yaml", text: "quotas: {tenants: {acme: 5}}\n")
        let flat = try harness.satchel.run(["config", "check", "flat.yaml"])
        #expect(flat.status == 1 && flat.errorText.contains("must be a mapping of mappings"), "\(flat.errorText)")
    }

    @Test(arguments: ["- a\n- b\n", "a: [", "just text"])
    func `a file that is no mapping is one clear complaint`(text: String) async throws {
        let harness = try ServiceHarness()
        _ = try harness.file("odd.yaml", text: text)
        let result = try await harness.run("config", "check", "odd.yaml")
        #expect(result.status == 1 && result.errorText.contains("odd.yaml"), "\(result.errorText)")
        #expect(!result.errorText.contains("Fatal"))
    }

    @Test func `a variable that is no setting is warned of, with the nearest`() throws {
        let harness = try ServiceHarness()
        var satchel = harness.satchel
        satchel.environment["SATCHEL_PUBLIC_URI"] = "https://media.example.com"
        let result = try satchel.run(["config"])
        #expect(result.status == 0)
        #expect(
            result.errorText.contains("SATCHEL_PUBLIC_URI") && result.errorText.contains("SATCHEL_PUBLIC_URL"),
            "\(result.errorText)")
    }

    @Test func `what is printed can be read again, and the example is sound`() async throws {
        let harness = try ServiceHarness()
        let printed = try await harness.run(
            "config", "--set", "fetch.allow=10.0.0.0/8,[fd00::/8]:80", "--set", "codecs=4")
        _ = try harness.file("printed.yaml", printed.output)
        let again = try settings(harness.satchel, "--config", "printed.yaml")
        #expect(again["fetch.allow"]?.value as? [String] == ["10.0.0.0/8", "[fd00::/8]:80"])
        #expect(again["codecs"]?.value as? Int == 4)
        let example = try await harness.run("config", "example").outputText
        let uncommented = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("# ") ? String(line.dropFirst(2)) : String(line)
        }.dropFirst(2).joined(separator: "\n")
        _ = try harness.file("example.yaml", text: example)
        _ = try harness.file("uncommented.yaml", text: uncommented)
        for name in ["example.yaml", "uncommented.yaml"] {
            let checked = try await harness.run("config", "check", name)
            #expect(checked.status == 0, "\(checked.errorText)")
        }
        let keys = try await harness.run("config", "keys").outputText
        for key in again.keys { #expect(keys.contains("\n\(key)\n") || keys.hasPrefix("\(key)\n")) }
    }

    @Test func `the commands find the store that the file names`() throws {
        let harness = try ServiceHarness()
        _ = try harness.file("satchel.yaml", text: "store: elsewhere\naccess: {keys: other.keys}\n")
        var satchel = harness.satchel
        satchel.environment["SATCHEL_CONFIG"] = "satchel.yaml"
        satchel.environment["SATCHEL_STORE"] = ""
        satchel.environment["SATCHEL_ACCESS_KEYS"] = ""
        #expect(try satchel.run(["key", "create"]).status == 0)
        #expect(FileManager.default.fileExists(atPath: harness.home.path + "/elsewhere/records.sqlite"))
        #expect(FileManager.default.fileExists(atPath: harness.home.path + "/other.keys"))
    }
}
