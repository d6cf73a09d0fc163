import SatchelCore
import Foundation
import TestSupport
import Testing

@Suite struct CommandTests {
    @Test(arguments: [
        [], ["batch"], ["add"], ["inspect"], ["list"], ["show"], ["get"], ["rm"], ["lease"], ["grant"], ["revoke"],
        ["jobs"], ["cancel"], ["retry"], ["trigger"],
        ["profile"], ["profile", "list"], ["profile", "show"], ["profile", "check"], ["store"], ["store", "gc"],
        ["store", "verify"], ["store", "migrate"], ["store", "backup"], ["store", "restore"], ["store", "copy"],
        ["doctor"], ["serve"], ["key"], ["key", "create"], ["key", "list"],
        ["key", "rotate"], ["key", "revoke"], ["config"], ["config", "show"], ["config", "keys"],
        ["config", "example"],
        ["config", "check"],
    ])
    func `every command teaches with --help`(command: [String]) throws {
        let user = try CommandLineUser()
        let result = try user.satchel.run(command + ["--help"])
        #expect(result.status == 0 && result.errorText.isEmpty)
        #expect(result.outputText.contains("OVERVIEW: "))
        if command != ["profile", "list"] && command.count < 2 {
            #expect(result.outputText.contains("  satchel \(command.joined(separator: " "))"), "there is no example")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `there is a completion for every shell`(shell: String) throws {
        let user = try CommandLineUser()
        let result = try user.run("--generate-completion-script", shell)
        #expect(result.status == 0 && result.outputText.contains("retry-failed"))
    }

    @Test(arguments: [
        (["batch"], "--files-from"), (["batch", "/nonexistent-directory"], "'/nonexistent-directory'"),
        (["batch", ".", "--nope"], "--nope"), (["batch", ".", "--profile", "nope"], "there is no profile 'nope'"),
        (["batch", ".", "--codecs", "0"], "--codecs"), (["batch", ".", "--shard", "3/2"], "--shard"),
        (["batch", ".", "--timeout", "-1"], "--timeout"), (["add"], "<file|url>"),
        (["add", "nothing.jpg"], "no such file"), (["add", "a.jpg", "--encrypt", "signal"], "'matrix' or 'aesgcm'"),
        (["add", "."], "directory"), (["get"], "--lease"), (["list", "--state", "odd"], "--state"),
        (["inspect", "a.jpg", "--memory", "1k"], "--memory"), (["lease", "a", "--for", "never"], "--for"),
        (["inspect"], "<file>"), (["inspect", "a.jpg", "b.jpg", "--format", "json"], "jsonl"),
        (["inspect", "a.jpg", "--trim-around-thumbnail"], "--thumbnail-time"),
        (["inspect", "a.jpg", "--trim-around-thumbnail", "--thumbnail-time", "1", "--trim-end", "2"], "--trim-end"),
        (["add", "a.jpg", "--trim-end", "1", "--trim-duration", "1"], "--trim-end"),
        (["add", "a.jpg", "--trim-start", "2", "--trim-end", "1"], "--trim-end"), (["nonsense"], "nonsense"),
        (["add", "a.gif", "--thumbnail-time", "1", "--thumbnail-frame", "1"], "-time and --thumbnail-frame"),
    ])
    func `wrong usage is one clear complaint, exit status 2, and no trace`(arguments: [String], names: String) throws {
        let user = try CommandLineUser()
        let result = try user.satchel.run(arguments)
        #expect(result.status == 2, "\(result.errorText)")
        #expect(result.errorText.contains(names), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: user.store.path))
    }

    @Test func `options that change nothing are named, and the record says so`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "a.jpg")
        let added = try user.run(
            "add", "a.jpg", "--trim-start", "1", "--trim-duration", "2", "--thumbnail-time", "1", "--format", "jsonl")
        #expect(added.status == 0, "\(added.errorText)")
        for said in [
            "a.jpg: warning: --trim-start and --trim-duration have no effect: a still picture has no length.",
            "a.jpg: warning: --thumbnail-time has no effect: a still picture has no moments.",
        ] {
            #expect(added.errorText.contains(said), "\(added.errorText)")
        }
        let line = try #require(try JSONSerialization.jsonObject(with: added.output) as? [String: Any])
        let shown = try user.run("show", try #require(line["attachment_id"] as? String))
        let note = "passed over: trim, as a still picture has no length"
        #expect(shown.outputText.contains(note), "\(shown.outputText)")
        let silent = try user.run("add", "a.jpg", "--crop", "centre")
        #expect(silent.status == 0 && !silent.errorText.contains("warning"), "\(silent.errorText)")
    }

