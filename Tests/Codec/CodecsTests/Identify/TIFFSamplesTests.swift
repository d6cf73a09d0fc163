import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// A TIFF's samples are shown as Pillow shows them, or refused by name: never as something else.
@Suite struct TIFFSamplesTests {
    /// Writes a TIFF of every kind of samples, and for those that are taken `expected.png`; says what each is.
    private static let recipe = """
        import struct, zlib
        os.chdir(args[0])
        W, H = 48, 32
        photo = Image.open(args[1]).convert('RGB').resize((W, H), Image.LANCZOS)
        photo.save('rgb.png'); photo.convert('L').convert('RGB').save('grey.png')
        def tiff(name, raw, bits, photometric, bands, form=None, compression=1, big=False, **more):
            order = '>' if big else '<'
            if compression == 8: raw = zlib.compress(raw)
            if compression == 5:
                # LZW that never looks back: a code of 9 bits a byte, and the table cleared before it grows.
                codes = [c for at in range(0, len(raw), 200) for c in (256, *raw[at:at + 200])] + [257]
                text = ''.join(f'{c:09b}' for c in codes); text += '0' * (-len(text) % 8)
                raw = int(text, 2).to_bytes(len(text) // 8, 'big')
            fields = {256: (4, [W]), 257: (4, [H]), 258: (3, [bits] * bands), 259: (3, [compression]),
                262: (3, [photometric]), 273: (4, [0]), 277: (3, [bands]), 278: (4, [H]), 279: (4, [len(raw)]),
                284: (3, [1])}
            if form: fields[339] = (3, [form] * bands)
            for tag, values in more.items(): fields[int(tag[1:])] = (3 if isinstance(values[0], int) else 5, values)
            table, rest, at = [], b'', 8 + 2 + 12 * len(fields) + 4
            for tag in sorted(fields):
                kind, values = fields[tag]
                body = b''.join(struct.pack(order + {3: 'H', 4: 'L', 5: 'LL'}[kind], *(v if kind == 5 else (v,)))
                    for v in values)
                if len(body) > 4:
                    place = at + len(rest); rest += body + bytes(len(body) % 2)
                    body = struct.pack(order + 'L', place)
                table.append((tag, kind, len(values), body))
            out = (b'MM\\0*' if big else b'II*\\0') + struct.pack(order + 'LH', 8, len(table))
            for tag, kind, count, body in table:
                if tag == 273: body = struct.pack(order + 'L', at + len(rest))
                out += struct.pack(order + 'HHL', tag, kind, count) + body.ljust(4, b'\\0')
            open(name, 'wb').write(out + bytes(4) + rest + raw)
        def ycbcr(across, down):
            y, cb, cr = [np.asarray(c).astype(float) for c in photo.convert('YCbCr').split()]
            def small(c): return c.reshape(H // down, down, W // across, across).mean((1, 3))
            cb, cr, out = small(cb), small(cr), []
            for j in range(H // down):
                for i in range(W // across):
                    out += [*y[j * down:(j + 1) * down, i * across:(i + 1) * across].ravel(), cb[j, i], cr[j, i]]
            return bytes(int(min(max(round(v), 0), 255)) for v in out)
        def say_(name, what): say(name + '|' + what)
        for across, down in ((1, 1), (2, 1), (2, 2)):
            for compression in (1, 5, 8):
                for coefficients in ([], [(299, 1000), (587, 1000), (114, 1000)]):
                    name = f'ycbcr-{across}{down}-{compression}-{len(coefficients)}.tif'
                    more = {'t529': coefficients} if coefficients else {}
                    tiff(name, ycbcr(across, down), 8, 6, 3, compression=compression, t530=[across, down],
                        t532=[(0, 1), (255, 1), (128, 1), (255, 1), (128, 1), (255, 1)], **more)
                    say_(name, 'YCbCr without JPEG')
        photo.save('jpeg.tif', compression='jpeg', quality=95); Image.open('jpeg.tif').convert('RGB').save('jpeg.png')
        say_('jpeg.tif', 'jpeg.png')
        # The old style: one JPEG, whose sampling the tag says right or wrong.
        for sampling, factors in ((0, (1, 1)), (1, (2, 1)), (2, (2, 2))):
            out = io.BytesIO(); photo.save(out, 'JPEG', quality=95, subsampling=sampling); data = out.getvalue()
            for tagged in (factors, (2, 2)):
                name = f'old-{sampling}-{tagged[0]}{tagged[1]}.tif'; entries = 13; at = 8 + 2 + 12 * entries + 4
                table = [(256, 4, 1, W), (257, 4, 1, H), (258, 3, 3, at), (259, 3, 1, 6), (262, 3, 1, 6), (273, 4, 1, at + 6),
                    (277, 3, 1, 3), (278, 4, 1, H), (279, 4, 1, len(data)), (284, 3, 1, 1), (513, 4, 1, at + 6),
                    (514, 4, 1, len(data)), (530, 3, 2, tagged[0] | tagged[1] << 16)]
                open(name, 'wb').write(b'II*\\0' + struct.pack('<IH', 8, entries) + b''.join(
                    struct.pack('<HHII', *entry) for entry in table) + bytes(4) + struct.pack('<3H', 8, 8, 8) + data)
                say_(name, 'YCbCr in JPEG of the old style')
        for kind, bands, photometric in (('rgb', 3, 2), ('grey', 1, 1)):
            a = np.asarray(Image.open(kind + '.png').convert('RGB' if bands == 3 else 'L')).astype(np.float64)
            for big in (False, True):
                def add(name, values, dtype, form, what):
                    name = f'{kind}-{name}-{"big" if big else "little"}.tif'
                    bits = np.dtype(dtype).itemsize * 8
                    tiff(name, values.astype(np.dtype(dtype).newbyteorder('>' if big else '<')).tobytes(), bits,
                        photometric, bands, form, big=big)
                    say_(name, what)
                add('u8', a, 'u1', 1, kind + '.png'); add('u16', a * 257, 'u2', None, kind + '.png')
                add('s8', a - 128, 'i1', 2, 'signed numbers of 8 bits')
                add('s16', a * 257 - 32768, 'i2', 2, 'signed numbers of 16 bits')
                add('s32', a * 2 ** 23, 'i4', 2, 'signed numbers of 32 bits')
                add('u64', a * 2 ** 40, 'u8', 1, 'whole numbers of 64 bits')
                grey = ' in grey' if kind == 'grey' else ''
                add('f16', a / 255, 'f2', 3, 'floating-point numbers of 16 bits' + grey)
                add('f64', a / 255, 'f8', 3, 'floating-point numbers of 64 bits' + grey)
                add('c64', a / 255, 'c8', 6, 'complex numbers')
                if grey: add('f32', a / 255, 'f4', 3, 'floating-point numbers of 32 bits in grey')
                else:
                    # Light itself, as programs for photographs have it.
                    light = np.where(a / 255 <= .04045, a / 255 / 12.92, ((a / 255 + .055) / 1.055) ** 2.4)
                    add('f32', light, 'f4', 3, kind + '.png')
        # Samples that aren't whole bytes: taken alone, and of palettes.
        for bits in (1, 2, 4, 10, 12):
            for kind, bands, photometric in (('grey', 1, 1), ('grey', 2, 1), ('rgb', 3, 2), ('rgb', 4, 2), ('ink', 4, 5)):
                if bands == 1 and bits < 8: continue
                name = f'packed-{bits}-{bands}-{photometric}.tif'; extra = dict(T338=[2]) if bands in (2, 4) and photometric < 3 else {}
                tiff(name, bytes((W * bands * bits + 7) // 8 * H), bits, photometric, bands, **extra)
                say_(name, f'whole numbers of {bits} bits' + (f' in {bands} channels' if bands > 1 else ''))
        # Colours with alpha in all depths, associated (1) and straight (2).
        ramp = np.asarray(Image.linear_gradient('L').rotate(90).resize((W, H))).astype(np.float64)[..., None]
        for kind, photometric in (('L', 1), ('RGB', 2), ('CMYK', 5), ('LAB', 8)):
            a = np.asarray(photo.convert('RGB' if kind == 'LAB' else kind)).reshape(H, W, -1).astype(np.float64)
            for bits in (8, 16, 32):
                for extra in (1, 2):
                    name = f'{kind}-{bits}-{extra}'
                    values = np.concatenate([a * ramp / 255 if extra == 1 else a, ramp], -1)
                    raw = np.rint(values * ((256 ** (bits // 8) - 1) / 255)).astype(f'<u{bits // 8}').tobytes()
                    tiff(name + '.tif', raw, bits, photometric, values.shape[2], T338=[extra])
                    if kind == 'LAB': say_(name + '.tif', f'Lab of {bits} bits with alpha')
                    elif (kind, bits) == ('CMYK', 32): say_(name + '.tif', 'CMYK of 32 bits with alpha')
                    elif extra == 1 and (bits == 32 or (kind, bits) == ('CMYK', 16)):
                        what = 'CMYK' if kind == 'CMYK' else 'numbers'
                        say_(name + '.tif', f'{what} of {bits} bits multiplied by alpha')
                    else:
                        shown = photo.convert(kind).convert('RGB')
                        shown.putalpha(Image.fromarray(ramp[..., 0].astype('uint8')))
                        shown.save(name + '.png'); say_(name + '.tif', name + '.png')
        """

