import Foundation
import TestSupport
import Testing

@testable import SatchelCore

/// The table of what is known and not taken.
@Suite struct ForeignFormatTests {
    @Test func `each is told by something, has a name of its own and says what to do`() {
        #expect(Set(ForeignFormat.all.map(\.name)).count == ForeignFormat.all.count)
        for format in ForeignFormat.all {
            #expect(!format.types.isEmpty || !format.signs.isEmpty || format.naming != nil, "\(format.name)")
            #expect(format.kind != .other || !format.types.isEmpty, "\(format.name)")
            #expect(format.signs.allSatisfy { Self.weight($0) >= 3 }, "\(format.name)")
            #expect(format.advice.hasSuffix(".") && !format.name.hasSuffix("."), "\(format.name)")
            #expect(format.refusal.message.count < 200, "\(format.refusal.message)")
        }
        let types = ForeignFormat.all.flatMap(\.types)
        #expect(Set(types).count == types.count)
    }

    /// Bytes of a sign.
    private static func weight(_ sign: [ForeignFormat.Part]) -> Int {
        sign.reduce(0) { sum, part in
            switch part {
            case .bytes(_, let bytes), .bytesWithin(_, let bytes): sum + bytes.count
            case .text(let text), .textWithin(let text): sum + text.utf8.count
            case .without: sum
            // Within what else stands around it.
            case .root, .json: sum + 3
            }
        }
    }

    @Test func `what texts are compared with is in lower case, as texts are then`() {
        for part in ForeignFormat.all.flatMap(\.signs).joined() {
            switch part {
            case .text(let text), .textWithin(let text), .without(let text): #expect(text == text.lowercased())
            default: break
            }
        }
    }

