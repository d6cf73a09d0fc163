import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Undamaged clips that aren't taken, and in which words.
@Suite struct ClipRefusalTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private static let pictures = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=2"]
    private static let audio = ["-f", "lavfi", "-i", "sine=duration=2"]
    private static let h264 = ["-pix_fmt", "yuv420p", "-c:v", "libx264"]

    /// What a file is refused for, whether or not its profile takes what is left of damaged files; nil where it is taken.
    private func refusal(_ url: URL) throws -> AttachmentError? {
        var refusals: [AttachmentError?] = []
        for damaged in WhenDamaged.allCases {
            var profile = Profile.notification
            profile.damaged = damaged
            do {
                _ = try Rendered.of(url, in: directory.url, profile: profile)
                refusals.append(nil)
            } catch let error as AttachmentError {
                refusals.append(error)
            }
        }
        #expect(Set(refusals).count == 1)
        return refusals[0]
    }

    private static func encrypted(_ what: String) -> AttachmentError {
        .unsupportedFeature(
            reason: "\(what.hasPrefix("sound of") ? "the" : "this") \(what) is encrypted",
            advice: "Send it without copy protection.")
    }

    private static let encryption = [
        "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", String(repeating: "76", count: 16), "-encryption_kid",
        String(repeating: "a7", count: 16),
    ]

    @Test(arguments: ["-movflags +faststart", "", "-movflags +frag_keyframe+empty_moov"])
    func `an encrypted MP4 is named as one`(layout: String) throws {
        let flags = layout.split(separator: " ").map(String.init)
        let video = file("video.mp4")
        try Tool.ffmpeg(Self.pictures + Self.audio + Self.h264 + ["-c:a", "aac"] + Self.encryption + flags, to: video)
        #expect(try refusal(video) == Self.encrypted("video"))
        let audio = file("sound.mp4")
        try Tool.ffmpeg(Self.audio + ["-c:a", "aac"] + Self.encryption + flags, to: audio)
        #expect(try refusal(audio) == Self.encrypted("sound"))
    }

    @Test(arguments: ["video", "sound", "beginning"])
    func `of an MP4 a part of which is encrypted nothing is delivered`(part: String) throws {
        let source = file("part.mp4")
        try Tool.ffmpeg(Self.pictures + Self.audio + Self.h264 + ["-c:a", "aac"] + Self.encryption, to: source)
        let clear = file("clear.mp4")
        try Tool.ffmpeg(Self.pictures + Self.audio + Self.h264 + ["-c:a", "aac"], to: clear)
        try PictureJudge.run(
            """
            import struct
            data = bytearray(open(args[0], 'rb').read())
            if args[1] == 'beginning':
                # A second description, of clear samples, as services have it that begin without encryption.
                at = data.index(b'stsd') - 4
                size = struct.unpack('>I', data[at:at + 4])[0]
                other = open(args[2], 'rb').read()
                begin = other.index(b'avc1', other.index(b'stsd')) - 4
                entry = other[begin:begin + struct.unpack('>I', other[begin:begin + 4])[0]]
                data[at + 16:at + 16] = entry
                data[at + 12:at + 16] = struct.pack('>I', 2)
                place = data.index(b'stsd')
                for name in (b'moov', b'trak', b'mdia', b'minf', b'stbl', b'stsd'):
                    where = data.rindex(name, 0, place + 4) - 4
                    data[where:where + 4] = struct.pack('>I', struct.unpack('>I', data[where:where + 4])[0] + len(entry))
            else:
                # Only one track says that it is encrypted.
                mark, plain = (b'enca', b'mp4a') if args[1] == 'video' else (b'encv', b'avc1')
                data[data.index(mark):data.index(mark) + 4] = plain
            open(args[0], 'wb').write(data)
            """, [source.path, part, clear.path])
        #expect(try refusal(source) == Self.encrypted(part == "sound" ? "sound of this video" : "video"))
    }

    @Test func `of several sound tracks it is said that one is encrypted`() throws {
        let source = file("two.mp4")
        try Tool.ffmpeg(
            Self.pictures + Self.audio + Self.audio + ["-map", "0", "-map", "1", "-map", "2"] + Self.h264
                + ["-c:a", "aac"], to: source)
        var data = try Data(contentsOf: source)
        let entry = try #require(data.range(of: Data("mp4a".utf8)))
        data.replaceSubrange(entry, with: Data("enca".utf8))
        try data.write(to: source)
        #expect(
            try refusal(source)
                == .unsupportedFeature(
                    reason: "one of its sound tracks is encrypted", advice: "Send it without copy protection."))
    }

    @Test(
        arguments: [
            ("a.mxf", ["-c:v", "mpeg2video", "-c:a", "pcm_s16le", "-ar", "48000"], "MXF"),
            ("b.rm", ["-c:v", "rv10", "-c:a", "ac3"], "RealMedia"),
            ("c.dv", ["-target", "pal-dv"], "raw DV"), ("d.dv", ["-target", "ntsc-dv"], "raw DV"),
            ("e.wtv", ["-c:v", "mpeg2video", "-c:a", "mp2"], "a WTV recording"),
            ("f.nut", ["-c:v", "mpeg4", "-c:a", "mp2"], "NUT"),
            ("g.flv", ["-c:v", "flv", "-an"], "a Flash video (FLV)"),
            ("h.ivf", ["-c:v", "libvpx", "-an"], "IVF"), ("i.h264", ["-c:v", "libx264", "-an"], "raw H.264"),
            ("j.hevc", ["-c:v", "libx265", "-x265-params", "log-level=none", "-an"], "raw HEVC"),
            ("k.y4m", ["-frames:v", "2", "-an"], "raw pictures (Y4M)"),
        ])
    func `a container that isn't taken is named`(name: String, encoding: [String], container: String) throws {
        let source = file(name)
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=176x144:rate=25:duration=2"] + Self.audio + ["-pix_fmt", "yuv420p"]
                + encoding, to: source)
        #expect(
            try refusal(source)
                == .unsupportedFeature(
                    reason: "this is \(container), which is not supported", advice: "Convert it to MP4."))
    }

    @Test(
        arguments: [
            ("a.wv", "wavpack", "WavPack"), ("b.au", "pcm_s16be", "AU sound"), ("c.tta", "tta", "True Audio (TTA)"),
            ("d.voc", "pcm_u8", "a Creative Voice file"),
            ("e.w64", "pcm_s16le", "Sony Wave64"), ("f.ac3", "ac3", "raw Dolby Digital"),
        ])
    func `a container of sound that isn't taken is named`(name: String, coding: String, container: String) throws {
        let source = file(name)
        try Tool.ffmpeg(Self.audio + ["-c:a", coding], to: source)
        #expect(
            try refusal(source)
                == .unsupportedFeature(
                    reason: "this is \(container), which is not supported", advice: "Convert it to M4A, MP3 or FLAC."))
    }

    @Test(arguments: [true, false])
    func `an encrypted WebM is named as one`(namesItsKey: Bool) throws {
        let source = file("video.webm")
        try Tool.ffmpeg(Self.pictures + ["-c:v", "libvpx", "-f", "webm"], to: source)
        try PictureJudge.run(
            """
            data = bytearray(open(args[0], 'rb').read())
            def element(name, body):
                return bytes.fromhex(name) + (0x10000000 | len(body)).to_bytes(4, 'big') + body
            def head(at):
                count = 9 - data[at].bit_length()
                return count, int.from_bytes(data[at:at + count], 'big') & (1 << 7 * count) - 1
            key = element('47e2', b'K' * 16) if args[1] == 'true' else b''
            encodings = element('6d80', element('6240', element('5033', b'\\1') + element('5035', element('47e1', b'\\5') + key)))
            mark = bytes.fromhex('1654ae6b')
            # The first mention is that of the table of contents.
            tracks = data.index(mark, data.index(mark) + 4)
            count, size = head(tracks + 4)
            at = start = tracks + 4 + count
            while data[at] != 0xae:
                count, length = head(at + 1)
                at += 1 + count + length
            count, length = head(at + 1)
            entry = data[at + 1 + count:at + 1 + count + length] + encodings
            data[tracks:start + size] = element('1654ae6b', element('ae', bytes(entry)))
            segment = data.index(bytes.fromhex('18538067'))
            data[segment + 4:segment + 12] = bytes.fromhex('01ffffffffffffff')
            open(args[0], 'wb').write(data)
            """, [source.path, "\(namesItsKey)"])
        #expect(try refusal(source) == Self.encrypted("video"))
    }

    @Test func `a scrambled transport stream is named as one`() throws {
        let source = file("video.ts")
        try Tool.ffmpeg(Self.pictures + Self.h264, to: source)
        var data = try Data(contentsOf: source)
        for at in stride(from: 0, to: data.count, by: 188) {
            let packet = Int(data[at + 1] & 0x1f) << 8 | Int(data[at + 2])
            guard packet == 0x100 else { continue }
            data[at + 3] |= 0x80
            for index in at + 12..<at + 188 { data[index] ^= 0x5a }
        }
        try data.write(to: source)
        #expect(try refusal(source) == Self.encrypted("video"))
    }

    @Test func `a Windows Media file with content encryption is named as one`() throws {
        let source = file("sound.wma")
        try Tool.ffmpeg(Self.audio + ["-c:a", "wmav2"], to: source)
        var data = try Data(contentsOf: source)
        // An object of the header, with nothing in it but its length.
        let object: [UInt8] =
            [0xfb, 0xb3, 0x11, 0x22, 0x23, 0xbd, 0xd2, 0x11, 0xb4, 0xb7, 0x00, 0xa0, 0xc9, 0x55, 0xfc, 0x6e]
            + [40, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16)
        data.insert(contentsOf: object, at: 30)
        let length = data[16..<24].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } + 40
        for index in 0..<8 { data[16 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        data[24] += 1
        try data.write(to: source)
        #expect(try refusal(source) == Self.encrypted("sound"))
    }

    @Test(
        arguments: [
            ("a.mka", ["-c:a", "wavpack"], "WavPack"), ("b.mka", ["-c:a", "tta"], "TTA"),
            ("c.mov", ["-ar", "8000", "-c:a", "g726", "-f", "wav"], "ADPCM"),
            ("d.ogg", ["-c:a", "flac"], nil),
        ] as [(String, [String], String?)])
    func `the coding of sound that isn't taken is named`(name: String, encoding: [String], coding: String?) throws {
        let source = file(name)
        try Tool.ffmpeg(Self.audio + encoding, to: source)
        let refusal = try refusal(source)
        #expect(
            refusal
                == coding.map {
                    .unsupportedFeature(
                        reason: "its sound is \($0), which is not supported", advice: "Convert it to AAC.")
                })
    }

    @Test(
        arguments: [
            ("a.avi", ["-c:v", "cinepak"], "Cinepak"),
            ("b.mov", ["-c:v", "svq1", "-pix_fmt", "yuv410p"], "Sorenson Video"),
            ("c.mkv", ["-c:v", "ffv1"], "FFV1"), ("d.mov", ["-c:v", "cinepak"], "Cinepak"),
        ])
    func `the coding of pictures that isn't taken is named, whatever sound there is`(
        name: String, encoding: [String], coding: String
    ) throws {
        let source = file(name)
        try Tool.ffmpeg(Self.pictures + Self.audio + ["-pix_fmt", "yuv420p"] + encoding, to: source)
        #expect(
            try refusal(source)
                == .unsupportedFeature(
                    reason: "its pictures are \(coding), which is not supported", advice: "Convert it to H.264."))
    }

    @Test func `MPEG-H in a transport stream is named, and beside pictures it is a loss`() throws {
        for hasPictures in [true, false] {
            let source = file("broadcast.ts")
            try Tool.ffmpeg(
                (hasPictures ? Self.pictures : []) + Self.audio + (hasPictures ? Self.h264 : [])
                    + ["-c:a", "aac", "-pes_payload_size", "200"], to: source)
            // In the programme's table sound of the type 0x0f becomes that of 0x2d; its checksum is not asked by the demuxer.
            try PictureJudge.run(
                """
                data = bytearray(open(args[0], 'rb').read())
                def crc(body):
                    value = 0xffffffff
                    for byte in body:
                        value ^= byte << 24
                        for _ in range(8):
                            value = (value << 1 ^ 0x04c11db7 if value & 0x80000000 else value << 1) & 0xffffffff
                    return value.to_bytes(4, 'big')
                for at in range(0, len(data), 188):
                    if (data[at + 1] & 0x1f) << 8 | data[at + 2] != 0x1000:
                        continue
                    table = at + 5
                    length = (data[table + 1] & 0xf) << 8 | data[table + 2]
                    entry = table + 12 + ((data[table + 10] & 0xf) << 8 | data[table + 11])
                    while entry < table + 3 + length - 4:
                        if data[entry] == 0x0f:
                            data[entry] = 0x2d
                        entry += 5 + ((data[entry + 3] & 0xf) << 8 | data[entry + 4])
                    end = table + 3 + length - 4
                    data[end:end + 4] = crc(data[table:end])
                open(args[0], 'wb').write(data)
                """, [source.path])
            guard hasPictures else {
                #expect(
                    try refusal(source)
                        == .unsupportedFeature(
                            reason: "its sound is MPEG-H 3D Audio, which is not supported", advice: "Convert it to AAC."
                        ))
                continue
            }
            let made = try #require(try Clips.render(source))
            #expect(
                made.ending.losses == [
                    Finding(.notSupported, .soundTracks, named: "MPEG-H 3D Audio")
                ])
            #expect(try Probe.of(made.file(.main)).audio == nil)
        }
    }

    @Test func `a container without pictures or sound says so`() throws {
        let subtitles = file("text.srt")
        try Data("1\n00:00:00,000 --> 00:00:01,000\nWords\n".utf8).write(to: subtitles)
        for (name, coding) in [("a.mkv", "srt"), ("b.mp4", "mov_text")] {
            let source = file(name)
            try Tool.ffmpeg(["-i", subtitles.path, "-c:s", coding], to: source)
            #expect(
                try refusal(source)
                    == .unsupportedFeature(
                        reason: "it holds neither pictures nor sound", advice: "Send a file with one of them."))
        }
        let wave = file("empty.wav")
        try Tool.ffmpeg(["-f", "s16le", "-ar", "8000", "-ac", "1", "-i", "/dev/null"], to: wave)
        #expect(
            try refusal(wave)
                == .unsupportedFeature(reason: "it holds no sound", advice: "Send a file with sound in it."))
    }

    @Test func `a tag without sound behind it is no sound under another name`() throws {
        let source = file("tag.mp3")
        let tag = Data("ID3".utf8) + [4, 0, 0, 0, 0, 8, 0]
        try (tag + Data(count: 1024)).write(to: source)
        #expect(try refusal(source) == .unreadable(Finding(.nothingInside, of: 1034)))
        try (tag + Data(count: 500)).write(to: source)
        #expect(try refusal(source) == .unreadable(Finding(.endsWithin, named: "tag")))
    }

    @Test func `a container that can't be read says what is the matter with it`() throws {
        let source = file("start.webm")
        try Data(contentsOf: Repository.media.appending(path: "webm/film.webm")).prefix(200).write(to: source)
        #expect(try refusal(source) == .unreadable(Finding(.endsBefore)))
    }

    @Test func `of an MP4 whose recording was interrupted the missing index is named`() throws {
        let (source, cut) = (file("film.mp4"), file("cut.mp4"))
        try Tool.ffmpeg(Self.pictures + Self.h264, to: source)
        let data = try Data(contentsOf: source)
        try data.prefix(data.count * 3 / 5).write(to: cut)
        #expect(
            try refusal(cut)
                == .unreadable(
                    Finding(.endsBefore, named: "index, without which nothing of it can be decoded,")))
        let index = try #require(data.range(of: Data("moov".utf8))).lowerBound - 4
        try (data.prefix(index) + Data(count: data.count - index)).write(to: cut)
        #expect(try refusal(cut) == .unreadable(Finding(.indexMissing)))
    }

    @Test func `a segment of a stream is named`() throws {
        let (source, segment) = (file("whole.mp4"), file("segment.m4s"))
        try Tool.ffmpeg(Self.pictures + Self.h264 + ["-movflags", "frag_keyframe+empty_moov", "-g", "10"], to: source)
        let data = try Data(contentsOf: source)
        try data.suffix(from: #require(data.range(of: Data("moof".utf8))).lowerBound - 4).write(to: segment)
        #expect(
            try refusal(segment)
                == .unsupportedFeature(
                    reason: "this is a segment of a stream, which is not supported",
                    advice: "Send the whole stream as one file, beginning with its first part."))
    }

    @Test(
        arguments: [
            ("smjpeg", pictures + ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"], "Loki SDL MJPEG"),
            ("film_cpk", pictures + ["-c:v", "cinepak"], "Sega FILM / CPK"),
            ("dirac", pictures, "raw Dirac"),
            ("ircam", audio, "Berkeley/IRCAM/CARL Sound Format"),
            ("sox", audio, FFmpegLibraries.version.hasPrefix("5") ? "SoX native" : "SoX (Sound eXchange) native"),
            ("wsaud", audio + ["-c:a", "adpcm_ima_ws", "-ar", "22050"], "Westwood Studios audio"),
            ("kvag", audio + ["-c:a", "adpcm_ima_ssi"], "Simon & Schuster Interactive VAG"),
            ("argo_asf", audio + ["-c:a", "adpcm_argo"], "Argonaut Games ASF"),
            ("mmf", audio + ["-ar", "22050", "-c:a", "adpcm_yamaha", "-ac", "1"], "Yamaha SMAF"),
            ("spdif", audio + ["-c:a", "ac3"], "IEC 61937 (compressed data in S/PDIF)"),
        ])
    func `what libmagic doesn't know and a demuxer that isn't allowed does is called what FFmpeg calls it`(
        muxer: String, encoding: [String], name: String
    ) throws {
        let source = file("source")
        try Tool.ffmpeg(encoding + ["-f", muxer], to: source)
        #expect(
            try refusal(source)
                == .unsupportedFeature(
                    reason: "it begins like \(name), which is not supported",
                    advice: "Convert it to MP4, or to M4A, MP3 or FLAC where it is sound."))
    }

    @Test func `bytes at random are nothing's beginning`() throws {
        var random = SeededGenerator(seed: 1)
        let source = file("source")
        for _ in 0..<200 {
            try Data((0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: source)
            guard case .unsupportedFeature(let reason, _) = try refusal(source) else { continue }
            #expect(!reason.hasPrefix("it begins like"), "\(reason)")
        }
    }

    @Test(arguments: [["-c:v", "prores_ks", "-profile:v", "4", "-pix_fmt", "yuva444p10le"], ["-c:v", "libx264"]])
    func `transparency that MP4 has no place for is mentioned`(encoding: [String]) throws {
        let source = file("title.mov")
        try Tool.ffmpeg(Self.pictures + encoding, to: source)
        let omissions = try #require(try Clips.render(source)).ending.omissions
        #expect(omissions == (encoding[1] == "libx264" ? [] : [Finding(.leftOut, .transparency, named: "MP4")]))
    }
}