    @Test func `a TIFF is shown as Pillow shows it, or its samples are refused by name`() throws {
        let directory = try TemporaryDirectory()
        let lines = try PictureJudge.run(
            Self.recipe, [directory.url.path, Repository.media.appending(path: "jpeg/coffee.jpg").path])
        #expect(lines.count == 18 + 1 + 6 + 22 + 2 * 2 * 10 + 4 * 3 * 2)
        var shown: [(String, String)] = []
        for line in lines {
            let parts = line.split(separator: "|").map(String.init)
            let source = directory.url.appending(path: parts[0])
            guard parts[1].hasSuffix(".png") else {
                let refusal = try Rendered.refusal(of: source, in: directory.url)
                #expect(refusal?.code == .unsupportedFeature, "\(line): \(String(describing: refusal))")
                #expect(refusal?.message.contains("ts samples are \(parts[1]), which") == true, "\(line)")
                continue
            }
            let made = try Rendered.of(source, in: directory.url, profile: PictureJudge.lossless())
            shown.append((try made.path(.main), directory.url.appending(path: parts[1]).path))
        }
        for ((ours, other), difference) in zip(shown, try PictureJudge.differences(shown)) {
            // Inks without a profile are anybody's guess; 8 bits that were multiplied by a small alpha are rounded.
            let most = other.contains("CMYK") ? 64.0 : other.hasSuffix("-8-1.png") ? 16 : 2
            #expect(difference.most <= most && difference.alpha == 0, "\(ours), \(other): \(difference)")
        }
    }
}