    @Test func `no two are told by the same name`() {
        let namings = ForeignFormat.all.compactMap(\.naming).flatMap { naming in
            naming.extensions.map { "\($0) \(naming.look)" }
        }
        #expect(Set(namings).count == namings.count)
        for naming in ForeignFormat.all.compactMap(\.naming) {
            for ending in naming.extensions { #expect(MediaType(declared: ending) == nil, "\(ending)") }
        }
    }

    /// `name` begins what the format is called.
    @Test(
        arguments: [
            (
                "a stream's list",
                "<?xml version=\"1.0\"?>\n<!-- made by ffmpeg -->\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">"
            ),
            ("a playlist", "\u{feff}#EXTM3U\n#EXTINF:10,\na.ts"), ("a playlist", "<playlist version=\"1\">"),
            ("a playlist", "<ASX version=\"3.0\"><entry/></ASX>"),
            ("a playlist", "PERFORMER \"A\"\nFILE \"a.flac\" WAVE\n  TRACK 01 AUDIO\n"),
            ("a web page", "\u{feff}\r\n<!DOCTYPE html PUBLIC \"x\">\n<html lang=\"en\">"),
            ("a web page", "<?xml version=\"1.0\"?><!DOCTYPE html><html xmlns=\"x\">"),
            ("a web server's answer", "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\r\n"),
            ("a form as browsers send it", "------Boundary\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"),
            ("a stream of JPEGs", "--frame\r\nContent-Type: image/jpeg\r\n\r\n"),
            ("data (XML)", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"),
            ("data (JSON)", "{\"error\": {\"code\": 404}}"), ("data (JSON)", "[\n  {\"id\": 1}]"),
            ("a Lottie animation", "{\"fr\":30,\"ip\":0,\"op\":60,\"v\":\"5.7.4\"}"),
            ("a 3D model", "{\"asset\":{\"version\":\"2.0\"},\"scene\":0}"),
            ("a 3D model", "solid cube\n facet normal 0 0 1"),
            ("an SVG drawing", "<!-- Inkscape -->\n<svg:svg xmlns:svg=\"http://www.w3.org/2000/svg\">"),
            ("a diagrams.net drawing", "<mxfile host=\"app.diagrams.net\">"),
            ("an X bitmap", "#define a_width 8\n#define a_height 1\nstatic char a_bits[] = { 0x00 };"),
            ("an X pixmap", "! XPM2\n4 2 2 1"),
            ("what Photos notes of an edit", "<?xml version=\"1.0\"?><plist><dict><key>adjustmentData</key>"),
            ("a link to a page", "<plist><dict><key>URL</key><string>https://example.com/</string>"),
            ("settings of Apple's", "<plist version=\"1.0\"><dict/></plist>"),
            ("what programs note of a picture", "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"),
            ("a file of subtitles", "[Script Info]\nTitle: x"),
            ("a file of subtitles", "<tt xmlns=\"http://www.w3.org/ns/ttml\">"),
            ("a way or places", "<gpx version=\"1.1\">"), ("a person's card", "BEGIN:VCARD\r\nVERSION:3.0"),
            ("an e-mail", "From a@b.c Thu Nov 26 12:00:00 2026\nFrom: a@b.c\n\nHello"),
            ("an e-mail", "Content-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n"),
            ("a program", "#!/bin/sh\necho"), ("a picture, sound or video written", "UklGRiQAAABXQVZF"),
            ("a picture, sound or video written", "AAAAIGZ0eXBpc29t"),
            ("a picture, sound or video written", "\"data:video/mp4;base64,AAAA"),
            ("a picture written as text (its bytes", "ffd8ffe000104a46"),
            ("a picture written as text (its bytes", "{\"type\":\"Buffer\",\"data\":[255"),
            ("a picture written as text (its bytes", "b'\\xff\\xd8\\xff\\xe0"), ("an encrypted file", "U2FsdGVkX1+abc"),
            ("a picture, sound or video written", "_9j_4AAQSkZJRgABAQ"),
            ("a picture written as text (its bytes", "255 216 255 224 0 16"),
            ("a scanned drawing", "srcdocid: NONE            dstdocid: NONE"),
        ])
    func `a text is called what it is`(name: String, text: String) {
        let format = ForeignFormat(head: Array(text.utf8))
        #expect(format?.name.hasPrefix(name) == true, "\(format?.name ?? "nothing")")
    }

    @Test(arguments: [
        ("a stream's list", "<?xml version=\"1.0\"?>\r\n<SmoothStreamingMedia Duration=\"300\">"),
        ("a playlist", "#EXTM3U\r\n"),
        ("data (JSON)", "{ \"error\": \"Größe\" }"),
    ])
    func `a text in UTF-16 is read too`(name: String, text: String) {
        for isLittle in [true, false] {
            let head = ("\u{feff}" + text).utf16.flatMap { unit in
                let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
                return isLittle ? bytes : bytes.reversed()
            }
            #expect(ForeignFormat(head: head)?.name.hasPrefix(name) == true)
        }
    }

    @Test(arguments: [
        "Only words.\n", "name,size\na,1\n", "[section]\nkey=value\n", "[1] a note", "{braces} in words", "", "{", "<",
        "<!--",
        "--\nsignature", "<b>bold</b>", "[00:12:01] started", "-----BEGIN CERTIFICATE-----\n",
    ])
    func `other texts are none of these`(text: String) {
        #expect(ForeignFormat(head: Array(text.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("an animated Windows cursor", [0: "RIFF", 8: "ACON"]),
            ("an Amiga's picture (IFF)", [0: "FORM", 8: "ILBM"]),
            ("an Amiga's sound (IFF)", [0: "FORM", 8: "8SVX"]), ("a MIDI file", [0: "RIFF", 8: "RMID"]),
            ("a phone's voice recording (QCP)", [0: "RIFF", 8: "QLCM"]),
            ("an Xbox game's sound (XWMA)", [0: "RIFF", 8: "XWMA"]),
            ("an instrument's sounds (SoundFont)", [0: "RIFF", 8: "sfbk"]),
            ("a video for small players (AMV)", [0: "RIFF", 8: "AMV "]),
            ("a tracker's module", [1080: "8CHN"]), ("a tracker's module", [44: "SCRM"]),
            ("a tune for an old computer or console", [0: "PSID"]), ("a voice message in SILK", [0: "\u{2}#!SILK_V3"]),
            ("a dictation (DSS)", [0: "\u{3}ds2"]), ("a Netpbm picture", [0: "Pf\n8 8\n-1.0\n"]),
            ("a Smacker video", [0: "SMK2"]),
            ("a RED camera's film (R3D)", [4: "RED2"]), ("a Photo CD picture", [2048: "PCD_IPI"]),
            ("a Clip Studio picture", [0: "CSFCHUNK"]),
            ("a picture in a terminal's codes (Sixel)", [0: "\u{1b}Pq"]),
            ("an archive with a password", [0: "PK\u{3}\u{4}", 6: "\u{9}"]),
            ("an archive", [0: "MSCF"]), ("a 3D model", [0: "PK\u{3}\u{4}", 30: "cube.usdc"]),
            ("a 3D model", [0: "Kaydara FBX Binary"]),
            ("a font", [0: "ttcf"]), ("a font", [8: "\u{1}\0\u{2}\0", 34: "LP"]),
            ("a container of scientific data", [0: "PAR1"]),
            ("a DVD's table of contents (IFO)", [0: "DVDVIDEO-VTS"]), ("a 3D model", [0: "FORM", 8: "LWO2"]),
            ("a 3D model", [0: "LASF"]), ("a 3D model", [0: "3D Geometry File Format        60"]),
            ("a file as old Macintoshes packed it in one piece (AppleSingle)", [1: "\u{5}\u{16}", 5: "\u{2}"]),
            ("a record of network traffic (pcap)", [0: "\n\r\r\n"]),
            ("an encrypted file", [0: "AES\u{2}"]), ("raw AV1", [0: "\u{12}\0\n"]), ("raw H.264", [2: "\u{1}g"]),
        ] as [(String, [Int: String])])
    func `a file is called what it begins as`(name: String, signs: [Int: String]) {
        var head = [UInt8](repeating: 0, count: 4096)
        for (place, text) in signs { head.replaceSubrange(place..<place + text.utf8.count, with: text.utf8) }
        #expect(ForeignFormat(head: head)?.name == name)
    }

    @Test(
        arguments: [
            [0xef, 0xbb, 0xbf, 0xff, 0xd8, 0xff, 0xe0], [0x0d, 0x0a, 0x89, 0x50, 0x4e, 0x47],
            [0x0a, 0xff, 0xd8, 0xff, 0xdb],
            [0x33, 0x35, 0x32, 0x0d, 0x0a, 0xff, 0xd8, 0xff, 0xe0],
            Array("<br />\n<b>Warning</b>: Undefined index in <b>a.php</b> on line <b>3</b><br />\n".utf8) + [
                0xff, 0xd8, 0xff, 0xe0,
            ],
        ] as [[UInt8]])
    func `what programs print in front of a picture is told, and that it is one`(head: [UInt8]) throws {
        let format = try #require(ForeignFormat(head: head + [0, 16, 0x4a, 0x46, 0x49, 0x46]))
        #expect(format.name.hasPrefix("a picture with something in front"))
        #expect(format.refusal.code == .unsupportedFeature)
    }

    @Test(
        arguments: [
            ("tgs", "application/gzip", "a sticker of Telegram's (a packed Lottie animation)"),
            ("SVGZ", "application/gzip", "an SVG drawing"), ("lottie", "application/zip", "a Lottie animation"),
            ("wbmp", "application/octet-stream", "a WBMP picture"), ("wbmp", nil, "a WBMP picture"),
            ("palm", nil, "a Palm's picture"), ("gsm", nil, "sound without a word of its form, as telephony keeps it"),
        ] as [(String, String?, String)])
    func `what only a name tells is told by it`(ending: String, sniffed: String?, name: String) throws {
        let format = try #require(ForeignFormat(fileExtension: ending, sniffed: sniffed))
        #expect(format.name == name)
        #expect(
            AttachmentError.unrecognizedType(sniffed: sniffed).ofFile(named: "a.\(ending)", declared: nil)
                == .unsupportedFeature(
                    reason: "by its name this is \(name), which is not supported", advice: format.advice)
        )
    }

