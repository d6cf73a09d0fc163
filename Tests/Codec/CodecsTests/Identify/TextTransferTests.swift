import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Files that went a way that takes them for text.
@Suite struct TextTransferTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func refusal(_ script: String) throws -> AttachmentError? {
        let file = directory.url.appending(path: "f")
        try PictureJudge.run(
            """
            def read(path): return open(args[1] + '/' + path, 'rb').read()
            data = \(script)
            open(args[0], 'wb').write(data)
            """, [file.path, Repository.media.path])
        return try Rendered.refusal(of: file, in: directory.url)
    }

    @Test(
        arguments: [
            "read('jpeg/coffee.jpg').replace(b'\\n', b'\\r\\n')",
            "read('jpeg/progressive.jpg').replace(b'\\n', b'\\r\\n')",
            "read('webp/cat.webp').replace(b'\\n', b'\\r\\n')", "read('gif/film.gif').replace(b'\\n', b'\\r\\n')",
            "read('mp3/voice.mp3').replace(b'\\n', b'\\r\\n')", "read('png/coffee.png').replace(b'\\n', b'\\r\\n')",
            "read('png/coffee.png').replace(b'\\r\\n', b'\\n')", "read('png/coffee.png').replace(b'\\n', b'\\r')",
        ])
    func `line ends that were changed are called that`(script: String) throws {
        #expect(try refusal(script) == .unreadable(Finding(.lineEndsChanged)))
    }

    @Test(arguments: ["jpeg/coffee.jpg", "png/coffee.png"])
    func `bits that were left out are called that`(path: String) throws {
        #expect(try refusal("bytes(byte & 0x7f for byte in read('\(path)'))") == .unreadable(Finding(.highBitsLost)))
    }

    @Test(arguments: ["jpeg/coffee.jpg", "png/coffee.png", "mp4/film.mp4", "webp/cat.webp", "mp3/voice.mp3"])
    func `bytes that were replaced for not being text are called that`(path: String) throws {
        #expect(
            try refusal("read('\(path)').decode('utf-8', 'replace').encode()") == .unreadable(Finding(.bytesReplaced)))
    }

    @Test(arguments: ["latin-1", "cp1252"])
    func `bytes that were taken for letters and written as those are called that`(coding: String) throws {
        for path in ["jpeg/coffee.jpg", "png/coffee.png", "webm/film.webm"] {
            let letters = "''.join(bytes([b]).decode('\(coding)', 'ignore') or chr(b) for b in read('\(path)'))"
            #expect(try refusal("\(letters).encode()") == .unreadable(Finding(.bytesRecoded)), "\(path)")
        }
    }

    @Test func `a text of any letters is no such sign, nor is a tag before sound`() throws {
        #expect(try refusal("('Größe \u{fffd} ' * 200).encode()")?.code == .unrecognizedType)
        #expect(
            try refusal(
                """
                read('mp3/stereo.mp3')
                text = ('Ä' * 900).encode() + b'\\0'
                frame = b'COMM' + (len(text) + 5).to_bytes(4, 'big') + bytes(2) + b'\\3deu\\0' + text
                size = len(frame)
                data = b'ID3\\3\\0\\0' + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127]) + frame + data
                """) == nil)
    }

    @Test func `the colour that reads as a replaced letter is no such sign`() throws {
        let colour = "import io; out = io.BytesIO(); Image.new('RGB', (40, 41), (0xbd, 0xbf, 0xef)).save(out, 'BMP')"
        #expect(try refusal("0; \(colour); data = out.getvalue()") == nil)
    }

    @Test func `lines of a picture's metadata are no such sign`() throws {
        // A picture without a line feed in its own data, and with a page of text that Windows wrote.
        #expect(
            try refusal(
                """
                read('jpeg/pixel.jpg')
                text = b'a line\\r\\n' * 50
                data = data[:2] + b'\\xff\\xfe' + (len(text) + 2).to_bytes(2, 'big') + text + data[2:]
                """) == nil)
    }
}
