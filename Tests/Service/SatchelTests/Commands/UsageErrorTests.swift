import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import satchel

/// What the program says where something isn't as it was meant.
@Suite struct UsageErrorTests {
    @Test func `a problem of a profile is told with the line of its key, or of what it belongs to`() throws {
        let yaml = """
            profiles:
              one:
                based_on: notification
                image:
                  longest_side: 800
                  types:
                    - image/gif
                  minimum_quality: 95
                video:
                  poster:
                    quality: 101
                audio:
                  aim:
                    - 1
              two:
                summary: nothing
              three:
                image: [1]
            """
        let error = #expect(throws: ProfileFileError.self) { try ProfileFile(yaml: yaml, path: "mine.yaml") }
        let problems = (error?.problems ?? []).joined(separator: "\n")
        for start in [
            "line 6: one.image.types", "line 8: one.image.minimum_quality", "line 11: one.video.poster.quality",
            "line 13: one.audio.aim", "line 15: two.profile", "line 18: three.image",
        ] {
            #expect(problems.contains(start), "\(start) in\n\(problems)")
        }
    }

    @Test(arguments: [
        ("profiles:\n  one: [", 2), ("profiles:\n  one: {}\n  two: {}\n  one: {}\n", 4), ("profiles:\n\tone: {}\n", 2),
    ])
    func `what is no YAML is told with its line, in one`(yaml: String, line: Int) throws {
        let error = #expect(throws: ProfileFileError.self) { try ProfileFile(yaml: yaml, path: "mine.yaml") }
        let text = try #require(error?.problems.first)
        #expect(text.contains(/^line \d+: invalid YAML: [^\n]+$/), "\(text)")
        #expect(!text.contains("error:") && !text.contains("parser"), "\(text)")
        let user = try CommandLineUser()
        try user.file("settings.yaml", Data(yaml.utf8))
        let checked = try user.run("config", "check", "settings.yaml")
        #expect(checked.status == 1 && checked.errorText.contains(/settings.yaml line \d+\): invalid YAML/))
        #expect(!checked.errorText.contains("error:"), "\(checked.errorText)")
    }

    @Test(arguments: [("missing.mov", "can't be read: No such file or directory."), (".", "is a directory. Send one")])
    func `what can't be uploaded is said before anybody is asked`(file: String, reason: String) throws {
        let user = try CommandLineUser()
        let sent = try user.run("upload", file, "--to", "http://127.0.0.1:1/u/x")
        #expect(sent.status != 0 && sent.errorText.contains("'\(file)' \(reason)"), "\(sent.errorText)")
    }

    @Test func `a profile that replaces a built-in one is named, wherever it counts`() throws {
        let user = try CommandLineUser()
        let yaml = "profiles: {avatar: {based_on: avatar, deadline: 5}, banner: {based_on: message}}\n"
        try user.file("mine.yaml", Data(yaml.utf8))
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        let warning = "Warning: the profile 'avatar' in mine.yaml replaces the built-in one."
        for arguments in [
            ["profile", "check", "mine.yaml"], ["profile", "list", "--profiles", "mine.yaml"],
            ["profile", "show", "avatar", "--profiles", "mine.yaml"], ["config", "show", "--profiles", "mine.yaml"],
            ["batch", "in", "--profiles", "mine.yaml", "--profile", "avatar"],
        ] {
            let result = try user.satchel.run(arguments)
            #expect(result.status == 0 && result.errorText.contains(warning), "\(arguments): \(result.errorText)")
            #expect(!result.errorText.contains("banner"))
        }
        let other = try user.run("batch", "in", "--profiles", "mine.yaml")
        #expect(other.status == 0 && !other.errorText.contains("Warning"), "\(other.errorText)")
        let mistyped = try user.run("batch", "in", "--profiles", "mine.yaml", "--profile", "baner")
        #expect(mistyped.errorText.contains("did you mean 'banner'?"), "\(mistyped.errorText)")
    }