    @Test func `what is packed is known by what packed it, so that its name can tell what it is`() {
        let packed = ForeignFormat.refusal(sniffed: "application/gzip")
        #expect(packed == .unrecognizedType(sniffed: "application/gzip"))
        #expect(
            packed.message == "This is an archive, not a picture, sound or video. Unpack it, and send what is in it.")
        #expect(packed.ofFile(named: "hello.tgs", declared: nil).code == .unsupportedFeature)
    }

    @Test(
        arguments: [
            ("msg", "application/x-ole-storage", "a message of Outlook's"),
            ("icloud", "application/x-bplist", "what stands for a file that iCloud hasn't downloaded"),
            ("pages", "application/zip", "an office document or a book"),
        ])
    func `what is no media is told by its name where its bytes say less`(ending: String, sniffed: String, name: String)
    {
        let error = AttachmentError.unrecognizedType(sniffed: sniffed).ofFile(named: "a.\(ending)", declared: nil)
        #expect(error.code == .unrecognizedType)
        #expect(error.message.hasPrefix("This is \(name), not a picture, sound or video."), "\(error.message)")
    }

    @Test func `a name says nothing of what looks like something else`() {
        #expect(ForeignFormat(fileExtension: "tgs", sniffed: "text/html") == nil)
        #expect(ForeignFormat(fileExtension: "wbmp", sniffed: "application/zip") == nil)
        #expect(ForeignFormat(fileExtension: "txt", sniffed: nil) == nil)
        let model = AttachmentError.unrecognizedType(sniffed: "text/plain").ofFile(named: "cube.obj", declared: nil)
        #expect(model.message == "This is a 3D model, not a picture, sound or video. Send a picture of it.")
    }

    @Test func `none stands for a type that is taken`() {
        for format in ForeignFormat.all {
            for type in format.types { #expect(MediaType(declared: type) == nil, "\(format.name): \(type)") }
        }
    }

    @Test func `no sample that is taken begins like one`() throws {
        for sample in try MediaManifest.load().files where sample.expect.state == "delivered" {
            let head = try #require(try FileHandle(forReadingFrom: sample.url).read(upToCount: 64 << 10))
            #expect(ForeignFormat(head: Array(head)) == nil, "\(sample.path)")
        }
    }

    @Test func `what libmagic calls media and nobody knows is refused, and no text is`() {
        #expect(
            ForeignFormat.refusal(sniffed: "image/x-award-bioslogo")
                == .unsupportedFeature(
                    reason: "it looks like image/x-award-bioslogo, which is not supported",
                    advice: "Convert it to JPEG or PNG."))
        for type in ["text/plain", "application/octet-stream", "application/x-dbf", "image/png"] {
            #expect(ForeignFormat.refusal(sniffed: type) == .unrecognizedType(sniffed: type))
        }
    }
}
