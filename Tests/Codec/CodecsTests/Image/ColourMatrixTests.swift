import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Every format with every depth, alpha, colour profile and orientation that it can have.
@Suite struct ColourMatrixTests {
    /// Makes the files of one family, and beside each `expected-….png`: what it shows, by Pillow and LittleCMS.
    ///
    /// The profiles but Lab's are built from their primaries (or gamma), with relative colorimetry as in print.
    private static let recipe = """
        import struct
        os.chdir(args[0])
        family = args[2]
        W, H = 48, 32
        photo = Image.open(args[1]).convert('RGB').resize((W, H), Image.LANCZOS)
        ramp = Image.linear_gradient('L').rotate(90).resize((W, H))
        # Both ends, so that what is quite opaque or quite transparent is there too.
        ramp = ramp.point(lambda v: 0 if v < 24 else 255 if v > 230 else v)

        def s15(v): return struct.pack('>i', round(v * 65536))
        def matrix_profile(name, primaries, gamma):
            # From chromaticities to D50 by Bradford, as ICC.1 has it.
            def xyz(x, y): return np.array([x / y, 1, (1 - x - y) / y])
            m = np.stack([xyz(*p) for p in primaries], 1)
            white = xyz(0.3127, 0.3290)
            m = m * np.linalg.solve(m, white)
            b = np.array([[.8951, .2664, -.1614], [-.7502, 1.7135, .0367], [.0389, -.0685, 1.0296]])
            d50 = np.array([.9642, 1, .8249])
            m = np.linalg.inv(b) @ np.diag((b @ d50) / (b @ white)) @ b @ m
            curve = b'curv' + bytes(4) + struct.pack('>IH', 1, round(gamma * 256)) + bytes(2)
            tags = {b'wtpt': b'XYZ ' + bytes(4) + b''.join(map(s15, d50))}
            for i, c in enumerate(b'rgb'):
                tags[bytes([c]) + b'XYZ'] = b'XYZ ' + bytes(4) + b''.join(map(s15, m[:, i]))
                tags[bytes([c]) + b'TRC'] = curve
            return icc(name, b'RGB ', tags)
        def grey_profile(name, gamma):
            return icc(name, b'GRAY', {
                b'wtpt': b'XYZ ' + bytes(4) + b''.join(map(s15, (.9642, 1, .8249))),
                b'kTRC': b'curv' + bytes(4) + struct.pack('>IH', 1, round(gamma * 256)) + bytes(2)})
        def icc(name, space, tags):
            text = name.encode() + b'\\0'
            tags[b'desc'] = b'desc' + bytes(4) + struct.pack('>I', len(text)) + text + bytes(78)
            tags[b'cprt'] = b'text' + bytes(4) + b'none\\0'
            table, body, at = b'', b'', 128 + 4 + 12 * len(tags)
            for key, value in tags.items():
                value += bytes(-len(value) % 4)
                table += key + struct.pack('>II', at + len(body), len(value))
                body += value
            size = at + len(body)
            head = struct.pack('>I4sI4s4s4s', size, bytes(4), 0x02200000, b'mntr', space, b'XYZ ')
            head += struct.pack('>6H', 2026, 1, 1, 0, 0, 0) + b'acsp' + bytes(28)
            head += b''.join(map(s15, (.9642, 1, .8249)))
            return head.ljust(128, b'\\0') + struct.pack('>I', len(tags)) + table + body
        profiles = {
            'none': None,
            'srgb': ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes(),
            'p3': matrix_profile('Display P3', [(.68, .32), (.265, .69), (.15, .06)], 2.2),
            'adobe': matrix_profile('Adobe RGB (1998)', [(.64, .33), (.21, .71), (.15, .06)], 2.19921875),
        }
        grey = grey_profile('Gray Gamma 1.8', 1.8)
        def shown(image, profile, mode='RGB'):
            if profile is None: return image.convert('RGB')
            return ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                ImageCms.createProfile('sRGB'), renderingIntent=1, outputMode='RGB',
                flags=ImageCms.FLAGS['BLACKPOINTCOMPENSATION'])
        def exif(orientation):
            e = Image.Exif(); e[0x112] = orientation
            return e.tobytes()
        def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def expect(name, colours, alpha, o=1):
            picture = colours.copy()
            if alpha is not None: picture.putalpha(alpha)
            upright(picture, o).save('expected-' + name + '.png')
            say(name)

        # PNG and TIFF, written here: libraries leave combinations out.
        def samples(image, alpha, depth, associated):
            colours = np.asarray(image).astype(np.float64)
            if colours.ndim == 2: colours = colours[..., None]
            if alpha is not None:
                a = np.asarray(alpha).astype(np.float64)[..., None]
                if associated: colours = colours * a / 255
                colours = np.concatenate([colours, a], -1)
            return np.rint(colours * (257 if depth == 16 else 1)).astype('>u2' if depth == 16 else 'u1')
        import zlib
        def png(name, data, depth, kind, profile, o):
            def chunk(tag, body):
                return struct.pack('>I', len(body)) + tag + body + struct.pack('>I', zlib.crc32(tag + body))
            rows = b''.join(b'\\0' + row.tobytes() for row in data)
            out = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', W, H, depth, kind, 0, 0, 0))
            if profile: out += chunk(b'iCCP', b'icc\\0\\0' + zlib.compress(profile))
            out += chunk(b'eXIf', exif(o).removeprefix(b'Exif\\0\\0'))
            open(name, 'wb').write(out + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
        def tiff(name, data, depth, photometric, profile, o, extra):
            bands = data.shape[2]
            fields = {256: (4, [W]), 257: (4, [H]), 258: (3, [depth] * bands), 259: (3, [1]), 262: (3, [photometric]),
                273: (4, [0]), 274: (3, [o]), 277: (3, [bands]), 278: (4, [H]), 279: (4, [data.nbytes]), 284: (3, [1])}
            if extra: fields[338] = (3, [extra])
            if profile: fields[34675] = (7, profile)
            entries, rest, at = [], b'', 8 + 2 + 12 * len(fields) + 4
            for tag in sorted(fields):
                kind, values = fields[tag]
                body = bytes(values) if kind == 7 else b''.join(struct.pack('<H' if kind == 3 else '<I', v) for v in values)
                entries.append([tag, kind, len(values), body])
            for entry in entries:
                if entry[0] == 273: continue
                if len(entry[3]) > 4:
                    body = entry[3] + bytes(len(entry[3]) % 2)
                    entry[3] = struct.pack('<I', at + len(rest)); rest += body
            pixels = struct.pack('<I', at + len(rest))
            out = b'II*\\0' + struct.pack('<IH', 8, len(entries))
            for tag, kind, count, body in entries:
                if tag == 273: body = pixels
                out += struct.pack('<HHI', tag, kind, count) + body.ljust(4, b'\\0')
            little = data.astype('<u2') if depth == 16 else data
            open(name, 'wb').write(out + bytes(4) + rest + little.tobytes())

        combinations = 0
        if family in ('png', 'tiff'):
            for depth in (8, 16):
                for alpha in ('none', 'straight', 'associated'):
                    if family == 'png' and alpha == 'associated': continue
                    for profile in ('none', 'srgb', 'p3', 'adobe', 'grey', 'cmyk'):
                        if family == 'png' and profile == 'cmyk': continue
                        # Refused by name.
                        if (depth, alpha, profile) == (16, 'associated', 'cmyk'): continue
                        image, icc_ = photo, profiles.get(profile)
                        if profile == 'grey': image, icc_ = photo.convert('L'), grey
                        if profile == 'cmyk': image = photo.convert('CMYK')
                        mask = None if alpha == 'none' else ramp
                        data, colours = samples(image, mask, depth, alpha == 'associated'), shown(image, icc_)
                        combinations += 1
                        # In a sample two of each combination's, another two of the next one's.
                        for o in range(1, 9):
                            if args[3] != 'full' and (o + combinations) % 4: continue
                            name = f'{depth}-{alpha}-{profile}-{o}.{family}'
                            if family == 'png':
                                kind = {1: 0, 2: 4, 3: 2, 4: 6}[data.shape[2]]
                                png(name, data, depth, kind, icc_, o)
                            else:
                                photometric = 5 if profile == 'cmyk' else 1 if profile == 'grey' else 2
                                extra = {'none': 0, 'associated': 1, 'straight': 2}[alpha]
                                tiff(name, data, depth, photometric, icc_, o, extra)
                            expect(name, colours, mask, o)
        else:
            for depth in (8, 10):
                for alpha in ('none', 'straight'):
                    for profile in ('none', 'srgb', 'p3', 'adobe'):
                        source = photo.copy()
                        if alpha != 'none': source.putalpha(ramp)
                        source.save('source.png', icc_profile=profiles[profile])
                        name = f'{depth}-{alpha}-{profile}.{family}'
                        if family == 'avif':
                            run('avifenc', '-s', '8', '--min', '0', '--max', '4', '-y', '444', '-d', str(depth), 'source.png', name)
                            run('avifdec', '--no-strict', name, 'decoded.png')
                        elif family == 'heic':
                            # Eight bits are what it takes unasked, and what newer ones refuse to be asked for.
                            bits = ['-b', str(depth)] if depth > 8 else []
                            run('heif-enc', '-q', '95', '-p', 'chroma=444', *bits, 'source.png', '-o', name)
                            run('heif-convert', name, 'decoded.png')
                        else:
                            if depth > 8: run(
                                'convert', 'source.png', '-depth', '16', '-define', 'png:exclude-chunk=gAMA,cHRM',
                                'PNG64:source.png')
                            run('cjxl', 'source.png', name, '-d', '0')
                            # Without loss it is the source; djxl 0.7 can't write 16 bits.
                            source.save('decoded.png')
                        decoded = Image.open('decoded.png')
                        mask = decoded.getchannel('A') if alpha != 'none' else None
                        expect(name, shown(decoded.convert('RGB'), profiles[profile]), mask)
        """

