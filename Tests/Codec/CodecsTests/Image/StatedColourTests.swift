import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What a file states of its colors, by numbers or by a profile, against what its pixels are.
@Suite struct StatedColourTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs a script in which `photo` is a picture of 48 by 32, `png(name, chunks, mode)` writes it with chunks before its
    /// pixels, `expect(name, light)` what it shows by its linear light, and `icc(space, kind)` makes a profile.
    private func made(_ script: String, _ arguments: [String] = []) throws -> [[String]] {
        try PictureJudge.run(
            Self.prelude + script,
            [directory.url.path, Repository.media.appending(path: "jpeg/coffee.jpg").path] + arguments
        ).map { $0.split(separator: " ").map(String.init) }
    }

    private static let prelude = """
        import struct, zlib
        os.chdir(args[0])
        photo = Image.open(args[1]).convert('RGB').resize((48, 32), Image.LANCZOS)
        grey = photo.convert('L'); ramp = Image.linear_gradient('L').rotate(90).resize(photo.size)
        def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def chunk(name, body):
            name = name.encode(); return struct.pack('>I', len(body)) + name + body + struct.pack('>I', zlib.crc32(name + body))
        def png(name, chunks, mode):
            base = {'L': grey, 'P': photo.quantize(64), 'LA16': grey, 'RGB': photo, 'RGBA16': photo}[mode]
            if mode.endswith('16'):
                planes = [np.asarray(base).reshape(32, 48, -1).astype('>u2') * 257,
                    np.asarray(ramp).reshape(32, 48, 1).astype('>u2') * 257]
                rows = b''.join(b'\\0' + row.tobytes() for row in np.concatenate(planes, -1))
                head = struct.pack('>IIBBBBB', 48, 32, 16, {'LA16': 4, 'RGBA16': 6}[mode], 0, 0, 0)
                data = chunk('IHDR', head) + chunk('IDAT', zlib.compress(rows)) + chunk('IEND', b'')
            else:
                out = io.BytesIO(); base.save(out, 'PNG'); data = out.getvalue()[8:]
            data = b'\\x89PNG\\r\\n\\x1a\\n' + data
            open(name, 'wb').write(data[:33] + b''.join(chunk(*c) for c in chunks) + data[33:])
            return np.asarray(base.convert('RGB')) / 255, ramp if mode.endswith('16') else None
        def xyz(points):
            columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in points[1:]]).T
            x, y = points[0]; return columns * np.linalg.solve(columns, np.array([x / y, 1, (1 - x - y) / y]))
        D65 = (0.3127, 0.3290)
        SRGB = [D65, (0.64, 0.33), (0.30, 0.60), (0.15, 0.06)]; P3 = [D65, (0.680, 0.320), (0.265, 0.690), (0.150, 0.060)]
        BT2020 = [D65, (0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]
        ADOBE = [D65, (0.64, 0.33), (0.21, 0.71), (0.15, 0.06)]
        def srgb(v): return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
        def coded(light): return np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
        def expect(name, light, alpha=None, space=SRGB):
            light = light @ (np.linalg.inv(xyz(SRGB)) @ xyz(space)).T
            shown = Image.fromarray((coded(np.clip(light, 0, 1)) * 255 + 0.5).astype(np.uint8))
            if alpha is not None: shown.putalpha(alpha)
            shown.save('expected-' + name + '.png'); say(name)
        def pq(v):
            root = v ** (1 / 78.84375)
            return (np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125) * 10000 / 203
        def to_pq(light):
            y = (light * 203 / 10000) ** 0.1593017578125; return ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ** 78.84375
        def to_hlg(light):
            shown = light * 203 / 1000; luma = shown @ np.array([0.2627, 0.6780, 0.0593])
            scene = shown * (np.maximum(luma, 1e-9) ** (1 / 1.2 - 1))[..., None]
            return np.where(scene <= 1 / 12, np.sqrt(3 * scene),
                0.17883277 * np.log(np.maximum(12 * scene - 0.28466892, 1e-9)) + 0.55991073)
        def hlg(v): return np.where(v <= 0.5, v * v / 3, (np.exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12)
        def s15(v): return struct.pack('>i', round(float(v) * 65536))
        BRADFORD = np.array([[.8951, .2664, -.1614], [-.7502, 1.7135, .0367], [.0389, -.0685, 1.0296]])
        D50 = np.array([.9642, 1, .8249])
        def colorants(space):
            x, y = space[0]; white = np.array([x / y, 1, (1 - x - y) / y])
            return np.linalg.inv(BRADFORD) @ np.diag((BRADFORD @ D50) / (BRADFORD @ white)) @ BRADFORD @ xyz(space)
        def curve(function, count=1024):
            values = [round(float(function(np.float64(i / (count - 1)))) * 65535) for i in range(count)]
            return b'curv' + bytes(4) + struct.pack(f'>I{count}H', count, *values)
        def icc(space, tags, kind=b'mntr', version=0x02200000):
            tags = {b'desc': b'desc' + bytes(4) + struct.pack('>I', 5) + b'test\\0' + bytes(78), b'cprt': b'text' + bytes(4) + b'none\\0',
                b'wtpt': b'XYZ ' + bytes(4) + b''.join(map(s15, D50)), **tags}
            table, body, at = b'', b'', 132 + 12 * len(tags)
            for key, value in tags.items():
                value += bytes(-len(value) % 4); table += key + struct.pack('>II', at + len(body), len(value)); body += value
            head = struct.pack('>I4sI4s4s4s', at + len(body), bytes(4), version, kind, space, b'XYZ ')
            head += struct.pack('>6H', 2026, 1, 1, 0, 0, 0) + b'acsp' + bytes(28) + b''.join(map(s15, D50))
            return head.ljust(128, b'\\0') + struct.pack('>I', len(tags)) + table + body
        def matrix_icc(space, function, more={}):
            m = colorants(space); tags = {}
            for i, c in enumerate('rgb'):
                tags[(c + 'XYZ').encode()] = b'XYZ ' + bytes(4) + b''.join(map(s15, m[:, i])); tags[(c + 'TRC').encode()] = curve(function)
            return icc(b'RGB ', {**tags, **more})
        def lut_icc(space, gamma):
            # Green, blue and red instead of red, green and blue, so that it shows where it isn't applied.
            m = colorants(space)[:, [1, 2, 0]]; grid = b''
            for i in range(8):
                grid += struct.pack('>3H', *(round(float(v) * 32768) for v in m @ np.array([i >> 2 & 1, i >> 1 & 1, i & 1])))
            table = struct.pack('>256H', *(round((i / 255) ** gamma * 65535) for i in range(256))) * 3
            lut = b'mft2' + bytes(4) + bytes([3, 3, 2, 0]) + b''.join(map(s15, np.eye(3).ravel())) + struct.pack('>2H', 256, 2)
            return icc(b'RGB ', {b'A2B0': lut + table + grid + struct.pack('>6H', 0, 65535, 0, 65535, 0, 65535)})
        GREY = icc(b'GRAY', {b'kTRC': curve(lambda v: v ** 1.8)})

        """

    private func check(
        _ names: [String], most: Double, mean: Double, profile: Profile = PictureJudge.lossless()
    ) throws {
        let pairs = try names.map { name in
            let made = try Rendered.of(
                directory.url.appending(path: name), in: directory.url, profile: profile)
            let isHDR = ["pq", "hlg", "shade"].contains { name.contains($0) }
            #expect(made.ending.omissions.contains(.hdr) == isHDR, "\(name): \(made.ending.omissions)")
            return (try made.path(.main), directory.url.appending(path: "expected-\(name).png").path)
        }
        for (name, difference) in zip(names, try PictureJudge.differences(pairs)) {
            #expect(
                difference.most <= most && difference.mean < mean && difference.alpha <= 1, "\(name): \(difference)")
        }
    }

    @Test(arguments: ["L", "P", "LA16", "RGB", "RGBA16"])
    func `a PNG is shown by cICP, a profile, sRGB, then gAMA and cHRM, as browsers show it`(mode: String) throws {
        let names = try made(
            """
            mode = args[2]
            P3CHRM = struct.pack('>8I', 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
            ADOBECHRM = struct.pack('>8I', 31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000)
            SRGBCHRM = struct.pack('>8I', 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
            def gamma(value): return ('gAMA', struct.pack('>I', value))
            profile = lambda: ('iCCP', b'x\\0\\0' + zlib.compress(GREY if mode[0] == 'L' else matrix_icc(ADOBE, lambda v: v ** 2.2)))
            def shown(name, chunks, light, space=SRGB):
                values, alpha = png(name, chunks, mode); expect(name, light(values), alpha, space)
            shown('linear.png', [gamma(100000)], lambda v: v)
            shown('usual.png', [gamma(45455), ('cHRM', SRGBCHRM)], srgb)
            shown('adobe.png', [gamma(45470 - 8000), ('cHRM', ADOBECHRM)], lambda v: v ** (1 / 0.3747), ADOBE)
            shown('primaries.png', [('cHRM', P3CHRM)], srgb, P3)
            shown('stated.png', [('sRGB', b'\\0'), gamma(100000), ('cHRM', P3CHRM)], srgb)
            shown('p3.png', [('cICP', bytes([12, 13, 0, 1])), gamma(100000)], srgb, P3)
            shown('2020.png', [('cICP', bytes([9, 1, 0, 1])), profile()], srgb, BT2020)
            shown('code-points.png', [('cICP', bytes([1, 13, 0, 1])), profile()], srgb)
            shown('unknown.png', [('cICP', bytes([2, 2, 0, 1])), gamma(100000)], lambda v: v)
            shown('profile.png', [profile(), gamma(100000)], lambda v: v ** (1.8 if mode[0] == 'L' else 2.2),
                SRGB if mode[0] == 'L' else ADOBE)
            # Half as bright, so that nothing is pressed together.
            photo = Image.fromarray((to_pq(srgb(np.asarray(photo) / 255) * 0.5) * 255 + 0.5).astype(np.uint8)); grey = photo.convert('L')
            shown('pq.png', [('cICP', bytes([1, 16, 0, 1])), profile()], pq)
            """, [mode]
        ).map { $0[0] }
        #expect(names.count == 11)
        try check(names, most: 9, mean: 1)
    }

    @Test func `the frames of an APNG are shown by the colors that it states`() throws {
        let names = try made(
            """
            def apng(name, chunks, mode, light, space=SRGB):
                values, _ = png(name, chunks, mode); data = open(name, 'rb').read(); at = data.index(b'IDAT') - 4
                size, = struct.unpack('>I', data[at:at + 4]); body = data[at + 8:at + 8 + size]
                control = lambda n: chunk('fcTL', struct.pack('>IIIIIHHBB', n, 48, 32, 0, 0, 1, 10, 0, 0))
                open(name, 'wb').write(data[:at] + chunk('acTL', struct.pack('>II', 2, 0)) + control(0) + data[at:at + 12 + size]
                    + control(1) + chunk('fdAT', struct.pack('>I', 2) + body) + chunk('IEND', b''))
                expect(name, light(values), None, space)
            def icc_(profile): return ('iCCP', b'x\\0\\0' + zlib.compress(profile))
            for mode in ('L', 'RGB', 'P'):
                apng(f'linear-{mode}.png', [('gAMA', struct.pack('>I', 100000))], mode, lambda v: v)
                apng(f'p3-{mode}.png', [('cICP', bytes([12, 13, 0, 1]))], mode, srgb, P3)
                profile = GREY if mode == 'L' else matrix_icc(ADOBE, lambda v: v ** 2.2)
                apng(f'profile-{mode}.png', [icc_(profile)], mode, lambda v: v ** (1.8 if mode == 'L' else 2.2),
                    SRGB if mode == 'L' else ADOBE)
                apng(f'plain-{mode}.png', [], mode, srgb)
            """
        ).map { $0[0] }
        #expect(names.count == 12)
        var profile = PictureJudge.lossless()
        profile.animation?.type = .png
        try check(names, most: 9, mean: 1, profile: profile)
    }

    @Test func `the frames of an animation are shown by a profile of HDR`() throws {
        var names = try made(
            """
            light = srgb(np.asarray(photo) / 255) * 0.5; ramp_ = Image.linear_gradient('L').resize(photo.size)
            for name, code, function, transfer in (('pq', to_pq, lambda v: pq(v) * 203 / 10000, 16), ('hlg', to_hlg, hlg, 18)):
                values = Image.fromarray((code(light) * 255 + 0.5).astype(np.uint8))
                curves = matrix_icc(SRGB, function)
                words = matrix_icc(P3, lambda v: v, {b'cicp': b'cicp' + bytes(4) + bytes([1, transfer, 0, 1])})
                for kind, profile in (('curves', curves), ('words', words)):
                    for alpha in (None, ramp_):
                        first = values.copy()
                        if alpha is not None: first.putalpha(alpha)
                        frames = [first, first.transpose(Image.FLIP_LEFT_RIGHT)]; stem = f'{name}-{kind}-{first.mode}'
                        for suffix in ('webp', 'png'):
                            frames[0].save(f'{stem}.{suffix}', save_all=True, append_images=frames[1:], duration=100,
                                **(dict(lossless=True, exact=True) if suffix == 'webp' else {}), icc_profile=profile)
                        run('cjxl', '-d', '0', f'{stem}.png', f'{stem}.jxl')
                        for suffix in ('webp', 'jxl'): expect(f'{stem}.{suffix}', light, alpha)
            """
        ).map { $0[0] }
        #expect(names.count == 16)
        let library = CodecLibrary(.libvips, version: Libvips.version)
        if let feature = PictureFormat.jxl.animation?.needs, !library.isAtLeast(feature.since) {
            names.removeAll { $0.hasSuffix("jxl") }
        }
        var profile = PictureJudge.lossless()
        profile.animation?.type = .png
        try check(names, most: 14, mean: 1.6, profile: profile)
    }

    @Test func `HDR by a profile, and floats, are shown as their own numbers say`() throws {
        let names = try made(
            """
            light = srgb(np.asarray(photo) / 255) * 0.5
            wide = np.maximum(light @ (np.linalg.inv(xyz(BT2020)) @ xyz(SRGB)).T, 0)
            def save(name, values, depth=16):
                raw = (values * (65535 if depth == 16 else 255) + 0.5).astype('<u2' if depth == 16 else 'u1').tobytes()
                subprocess.run(['convert', '-size', '48x32', '-depth', str(depth), '-endian', 'LSB', 'rgb:-', *['-define',
                    'png:exclude-chunk=gAMA,cHRM'], name], input=raw, check=True)
            for name, code, function, transfer in (('pq', to_pq, lambda v: pq(v) * 203 / 10000, 16), ('hlg', to_hlg, hlg, 18)):
                save('source.png', code(wide))
                curves = matrix_icc(BT2020, function)
                open('curves.icc', 'wb').write(curves)
                # The word counts, whatever the curves are.
                words = matrix_icc(SRGB, lambda v: v, {b'cicp': b'cicp' + bytes(4) + bytes([9, transfer, 0, 1])})
                open('words.icc', 'wb').write(words)
                run('exiftool', '-o', f'{name}-curves.png', '-icc_profile<=curves.icc', 'source.png')
                run('exiftool', '-o', f'{name}-words.png', '-icc_profile<=words.icc', 'source.png')
                run('convert', 'source.png', '-quality', '100', '-sampling-factor', '1x1', '-strip', f'{name}.jpg')
                run('exiftool', '-overwrite_original', '-icc_profile<=curves.icc', f'{name}.jpg')
                run('avifenc', '-s', '9', '--min', '0', '--max', '2', '-d', '10', '-y', '444', '--cicp', f'9/{transfer}/9', '--icc',
                    'words.icc', 'source.png', f'{name}.avif')
                space = {'pq': 'PeQ', 'hlg': 'HLG'}[name]
                save('source.ppm', code(wide))
                run('cjxl', '-d', '0', '-x', f'color_space=RGB_D65_202_Rel_{space}', 'source.ppm', f'{name}.jxl')
                for kind in ('-curves.png', '-words.png', '.jpg', '.avif', '.jxl'): expect(name + kind, light)
            # Grey of 16 bits, whose profile has one curve.
            shade = srgb(np.asarray(grey) / 255) * 0.5
            open('shade.icc', 'wb').write(icc(b'GRAY', {b'kTRC': curve(lambda v: pq(v) * 203 / 10000)}))
            raw = (to_pq(shade) * 65535 + 0.5).astype('<u2').tobytes()
            subprocess.run(['convert', '-size', '48x32', '-depth', '16', '-endian', 'LSB', 'gray:-', '-define',
                'png:exclude-chunk=gAMA,cHRM', 'source.png'], input=raw, check=True)
            run('exiftool', '-o', 'shade.png', '-icc_profile<=shade.icc', 'source.png'); expect('shade.png', np.dstack([shade] * 3))
            # Floats from 0 to 1.
            values = np.asarray(photo)[::-1].astype('<f4') / 255
            open('rgb.pfm', 'wb').write(b'PF\\n48 32\\n-1.0\\n' + values.tobytes())
            open('grey.pfm', 'wb').write(b'Pf\\n48 32\\n-1.0\\n' + (np.asarray(grey)[::-1].astype('<f4') / 255).tobytes())
            run('cjxl', '-d', '0', '-x', 'color_space=RGB_D65_SRG_Rel_SRG', 'rgb.pfm', 'rgb.jxl')
            run('cjxl', '-d', '0', '-x', 'color_space=RGB_D65_SRG_Rel_Lin', 'rgb.pfm', 'linear.jxl')
            run('cjxl', '-d', '0', '-x', 'color_space=Gra_D65_Rel_SRG', 'grey.pfm', 'grey.jxl')
            expect('rgb.jxl', srgb(np.asarray(photo) / 255)); expect('linear.jxl', np.asarray(photo) / 255)
            expect('grey.jxl', srgb(np.asarray(grey.convert('RGB')) / 255))
            """
        ).map { $0[0] }
        #expect(names.count == 14)
        try check(names, most: 14, mean: 1.6)
    }

    @Test
    func `a profile for other pixels is left out with a note, and one that fits is applied by an intent that it has`()
        throws
    {
        let cases = try made(
            """
            profiles = {'grey': GREY, 'rgb': matrix_icc(P3, lambda v: v ** 2.2), 'lut': lut_icc(ADOBE, 2.0),
                'cmyk': icc(b'CMYK', {}), 'lab': icc(b'Lab ', {}), 'link': icc(b'RGB ', {}, b'link')}
            kinds = {'jpeg': ('L', 'RGB', 'CMYK'), 'png': ('L', 'RGB'), 'tiff': ('L', 'RGB', 'CMYK'), 'webp': ('RGB',),
                'avif': ('L', 'RGB')}
            fits = {'L': ('grey',), 'RGB': ('rgb', 'lut'), 'CMYK': ('cmyk',)}
            for kind, modes in kinds.items():
                for mode in modes:
                    for name, profile in profiles.items():
                        # Of CMYK no profile is at hand.
                        if mode == 'CMYK' and name == 'cmyk': continue
                        file = f'{mode}-{name}.{kind}'; image = photo.convert(mode)
                        if kind == 'avif':
                            image.save('source.png'); open('x.icc', 'wb').write(profile)
                            run('avifenc', '-s', '9', '--min', '0', '--max', '2', '-y', '400' if mode == 'L' else '444', '--icc',
                                'x.icc', 'source.png', file)
                        else:
                            image.save(file, **{'jpeg': dict(quality=100, subsampling=0), 'webp': dict(lossless=True)}.get(kind, {}),
                                icc_profile=profile)
                        fitting = name in fits[mode]
                        shown = image.convert('RGB')
                        if fitting:
                            opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
                            shown = ImageCms.profileToProfile(image, opened, ImageCms.createProfile('sRGB'), outputMode='RGB',
                                renderingIntent=0 if name == 'lut' else 1, flags=0x2000)
                        shown.save('expected-' + file + '.png'); say(file, fitting)
            frames = [photo, photo.transpose(Image.FLIP_LEFT_RIGHT)]
            frames[0].save('moving.webp', save_all=True, append_images=frames[1:], duration=100, lossless=True, icc_profile=GREY)
            """)
        #expect(cases.count == 64)
        let finding = Finding(.profileLeftOut)
        let pairs = try cases.map { fields in
            let made = try Rendered.of(
                directory.url.appending(path: fields[0]), in: directory.url, profile: PictureJudge.lossless())
            let isOut = made.ending.evidence.contains(finding)
            // libpng leaves out without a word what is for no pixels of a PNG.
            let isSilent = fields[0].hasSuffix(".png") && !["grey", "rgb", "lut"].contains { fields[0].contains($0) }
            #expect(isOut == (fields[1] == "False") || isSilent, "\(fields[0]): \(made.ending)")
            return (try made.path(.main), directory.url.appending(path: "expected-\(fields[0]).png").path)
        }
        for (fields, difference) in zip(cases, try PictureJudge.differences(pairs)) {
            // Inks without a profile are anybody's guess.
            let isInk = fields[0].hasPrefix("CMYK")
            #expect(
                difference.mean < (isInk ? 32 : 2) && difference.most <= (isInk ? 140 : 20),
                "\(fields[0]): \(difference)")
        }
        let moving = try Rendered.of(directory.url.appending(path: "moving.webp"), in: directory.url)
        #expect(moving.ending.evidence.contains(finding))
        let likeness = try AnimationJudge.compare(
            moving.path(.main), with: directory.url.appending(path: "moving.webp"))
        #expect(likeness.meanLikeness > 25, "\(likeness)")
    }

    @Test func `a gray JPEG is kept without the RGB profile that it came with`() throws {
        _ = try made("grey.save('grey.jpg', quality=90, icc_profile=matrix_icc(P3, srgb))")
        var profile = Profile.notification
        profile.image?.types = [.jpeg]
        let made = try Rendered.of(directory.url.appending(path: "grey.jpg"), in: directory.url, profile: profile)
        #expect(made.report(.main)?.note.hasPrefix("kept") == true)
        let told = try PictureJudge.run(
            "i = Image.open(args[0]); say(i.mode, 'icc_profile' in i.info)", [made.path(.main)])
        #expect(told == ["L False"])
    }

    @Test func `matrices that no library makes RGB by are refused by name, and others are shown as avifdec shows them`()
        throws
    {
        let cases = try made(
            """
            def avif(matrix, name):
                run('avifenc', '-s', '9', '--min', '0', '--max', '0', '-y', '444', '--cicp', f'1/13/{matrix}', 'source.png', name)
            photo.save('source.png')
            for matrix in (0, 1, 2, 4, 5, 6, 7, 9, 12):
                avif(matrix, f'{matrix}.avif'); run('avifdec', f'{matrix}.avif', f'expected-{matrix}.avif.png'); say(f'{matrix}.avif', 'shown')
            data = open('1.avif', 'rb').read(); at = data.index(b'nclx') + 8
            for matrix in (8, 10, 11, 13, 14, 16, 17):
                open(f'{matrix}.avif', 'wb').write(data[:at] + matrix.to_bytes(2, 'big') + data[at + 2:]); say(f'{matrix}.avif', 'refused')
            """)
        #expect(cases.count == 16)
        for fields in cases where fields[1] == "refused" {
            let refusal = try Rendered.refusal(of: directory.url.appending(path: fields[0]), in: directory.url)
            #expect(refusal?.code == .unsupportedFeature, "\(fields[0])")
        }
        try check(cases.filter { $0[1] == "shown" }.map { $0[0] }, most: 2, mean: 0.6)
    }
}
