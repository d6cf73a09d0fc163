import CJPEG
import Foundation
import HuffmanFuzz
import TestSupport
import Testing

/// Tests when our decoder of Huffman codes is used, and replays the fuzzer's corpus.
@Suite struct HuffmanDecoderTests: ~Copyable {
    private let directory: TemporaryDirectory
    private let sources = Repository.root.appending(path: "Sources/Codec/CJPEG")

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: The check

    @Test func `it is used with the libraries of Debian 12 and 13`() {
        #expect(satchel_jpeg_use_own_huffman() == 1)
    }

    /// Says what ``satchel_jpeg_use_own_huffman()`` answers where CJPEG is compiled from these files: `replacements` of its
    /// own, with more `arguments` for the compiler.
    private func answer(
        replacing file: String = "", with text: String = "", also source: String = "", _ arguments: [String] = []
    ) throws -> Int32 {
        let program = """
            #include <stdio.h>
            #include <jpeglib.h>
            #include "CJPEG.h"
            \(source)
            int main(void) { return satchel_jpeg_use_own_huffman() + 1; }
            """
        try Data(program.utf8).write(to: directory.url.appending(path: "main.c"))
        var files = ["check.c", "failure.c", "huffman.c", "reader.c"].map { sources.appending(path: $0).path }
        if !file.isEmpty {
            try Data(text.utf8).write(to: directory.url.appending(path: file))
            files.removeAll { $0.hasSuffix("/\(file)") }
            if file.hasSuffix(".c") { files.append(directory.url.appending(path: file).path) }
        }
        let compiled = try Program.tool("clang").run(
            [
                "-O1", "-I", directory.path, "-I", sources.path, "-I", sources.appending(path: "include").path,
                directory.url.appending(path: "main.c").path, "-o", directory.url.appending(path: "main").path,
            ] + files + arguments + ["-ljpeg"])
        #expect(compiled.status == 0, "\(compiled.errorText)")
        let result = try Program(directory.url.appending(path: "main")).run([])
        #expect(result.signal == nil)
        return result.status - 1
    }

    @Test func `what these tests compile answers as the codec does`() throws {
        #expect(try answer() == 1)
    }

    @Test func `for a version of libjpeg-turbo that it was not tried with it is compiled out`() throws {
        // As a header of another version would have it.
        let other = """
            #include_next <jconfig.h>
            #undef LIBJPEG_TURBO_VERSION_NUMBER
            #define LIBJPEG_TURBO_VERSION_NUMBER 3001000
            """
        #expect(try answer(replacing: "jconfig.h", with: other) == 0)
        let names = try Program.tool("nm").run([directory.url.appending(path: "main").path]).outputText
        #expect(names.contains("satchel_jpeg_use_own_huffman") && !names.contains("decode_mcu"))
    }

    @Test(arguments: ["last_jpeg_message++", "jpeg_message_table = other"])
    func `with another library than it was compiled for it is not used`(difference: String) throws {
        let wrapper = """
            struct jpeg_error_mgr *__real_jpeg_std_error(struct jpeg_error_mgr *);
            struct jpeg_error_mgr *__wrap_jpeg_std_error(struct jpeg_error_mgr *manager) {
                static const char *other[200];
                __real_jpeg_std_error(manager);
                for (int i = 0; i <= manager->last_jpeg_message; i++) other[i] = "Copyright (C) 1991-2022";
                manager->\(difference);
                return manager;
            }
            """
        #expect(try answer(also: wrapper, ["-Wl,--wrap=jpeg_std_error"]) == 0)
    }

    /// Each is one mistake that a decoder could have.
    @Test(arguments: [
        ("(1 << size) + 1", "(1 << size) + 2"),
        ("zeros == 15 ? 15 : 64", "zeros == 15 ? 14 : 64"),
        ("index - (int)code", "index - (int)code + 1"),
        ("code << (16 - length)", "code << (15 - length)"),
        ("*to++ = 0xff;", "*to++ = 0xfe;"),
        ("*to++ = 0xff;\n            state->at += 2;", "*to++ = 0xff;\n            state->at += 1;"),
        ("made->looks[bits].value = second.value;", "made->looks[bits].value = first.value;"),
        ("memset(state->dc, 0, sizeof state->dc);", ""),
        ("*dc += level.value;", "*dc = level.value;"),
        (
            "block[places[at++]] = first.value;\n                break;",
            "block[places[at]] = first.value;\n                break;"
        ),
        ("state->at[1] != JPEG_RST0 + state->restart", "state->at[1] != JPEG_RST0"),
        ("8 > from.left) return 0;", "8 > 1000) return 0;"),
        ("&state->ac_tables[facts->ac_tbl_no]", "&state->ac_tables[0]"),
        ("from->left |= 56;", "from->left |= 48;"),
    ])
    func `a decoder with a mistake doesn't pass the check`(right: String, wrong: String) throws {
        let text = try String(contentsOf: sources.appending(path: "huffman.c"), encoding: .utf8)
        #expect(text.contains(right))
        #expect(try answer(replacing: "huffman.c", with: text.replacing(right, with: wrong)) == -1)
    }

    @Test func `the embedded picture is what its recipe makes`() throws {
        let made = try Program.tool("python3").run(
            [Repository.root.appending(path: "Tests/Fuzz/huffman/picture.py").path])
        let kept = try String(contentsOf: sources.appending(path: "picture.h"), encoding: .utf8)
        #expect(made.status == 0 && made.outputText == kept)
    }

    // MARK: The fuzzer

    private func difference(_ bytes: [UInt8]) -> String? {
        guard let text = unsafe huffman_difference(bytes, bytes.count) else { return nil }
        return unsafe String(cString: text)
    }

    @Test func `the fuzzer's corpus is decoded the same to the bit`() throws {
        #expect(satchel_jpeg_use_own_huffman() == 1)
        let inputs = try FuzzCorpus(of: "huffman").inputs
        #expect(inputs.count > 100)
        for input in inputs { #expect(difference(input.bytes) == nil, "\(input.name)") }
    }

    /// What `make fuzz-huffman` found. libjpeg-turbo's quick way leaves in a block what it decoded before it saw that the zero
    /// doesn't end a marker, so only it knows what comes of that.
    @Test(arguments: ["fill-bytes-before-a-zero", "fill-bytes-before-a-zero-at-the-end"])
    func `bytes of 255 before one that a zero follows are libjpeg's`(name: String) throws {
        let bytes = try #require(FuzzCorpus(of: "huffman")[name])
        #expect(difference(bytes) == nil)
    }
}
