import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What only newer versions of a library read, with the version that is installed.
@Suite struct NewerFeatureTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `HEIC of the newest phones is delivered where libheif reads it, else refused by name`() throws {
        let file = directory.url.appending(path: "gain-map.heic")
        try PictureJudge.run(
            """
            sys.path.insert(0, args[0]); sys.dont_write_bytecode = True
            from recipes import heifbox
            data = heifbox.tone_mapped(open(args[0] + '/heic/alpha.heic', 'rb').read())
            open(args[1], 'wb').write(data)
            """, [Repository.media.path, file.path])
        try Codec.everything.prepare()
        let library = try #require(Codec.everything.libraries.first { $0.name == .libheif })
        // libheif's own tool, of the same version.
        let judged = try? Tool.text("heif-info", [file.path])
        #expect((judged?.contains("300x200") == true) == NewerFeature.missing(in: library).isEmpty)
        if judged == nil {
            let error = try Rendered.refusal(of: file, in: directory.url)
            #expect(error?.code == .unsupportedFeature)
            #expect(error?.message.contains("HEIC of the newest phones needs libheif") == true)
        } else {
            let picture = directory.url.appending(path: "judged.png").path
            try Tool.run("heif-convert", [file.path, picture])
            let ours = try Rendered.of(file, in: directory.url, profile: PictureJudge.lossless(side: 300)).path(.main)
            let difference = try #require(try PictureJudge.differences([(ours, picture)]).first)
            // One of two ways from YCbCr to RGB.
            #expect(difference.most <= 3 && difference.alpha == 0, "\(difference)")
        }
    }

    /// A HEIC whose auxiliary picture belongs to the primary picture, to how it is tone mapped, or to both.
    private static let auxiliaries = """
        import struct
        source = open(args[1], 'rb').read()
        def boxes(data):
            at, found = 0, {}
            while at < len(data):
                size, name = struct.unpack('>I4s', data[at:at + 8]); found.setdefault(name, data[at + 8:at + size]); at += size
            return found
        def box(name, body): return struct.pack('>I', len(body) + 8) + name + body
        meta = boxes(boxes(source)[b'meta'][4:]); hvcc = boxes(boxes(meta[b'iprp'])[b'ipco'])[b'hvcC']
        ispe = boxes(boxes(meta[b'iprp'])[b'ipco'])[b'ispe']; data = boxes(source)[b'mdat']
        def heic(name, kind, owners):
            items = [(1, b'hvc1'), (2, b'hvc1'), (3, b'tmap')]; head = bytes(4)
            iinf = box(b'iinf', head + struct.pack('>H', 3) + b''.join(
                box(b'infe', bytes([2, 0, 0, 0]) + struct.pack('>HH', i, 0) + t + b'\\0') for i, t in items))
            iref = box(b'iref', head + box(b'auxl', struct.pack(f'>HH{len(owners)}H', 2, len(owners), *owners))
                + box(b'dimg', struct.pack('>HHHH', 3, 2, 1, 2)))
            ipco = box(b'ipco', box(b'hvcC', hvcc) + box(b'ispe', ispe) + box(b'auxC', head + kind + b'\\0'))
            ipma = box(b'ipma', head + struct.pack('>I', 3) + struct.pack('>HBBB', 1, 2, 0x81, 2)
                + struct.pack('>HBBBB', 2, 3, 0x81, 2, 3) + struct.pack('>HBB', 3, 1, 2))
            def built(at):
                places = [(1, 0, at, len(data)), (2, 0, at, len(data)), (3, 1, 0, 60)]
                iloc = box(b'iloc', bytes([1, 0, 0, 0, 0x44, 0]) + struct.pack('>H', 3) + b''.join(
                    struct.pack('>HHHHII', i, method, 0, 1, start, count) for i, method, start, count in places))
                return (box(b'ftyp', b'heic' + head + b'mif1heictmap') + box(b'meta', head + box(b'hdlr', bytes(8) + b'pict' + bytes(13))
                    + box(b'pitm', head + struct.pack('>H', 1)) + iloc + iinf + iref + box(b'iprp', ipco + ipma)
                    + box(b'idat', bytes(60))))
            start = built(len(built(0)) + 8)
            open(f'{args[0]}/{name}.heic', 'wb').write(start + box(b'mdat', data)); say(name)
        for name, kind in (('alpha', b'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha'), ('depth', b'urn:mpeg:hevc:2015:auxid:2'),
            ('gain', b'urn:com:apple:photo:2020:aux:hdrgainmap')):
            for owners in ((1,), (3,), (1, 3)): heic(name + '-' + ''.join(map(str, owners)), kind, owners)
        """

    @Test func `what an auxiliary picture belongs to decides which libheif reads it, and is no damage`() throws {
        let tile = directory.url.appending(path: "tile.heic").path
        try PictureJudge.run(
            """
            Image.linear_gradient('L').resize((64, 64)).convert('RGB').save(args[0] + '.png')
            subprocess.run(['heif-enc', '-q', '80', args[0] + '.png', '-o', args[0]], check=True, stdout=subprocess.DEVNULL)
            """, [tile])
        let names = try PictureJudge.run(Self.auxiliaries, [directory.url.path, tile])
        #expect(names.count == 9)
        try Codec.everything.prepare()
        let library = try #require(Codec.everything.libraries.first { $0.name == .libheif })
        let isNew = NewerFeature.missing(in: library).isEmpty
        for name in names {
            let file = directory.url.appending(path: "\(name).heic")
            let refusal = try Rendered.refusal(of: file, in: directory.url)
            // What belongs to the picture alone, any version reads.
            let isTaken = isNew || name.hasSuffix("-1")
            #expect(refusal == (isTaken ? nil : NewerFeature.newestHEIC.refusal), "\(name)")
        }
    }

    @Test func `every library says its version`() throws {
        try Codec.everything.prepare()
        let libraries = Codec.everything.libraries
        #expect(libraries.map(\.name) == CodecLibrary.Name.allCases)
        for library in libraries { #expect(library.isAtLeast("0.1"), "\(library)") }
        let vips = try Tool.text("vips", ["--version"])
        #expect(vips.contains(libraries[0].version))
        let ffmpeg = try Tool.text("ffmpeg", ["-version"])
        #expect(ffmpeg.contains(libraries[1].version))
    }

    @Test func `an option or an operation that libvips lacks is named, and isn't called a crash or damage`() throws {
        let said = try Program.tool("vips").run(
            ["copy", Repository.media.appending(path: "png/alpha.png").path, directory.url.path + "/o.png[newest=1]"])
        for text in [said.errorText, "VipsOperation: class \"newestload\" not found\n"] {
            let failure = VipsFailure(text: text)
            for error in [failure.lack, failure.damage(of: "PNG")] {
                #expect(error?.code == .unsupportedFeature && error?.message.contains("newest") == true, "\(text)")
            }
        }
        #expect(VipsFailure(text: "pngload: end of stream").lack == nil)
    }
}
