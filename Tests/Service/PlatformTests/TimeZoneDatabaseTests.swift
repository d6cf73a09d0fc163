import SatchelCore
import Foundation
import Platform
import SystemPackage
import TestSupport
import Testing

@Suite struct TimeZoneDatabaseTests {
    /// A directory of zones.
    private final class Place {
        let directory: TemporaryDirectory

        init(_ files: [String: TZifFile] = ["Test/Zone": TZifFile(3600, footer: "XYZ-1")]) throws {
            directory = try TemporaryDirectory()
            for (name, file) in files { try write(name, file.bytes) }
        }

        var path: FilePath { FilePath(directory.path) }

        func write(_ name: String, _ bytes: [UInt8]) throws {
            let url = directory.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url, options: .atomic)
        }
    }

    private static let system = TimeZoneDatabase()

    @Test func `the system's zones are there, and their edition`() throws {
        let zones = Self.system
        #expect(zones.names.count > 300 && zones.names == zones.names.sorted())
        #expect(zones.names.contains("Europe/Berlin") && zones.names.contains("America/Argentina/Buenos_Aires"))
        let others = zones.names.filter {
            ["posix", "right", "localtime", "posixrules"].contains($0.prefix { $0 != "/" })
        }
        #expect(others == [])
        #expect(zones.version.rawValue.wholeMatch(of: /20\d\d[a-z]+.*/) != nil)
        #expect(try zones.rules(of: "Etc/GMT+11").offset(at: .wallClock()) == -11 * 3600)
    }

    @Test(arguments: [
        "", "/etc/localtime", "/usr/share/zoneinfo/Europe/Berlin", "../zoneinfo/Europe/Berlin", "Europe/../UTC",
        "./UTC",
        "Europe//Berlin", "Europe/", "Europe", "tzdata.zi", "right/Europe/Berlin", "posix/Europe/Berlin", "localtime",
        "posixrules", "europe/berlin", "UTC\0", "UTC ", "Europe/Berlin\n", "a/b/c/d/e",
        String(repeating: "x", count: 100_000), "Ευρώπη/Αθήνα",
    ])
    func `what is no zone's name is unknown, wherever it would lead`(name: String) {
        #expect {
            try Self.system.rules(of: name)
        } throws: { error in
            switch error as? TriggerError {
            case .unknownTimeZone(name, _): true
            // A file, but not a zone's.
            case .unreadableTimeZone(name, _): name == "tzdata.zi"
            default: false
            }
        }
    }

    @Test(arguments: [
        ("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"),
        ("Germany/Berlin", "Europe/Berlin"), ("America/New York", "America/New_York"),
        ("Amercia/Chicago", "America/Chicago"),
        ("kolkata", "Asia/Kolkata"), ("Asia/Katmandoo", "Asia/Katmandu"), ("Pacific/Appia", "Pacific/Apia"),
        ("utc", "UTC"),
    ])
    func `the nearest zone is the one that was probably meant`(name: String, meant: String) {
        #expect(Self.system.nearest(to: name).first == meant)
        #expect(Self.system.nearest(to: "qwertzuiopasdfgh/yxcvbnmqwertzuiopyxcvbnm") == [])
    }

    @Test func `a damaged zone, one that isn't a file, and a directory without zones are told apart`() throws {
        let place = try Place()
        try place.write("Test/Cut", Array(TZifFile(0).bytes.dropLast(3)))
        try place.write("Test/Text", Array("no zone".utf8))
        let made = unsafe mkfifo(place.directory.path + "/Test/Pipe", 0o600)
        #expect(made == 0)
        let zones = TimeZoneDatabase(place.path)
        for name in ["Test/Cut", "Test/Text"] {
            #expect {
                try zones.rules(of: name)
            } throws: { error in
                guard case .unreadableTimeZone(name, let reason) = error as? TriggerError else { return false }
                return reason.contains(
                    name == "Test/Cut" ? "Test/Cut': it ends too early" : "Test/Text': it is not a TZif")
            }
        }
        #expect(throws: TriggerError.unknownTimeZone("Test/Pipe", nearest: ["Test/Zone", "Test/Cut"])) {
            try zones.rules(of: "Test/Pipe")
        }
        #expect(zones.names == ["Test/Cut", "Test/Zone"])
        let empty = try Place([:])
        #expect {
            try TimeZoneDatabase(empty.path).rules(of: "UTC")
        } throws: { error in
            (error as? TriggerError)?.message.contains("install the package tzdata") == true
        }
    }

    @Test func `an edition is what its files say, else their time and hash`() throws {
        let place = try Place()
        let unnamed = TimeZoneDatabase(place.path).version
        #expect(unnamed.rawValue.wholeMatch(of: /\d{4}-\d\d-\d\dT[\d:.]+Z-[0-9a-f]{16}/) != nil)
        #expect(TimeZoneDatabase(place.path).version == unnamed)
        try place.write("Test/Zone", TZifFile(7200, footer: "XYZ-2").bytes)
        #expect(TimeZoneDatabase(place.path).version != unnamed)
        try place.write("+VERSION", Array("2026a\n".utf8))
        #expect(TimeZoneDatabase(place.path).version.rawValue == "2026a")
        try place.write("tzdata.zi", Array("# version 2026b\nR x\n".utf8))
        #expect(TimeZoneDatabase(place.path).version.rawValue == "2026b")
        // Another file of that name doesn't say.
        try place.write("tzdata.zi", Array("# redo: posix_only\n".utf8))
        #expect(TimeZoneDatabase(place.path).version.rawValue == "2026a")
    }

    @Test func `new rules count from a reload on`() throws {
        let place = try Place()
        try place.write("+VERSION", Array("2026a\n".utf8))
        let zones = TimeZoneDatabase(place.path)
        #expect(try zones.rules(of: "Test/Zone").offset(at: .wallClock()) == 3600)
        #expect(!zones.reload())
        #expect(try zones.rules(of: "Test/Zone").offset(at: .wallClock()) == 3600)
        try place.write("Test/Zone", TZifFile(7200, footer: "XYZ-2").bytes)
        try place.write("Test/New", TZifFile(0).bytes)
        try place.write("+VERSION", Array("2026b\n".utf8))
        #expect(try zones.rules(of: "Test/Zone").offset(at: .wallClock()) == 3600 && zones.version.rawValue == "2026a")
        #expect(zones.reload() && zones.version.rawValue == "2026b" && zones.names == ["Test/New", "Test/Zone"])
        #expect(try zones.rules(of: "Test/Zone").offset(at: .wallClock()) == 7200)
    }
}
