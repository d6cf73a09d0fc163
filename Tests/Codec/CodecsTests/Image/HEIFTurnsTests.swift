import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// HEIF whose primary picture is rotated and mirrored, with the alpha beside it that isn't.
@Suite struct HEIFTurnsTests {
    /// Makes every rotation with every mirroring of one picture, and beside each `expected-….png`: the picture without
    /// them by the format's own decoder, turned by NumPy.
    ///
    /// avifenc turns the primary picture only; heif-enc can't, so that boxes are added.
    private static let recipe = """
        sys.path.insert(0, args[1]); sys.dont_write_bytecode = True
        from recipes import heifbox
        os.chdir(args[0])
        def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        photo = Image.open(args[1] + '/jpeg/coffee.jpg').convert('RGB').resize((96, 64), Image.LANCZOS)
        ramp = Image.linear_gradient('L').rotate(90).resize((96, 64))
        ramp.paste(0, (0, 0, 30, 20)); ramp.paste(255, (40, 0, 96, 10))
        photo.putalpha(ramp); photo.save('source.png')
        def expect(name, base, rotation, mirror):
            a = np.rot90(load(base), rotation)
            if mirror == 0: a = a[::-1]
            if mirror == 1: a = a[:, ::-1]
            Image.fromarray(np.ascontiguousarray(a).astype('uint8')).save('expected-' + name + '.png')
            say(name)
        for depth in ('8', '10'):
            for rotation in range(4):
                for mirror in (None, 0, 1):
                    name = f'{depth}-{rotation}-{mirror}.avif'
                    turns = (['--irot', str(rotation)] if rotation else []) + (
                        ['--imir', str(mirror)] if mirror is not None else [])
                    run('avifenc', '-s', '8', '--min', '0', '--max', '4', '-y', '444', '-d', depth, *turns,
                        'source.png', name)
                    # It says what the turns are, and leaves them to who shows the picture.
                    run('avifdec', '-d', '8', name, 'plain.png')
                    expect(name, 'plain.png', rotation, mirror)
        run('heif-enc', '-q', '95', '-p', 'chroma=444', 'source.png', '-o', 'plain.heic')
        run('heif-convert', 'plain.heic', 'plain.png')
        plain = open('plain.heic', 'rb').read()
        for rotation in range(4):
            for mirror in (None, 0, 1):
                data = heifbox.turned(plain, b'irot', rotation) if rotation else plain
                if mirror is not None: data = heifbox.turned(data, b'imir', mirror)
                name = f'{rotation}-{mirror}.heic'
                open(name, 'wb').write(data)
                expect(name, 'plain.png', rotation, mirror)
        """

    @Test func `alpha without turns of its own is turned with the colours`() throws {
        let directory = try TemporaryDirectory()
        let names = try PictureJudge.run(Self.recipe, [directory.url.path, Repository.media.path])
        #expect(names.count == 36)
        let pairs = try names.map { name in
            let rendered = try Rendered.of(
                directory.url.appending(path: name), in: directory.url, profile: PictureJudge.lossless())
            return (try rendered.path(.main), directory.url.appending(path: "expected-\(name).png").path)
        }
        for (name, difference) in zip(names, try PictureJudge.differences(pairs)) {
            #expect(difference.most <= 8 && difference.mean < 1 && difference.alpha <= 1, "\(name): \(difference)")
        }
    }