    @Test(.timeLimit(.minutes(5)), arguments: ["png", "tiff", "avif", "heic", "jxl"])
    func `a picture keeps its colours and its transparency, whatever its depth, alpha, profile and orientation are`(
        family: String
    ) throws {
        let directory = try TemporaryDirectory()
        let names = try PictureJudge.run(
            Self.recipe,
            [
                directory.url.path, Repository.media.appending(path: "jpeg/coffee.jpg").path, family,
                Sweep.isFull ? "full" : "sample",
            ])
        #expect(names.count >= 16)
        let pairs = try names.map { name in
            let rendered = try Rendered.of(
                directory.url.appending(path: name), in: directory.url, profile: PictureJudge.lossless())
            return (try rendered.path(.main), directory.url.appending(path: "expected-\(name).png").path)
        }
        for (name, difference) in zip(names, try PictureJudge.differences(pairs)) {
            // Colours that were multiplied by a small alpha, and conversions of 8 bits, are rounded.
            // Inks without a profile are anybody's guess: libvips takes a printer's, Pillow ideal ones.
            let (most, mean) =
                name.contains("cmyk") ? (64.0, 24.0) : name.contains("associated") ? (24, 1) : (8, 1)
            #expect(
                difference.most <= most && difference.mean < mean && difference.alpha <= 1, "\(name): \(difference)")
        }
    }
}