    @Test func `a dry run's time is that of the cores, whatever the number of codecs`() {
        #expect(
            DryRun.estimate(cpuSeconds: 100, codecs: 3, cores: 2)
                == "Estimated: 1 min 40 s of CPU time, about 50.0 s with 2 cores.")
        #expect(
            DryRun.estimate(cpuSeconds: 100, codecs: 1, cores: 2)
                == "Estimated: 1 min 40 s of CPU time, about 1 min 40 s with 1 codec.")
    }

    @Test func `access is not given for longer than it can be, nor silently for less than was asked`() throws {
        let user = try CommandLineUser()
        for command in ["lease", "grant"] {
            let refused = try user.run(command, "some-id", "--for", "400d")
            #expect(refused.status == 2, "\(refused.errorText)")
            #expect(refused.errorText.contains("--for must be at most 30 days, not 400d."), "\(refused.errorText)")
        }
        try user.sample("jpeg/coffee.jpg", as: "a.jpg")
        let added = try user.run("add", "a.jpg", "--format", "jsonl").output
        let id = try #require(
            (try JSONSerialization.jsonObject(with: added) as? [String: Any])?["attachment_id"] as? String)
        let granted = try user.run("grant", id, "--for", "1h", "--leases", "2", "--format", "json")
        let token = try #require(
            (try JSONSerialization.jsonObject(with: granted.output) as? [String: Any])?["token"] as? String)
        let lease = try user.run("lease", "--grant", token, "--for", "2d")
        #expect(lease.status == 0 && lease.errorText.contains("before the 2d of --for"), "\(lease.errorText)")
        let narrower = try user.run("grant", "--from", token, "--for", "2d", "--leases", "5")
        #expect(narrower.errorText.contains("before the 2d of --for"), "\(narrower.errorText)")
        #expect(narrower.errorText.contains("at most 2 leases at once"), "\(narrower.errorText)")
        let within = try user.run("lease", "--grant", token, "--for", "10m")
        #expect(within.status == 0 && !within.errorText.contains("Warning"), "\(within.errorText)")
    }

    @Test(arguments: [
        (["batch", ".", "--timeout", "inf"], "--timeout must be more than 0 and at most 604800 seconds"),
        (["batch", ".", "--timeout", "1e300"], "--timeout must be more than 0 and at most 604800 seconds"),
        (["add", "a.jpg", "--trim-start", "inf"], "--trim-start must be a number of at most 1000000000 seconds"),
        (["inspect", "a.jpg", "--thumbnail-time", "nan"], "--thumbnail-time must be a number"),
        (["key", "create", "--for", "4294967295d"], "--for must be at most 3650 days, not 4294967295d"),
        (["key", "rotate", "id", "--overlap", "99999d"], "--overlap must be at most 3650 days, not 99999d"),
    ])
    func `a number beyond all bounds is refused`(arguments: [String], words: String) throws {
        let user = try CommandLineUser()
        let result = try user.satchel.run(arguments)
        #expect(result.status == 2 && result.errorText.contains(words), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: user.store.path))
    }

    @Test func `numbers for programs end with the milliseconds`() throws {
        #expect("\(Quantity.milliseconds(0.161_999_999_999_999_98))" == "0.162")
        let user = try CommandLineUser()
        for sample in ["mp4/film.mp4", "jpeg/coffee.jpg"] { try user.sample(sample, as: "in/" + sample) }
        for format in ["csv", "jsonl"] {
            let output = try user.run("batch", "in", "--format", format).outputText
            #expect(output.split(separator: "\n").count >= 2)
            #expect(!output.contains(/\d\.\d{4,}/), "\(output)")
        }
    }

    @Test func `errors of the command line name flags, and nothing of the inside`() throws {
        let user = try CommandLineUser()
        let blocked = try user.run("add", "http://127.0.0.1:9/a.jpg", "--format", "jsonl")
        #expect(blocked.errorText.contains("Allow it with --fetch-allow."), "\(blocked.errorText)")
        #expect(!(blocked.errorText + blocked.outputText).contains("fetch.allow"))
        let mistaken = try user.run("add", "http://127.0.0.1:9/a.jpg", "--fetch-allow", "10.0.0.1/8,a b")
        #expect(mistaken.status == 2 && mistaken.errorText.contains("--fetch-allow '10.0.0.1/8': "))
        #expect(!mistaken.errorText.contains("fetch.allow"), "\(mistaken.errorText)")
        let unreached = try user.run("add", "http://127.0.0.1:9/a.jpg", "--fetch-allow", "127.0.0.1")
        #expect(unreached.errorText.contains("or download it and name the file"), "\(unreached.errorText)")
        let data = try user.run("add", "data:image/png;base64,iVBORw0KGgo=")
        #expect(data.status == 2 && data.errorText.contains("data URLs are not sources"), "\(data.errorText)")
        // Nobody listens on the port of discard.
        let asleep = try user.run("health", "http://127.0.0.1:9")
        #expect(asleep.status == 3)
        #expect(
            asleep.errorText
                == "satchel: http://127.0.0.1:9 does not answer: the connection was refused. Is 'satchel serve' running there?\n"
        )
        let unknown = try user.run("health", "http://no-such-host.invalid")
        #expect(unknown.status == 3 && !unknown.errorText.contains(/errno|NIO|Error|\(/), "\(unknown.errorText)")
    }

    @Test(arguments: [
        (
            ["add", "ftp://example.com/a.jpg"],
            "'ftp://example.com/a.jpg' can't be fetched: the URL must be http, https or aesgcm."
        ),
        (["inspect", "https://example.com/a.jpg"], "prepare it with 'satchel add'"),
        (["batch", "https://example.com/"], "Use 'satchel add' to fetch it"),
        (["bacth", "in"], "there is no command 'satchel bacth' (did you mean 'batch'?)."),
        (["store", "vefiry"], "there is no command 'satchel store vefiry' (did you mean 'verify'?)."),
        (["config", "shwo"], "there is no command 'satchel config shwo' (did you mean 'show'?)."),
        (
            ["profile", "xyzxyzxyz"],
            "there is no command 'satchel profile xyzxyzxyz'. 'satchel profile --help' lists all."
        ),
    ])
    func `what is not there is told, with what was probably meant`(arguments: [String], words: String) throws {
        let user = try CommandLineUser()
        let result = try user.satchel.run(arguments)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errorText.contains(words), "\(result.errorText)")
    }

    @Test func `a URL's scheme may be written in capitals`() throws {
        let user = try CommandLineUser()
        let refused = try user.run("add", "HTTP://127.0.0.1:9/a.jpg")
        #expect(refused.status == 1 && refused.errorText.contains("blocked_address"), "\(refused.errorText)")
    }
}