    @Test(arguments: [["--irot", "1"], ["--irot", "3", "--imir", "0"], ["--crop", "4,6,24,16"]])
    func `how a picture is turned or cropped may be listed before what it is`(turns: [String]) throws {
        let directory = try TemporaryDirectory()
        try PictureJudge.run(
            """
            import struct
            os.chdir(args[0])
            ramp = Image.linear_gradient('L').resize((48, 32))
            # libheif 1.15 turns no colors without alpha, where mirrored.
            kind = 'RGBA' if '--imir' in args else 'RGB'
            Image.merge(kind, [ramp, ramp.rotate(180), ramp, Image.new('L', (48, 32), 99)][:len(kind)]).save('source.png')
            subprocess.run(['avifenc', '-s', '8', '-y', '444', *args[1:], 'source.png', 'usual.avif'], check=True,
                stdout=subprocess.DEVNULL)
            data = bytearray(open('usual.avif', 'rb').read())
            at = data.index(b'ipco') + 4; end = at - 8 + struct.unpack('>I', data[at - 8:at - 4])[0]; kinds = []
            while at < end:
                size, kind = struct.unpack('>I4s', data[at:at + 8]); kinds.append(kind); at += size
            at = data.index(b'ipma') + 12; changed = 0
            for _ in range(struct.unpack('>I', data[at - 4:at])[0]):
                count = data[at + 2]; own = data[at + 3:at + 3 + count]
                own = sorted(own, key=lambda n: kinds[(n & 127) - 1] not in (b'irot', b'imir', b'clap'))
                changed += kinds[(own[0] & 127) - 1] in (b'irot', b'imir', b'clap')
                data[at + 3:at + 3 + count] = bytes(own); at += 3 + count
            assert changed
            open('first.avif', 'wb').write(data)
            """, [directory.url.path] + turns)
        let paths = try ["usual", "first"].map { name in
            try Rendered.of(
                directory.url.appending(path: "\(name).avif"), in: directory.url, profile: PictureJudge.lossless()
            ).path(.main)
        }
        let difference = try PictureJudge.difference(paths[0], paths[1])
        #expect(difference.most == 0 && difference.alpha == 0, "\(difference)")
    }

    @Test func `alpha with the same turns is left to the decoder, and alpha with others is refused by name`() throws {
        let directory = try TemporaryDirectory()
        // In the list of alpha its depth makes room for the rotation; where the colours are mirrored besides it is another
        // turn. Their depth makes room for a crop that alpha hasn't.
        try PictureJudge.run(
            """
            os.chdir(args[0])
            ramp = Image.linear_gradient('L').resize((48, 32))
            Image.merge('RGBA', [ramp, ramp.rotate(180), ramp, ramp.rotate(90)]).save('source.png')
            for name, turns in (('same', []), ('mirrored', ['--imir', '0']), ('cropped', [])):
                subprocess.run(['avifenc', '-s', '8', '-y', '444', '--irot', '1', *turns, 'source.png', name + '.avif'],
                    check=True, stdout=subprocess.DEVNULL)
                if name == 'same':
                    subprocess.run(['avifdec', 'same.avif', 'plain.png'], check=True, stdout=subprocess.DEVNULL)
                    Image.open('plain.png').transpose(Image.ROTATE_90).save('expected.png')
                data = open(name + '.avif', 'rb').read()
                depth = 7 if name == 'mirrored' else 6
                list = bytes([0, 2, 4, 1, depth])
                assert data.count(list) == 1
                if name == 'cropped': data = data.replace(b'pixi', b'clap', 1)
                else: data = data.replace(list, list[:4] + bytes([0x80 | 5]))
                open(name + '.avif', 'wb').write(data)
            """, [directory.url.path])
        let same = try Rendered.of(
            directory.url.appending(path: "same.avif"), in: directory.url, profile: PictureJudge.lossless())
        let expected = directory.url.appending(path: "expected.png").path
        let difference = try PictureJudge.difference(try same.path(.main), expected)
        #expect(difference.most <= 8 && difference.alpha <= 1, "\(difference)")
        for name in ["mirrored", "cropped"] {
            let refusal = try Rendered.refusal(
                of: directory.url.appending(path: "\(name).avif"), in: directory.url)
            #expect(refusal?.code == .unsupportedFeature, "\(name): \(String(describing: refusal))")
            #expect(refusal?.message.contains("ts transparency is cropped or turned otherwise") == true)
        }
    }

    @Test func `no damaged box ends the search for turns`() throws {
        let directory = try TemporaryDirectory()
        try PictureJudge.run(
            """
            Image.new('RGBA', (16, 16), (200, 100, 50, 99)).save(args[0] + '/source.png')
            subprocess.run(['avifenc', '--irot', '1', '--imir', '1', args[0] + '/source.png', args[0] + '/turned.avif'],
                check=True, stdout=subprocess.DEVNULL)
            """, [directory.url.path])
        let file = [UInt8](try Data(contentsOf: directory.url.appending(path: "turned.avif")))
        func orientation(_ file: [UInt8]) -> Int? {
            var file = file
            return try? unsafe file.withUnsafeMutableBytes { bytes in
                unsafe HEIFTurns.sort(in: bytes)
                return try unsafe HEIFTurns.take(from: bytes)
            }
        }
        #expect(orientation(file) == 7)
        for end in 0...file.count { _ = orientation(Array(file.prefix(end))) }
        for place in file.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var damaged = file
                damaged[place] = value
                _ = orientation(damaged)
            }
        }
    }
}