    @Test func `an unwritable store is one clear sentence`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        try user.file("occupied/file", Data("x".utf8))
        let occupied = try user.run("batch", "in", "--store", "occupied")
        #expect(occupied.status == 2 && occupied.errorText.contains("is not a Satchel store"), "\(occupied.errorText)")
        let impossible = try user.run("batch", "in", "--store", "/proc/satchel")
        #expect(impossible.status == 3 && impossible.errorText.contains("/proc/satchel"), "\(impossible.errorText)")
        let missing = try user.run("list")
        #expect(missing.status == 2 && missing.errorText.contains("no Satchel store"), "\(missing.errorText)")
    }

    @Test(arguments: ["size=600k", "nr_inodes=14"])
    func `a full disk, or one without inodes, is one clear sentence and loses nothing`(option: String) throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 0..<30 { try user.file("in/\(number).jpg", photo + Data("\(number)".utf8)) }
        try MemoryDisk.mounted(at: user.home.url.appending(path: "disk"), options: option) { disk in
            let store = disk.url.appending(path: "store").path
            let full = try user.run("batch", "in", "--store", store)
            #expect(full.status == 3)
            #expect(full.errorText.contains("Free some space or inodes"), "\(full.errorText)")
            #expect(!full.errorText.contains("SQLite") && !full.errorText.contains("Fatal"), "\(full.errorText)")
            // With room, the same command carries on and everything comes out.
            try disk.remount("size=200m,nr_inodes=10000")
            let rest = try user.run("batch", "in", "--store", store)
            #expect(rest.status == 0, "\(rest.errorText)")
            #expect(try user.run("store", "gc", "--store", store).status == 0)
            let verified = try user.run("store", "verify", "--store", store)
            #expect(verified.status == 0 && !verified.outputText.contains("unused"), "\(verified.outputText)")
        }
    }

    @Test func `a strict job delivers all or nothing, a lenient one what it can`() throws {
        let user = try CommandLineUser()
        let photo = try user.sample("jpeg/coffee.jpg", as: "good.jpg")
        try user.file("bad.jpg", Data(contentsOf: photo).prefix(5_000))
        func states(_ mode: String) throws -> [String] {
            let result = try user.run("add", "good.jpg", "bad.jpg", "--mode", mode, "--format", "jsonl")
            #expect(result.status == 1)
            return result.outputText.split(separator: "\n").map { line in
                if line.contains("\"state\":\"delivered\"") { return "delivered" }
                return line.contains("\"code\":\"withheld\"") ? "withheld" : "failed"
            }
        }
        #expect(try states("lenient") == ["delivered", "failed"])
        #expect(try states("strict") == ["withheld", "failed"])
    }

    @Test func `inspect tells what a file really is without storing anything`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "picture.png")
        let result = try user.run("inspect", "picture.png", "--format", "json")
        #expect(result.status == 0, "\(result.errorText)")
        let probeResult = try JSON.decode(ProbeResult.self, from: result.output)
        #expect(probeResult.kind == .image && probeResult.type == .jpeg && probeResult.planned.contains(.main))
        #expect(!FileManager.default.fileExists(atPath: user.store.path))
        let main = try #require(probeResult.forecasts.first { $0.role == .main })
        #expect(probeResult.forecasts.map(\.role) == probeResult.planned && main.type == .jpeg)
        #expect(main.size == PixelSize(width: 600, height: 400), "\(main)")
        try user.file("note.txt", Data("note".utf8))
        let refused = try user.run("inspect", "note.txt")
        #expect(refused.status == 1 && refused.errorText.contains("unrecognized_type"))
    }

    @Test func `inspect looks at several files, each with its own line, and passes over none that is refused`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "a.jpg")
        try user.file("note.txt", Data("note".utf8))
        try user.sample("mp4/film.mp4", as: "b.mp4")
        let result = try user.run("inspect", "a.jpg", "note.txt", "absent", "b.mp4", "--format", "jsonl")
        #expect(result.status == 1, "\(result.errorText)")
        let lines = try result.output.split(separator: UInt8(ascii: "\n")).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
        #expect(lines.map { $0["path"] as? String } == ["a.jpg", "note.txt", "absent", "b.mp4"])
        #expect(lines.map { ($0["findings"] as? [String: Any])?["kind"] as? String } == ["image", nil, nil, "video"])
        #expect(
            lines.map { ($0["error"] as? [String: Any])?["code"] as? String }
                == [nil, "unrecognized_type", "invalid_source", nil])
        #expect(lines.allSatisfy { $0.count == 3 })
        let told = try user.run("inspect", "a.jpg", "note.txt", "b.mp4")
        #expect(told.status == 1 && told.errorText.contains("note.txt: unrecognized_type"), "\(told.errorText)")
        #expect(told.outputText.hasPrefix("a.jpg\nkind       image\n"), "\(told.outputText)")
        #expect(told.outputText.contains("\n\nb.mp4\nkind       video\n"), "\(told.outputText)")
    }

    @Test func `inspect tells what would be made and why, and what the profile would refuse`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/orientation-6.jpg", as: "photo.jpg")
        let told = try user.run("inspect", "photo.jpg", "--profile", "avatar", "--crop", "0.25,0.8")
        #expect(told.status == 0, "\(told.errorText)")
        #expect(told.outputText.contains("Under the profile 'avatar' it becomes:"), "\(told.outputText)")
        for words in ["main       image/jpeg: JPEG quality 82 or less", "cropped to the focal point 0.25, 0.8"] {
            #expect(told.outputText.contains(words), "\(told.outputText)")
        }
        let kept = try user.run("inspect", "photo.jpg", "--profile", "archive")
        #expect(kept.outputText.contains("original   unchanged"), "\(kept.outputText)")
        // 601 s of silence under a profile that takes 600.
        var wave = Data("RIFF".utf8)
        func append(_ value: Int, bytes: Int) {
            wave.append(contentsOf: (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
        }
        append(36 + 601 * 16_000, bytes: 4)
        wave.append(contentsOf: "WAVEfmt ".utf8)
        for (value, bytes) in [(16, 4), (1, 2), (1, 2), (8_000, 4), (16_000, 4), (2, 2), (16, 2)] {
            append(value, bytes: bytes)
        }
        wave.append(contentsOf: "data".utf8)
        append(601 * 16_000, bytes: 4)
        try user.file("long.wav", wave + Data(count: 601 * 16_000))
        let refused = try user.run("inspect", "long.wav", "--profile", "message")
        #expect(refused.status == 1 && refused.errorText.contains("too_long"), "\(refused.errorText)")
        let trimmed = try user.run(
            "inspect", "long.wav", "--profile", "message", "--thumbnail-time", "300", "--trim-around-thumbnail",
            "--trim-duration", "6", "--format", "json")
        #expect(trimmed.status == 0, "\(trimmed.errorText)")
        let made = try user.run(
            "add", "long.wav", "--profile", "message", "--thumbnail-time", "300", "--trim-around-thumbnail",
            "--trim-duration", "6", "--format", "jsonl")
        let object = try #require(try JSONSerialization.jsonObject(with: made.output) as? [String: Any])
        let shown = try user.run("show", try #require(object["attachment_id"] as? String))
        let record = try JSON.decode(AttachmentRecord.self, from: shown.output)
        #expect(record.trim?.start == 297 && record.trim?.duration == 6, "\(shown.outputText)")
    }

    @Test func `the stages of a job sum up to its seconds`() throws {
        let user = try CommandLineUser()
        // What no step counts is the claim and the record itself, which take long beside a small picture. On a busy machine
        // they wait at times, so the best of several counts.
        var least: (share: Double, told: String) = (.infinity, "")
        for number in 0..<5 where least.share >= 0.5 {
            try user.sample("jpeg/80-megapixels.jpg", as: "\(number).jpg")
            let line = try user.run("add", "\(number).jpg", "--format", "jsonl")
            let object = try #require(try JSONSerialization.jsonObject(with: line.output) as? [String: Any])
            let shown = try user.run("show", try #require(object["attachment_id"] as? String))
            let record = try JSON.decode(AttachmentRecord.self, from: shown.output)
            let whole = (try #require(record.finishedAt) - record.createdAt).inSeconds
            let told = record.steps.reduce(0) { $0 + $1.seconds }
            // Steps are rounded to milliseconds.
            #expect(told <= whole + 0.005, "\(told) of \(whole) s: \(record.steps)")
            #expect(record.steps.map(\.name) == ["wait", "identify", "thumbnail", "main", "placeholder", "commit"])
            let missing = (whole - told) / whole
            if missing < least.share { least = (missing, "\(told) of \(whole) s: \(record.steps)") }
        }
        #expect(least.share < 0.5, "\(least.told)")
    }

    @Test func `doctor names every layer of the confinement`() throws {
        let user = try CommandLineUser()
        let result = try user.run("doctor")
        #expect(result.status == 0, "\(result.outputText)")
        for layer in SandboxLayer.allCases { #expect(result.outputText.contains(layer.title)) }
    }

    /// As in a container of one user, who is root there.
    @Test func `root that is an ordinary user outside is confined as that user`() throws {
        let user = try CommandLineUser()
        let place = user.home.url.appending(path: "apart").path(percentEncoded: false)
        let built = try Repository.product("satchel").deletingLastPathComponent().path(percentEncoded: false)
        // The products are seen where everybody may look.
        let result = try Program.tool("unshare").run([
            "--mount", "sh", "-c",
            """
            mkdir -p "$0/bin" "$0/home" && chmod 777 "$0/home" && chmod 755 "$0" "$0/.." && mount --bind "$1" "$0/bin" || exit 70
            as='' && [ "$(awk '$1 == 0 { print $2 }' /proc/self/uid_map)" != 0 ] \
                || as='setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user'
            HOME="$0/home" SATCHEL_STORE="$0/home/store" exec $as "$0/bin/satchel" doctor
            """, place, built,
        ])
        #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
        let line = try #require(result.outputText.split(separator: "\n").first { $0.contains(SandboxLayer.user.title) })
        #expect(line.contains("not needed: root here is an ordinary user outside"), "\(line)")
        for layer in SandboxLayer.allCases where layer != .user {
            let line = result.outputText.split(separator: "\n").first { $0.contains(layer.title) }
            #expect(line?.contains("active") == true, "\(line ?? "")")
        }
    }

    @Test func `doctor says which libraries decode, and what they don't read but newer ones do`() throws {
        let lines = try CommandLineUser().run("doctor").outputText.split(separator: "\n")
        for name in CodecLibrary.Name.allCases {
            let line = try #require(lines.first { $0.dropFirst(4).hasPrefix("\(name.rawValue) ") })
            let version = try #require(line.firstMatch(of: /\d+\.\d+\.\d+/)).output
            let missing = NewerFeature.missing(in: CodecLibrary(name, version: String(version)))
            #expect(line.hasPrefix("--") == !missing.isEmpty)
            for feature in missing { #expect(line.contains(feature.subject) && line.contains(feature.help)) }
        }
    }

    @Test func `doctor says who decodes the Huffman codes of JPEGs, and why not Satchel's decoder`() throws {
        let user = try CommandLineUser()
        func line(_ arguments: [String] = []) throws -> String {
            let result = try user.satchel.run(["doctor"] + arguments)
            #expect(result.status == 0)
            let lines = result.outputText.split(separator: "\n")
            return String(try #require(lines.first { $0.dropFirst(4).hasPrefix("libjpeg-turbo ") }))
        }
        #expect(try line().hasPrefix("ok"))
        let settings = user.home.url.appending(path: "off.yaml")
        try Data("jpeg:\n  fast_huffman: false\n".utf8).write(to: settings)
        for arguments in [["--plain-huffman"], ["--config", settings.path]] {
            let line = try line(arguments)
            #expect(line.hasPrefix("--") && line.contains(CodecLibrary.HuffmanFallback.turnedOff.reason))
        }
    }

    @Test func `a URL on this machine is refused, naming the flag that allows it, and fetched with it`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "site/photo.jpg")
        let server = try Program(Program.tool("python3").executable, in: user.home.url.appending(path: "site"))
            .start(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
        var port: String?
        let end = Date(timeIntervalSinceNow: 60)
        while port == nil, Date() < end {
            Thread.sleep(forTimeInterval: 0.05)
            port = try server.outputSoFar.firstMatch(of: /port (\d+)/).map { String($0.1) }
        }
        let url = "http://127.0.0.1:\(try #require(port))/photo.jpg"
        let refused = try user.run("add", url)
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("blocked_address") && refused.errorText.contains("--fetch-allow"))
        let fetched = try user.run("add", url, "--fetch-allow", "127.0.0.1", "--format", "jsonl")
        #expect(fetched.status == 0 && fetched.outputText.contains("\"state\":\"delivered\""), "\(fetched.errorText)")
        let missing = try user.run("add", url + "x", "--fetch-allow", "127.0.0.1")
        #expect(missing.status == 1 && missing.errorText.contains("The origin answered 404"), "\(missing.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: user.store.path + "/spool").isEmpty)
    }

    @Test func `a record explains itself`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "a.jpg")
        let line = try user.run("add", "a.jpg", "--identifier", "photo", "--format", "jsonl")
        let object = try #require(try JSONSerialization.jsonObject(with: line.output) as? [String: Any])
        let shown = try user.run("show", try #require(object["attachment_id"] as? String))
        let record = try JSON.decode(AttachmentRecord.self, from: shown.output)
        #expect(record.identifier == "photo" && record.state == .delivered && record.fidelity == .full)
        #expect(record.steps.map(\.name).contains("identify") && record.steps.map(\.name).contains("commit"))
        #expect(record.best == .main && record.options.typeHint == "public.jpeg")
        #expect(record.contentSizeRatio != nil && record.placeholder?.thumbhash != nil)
    }
}
