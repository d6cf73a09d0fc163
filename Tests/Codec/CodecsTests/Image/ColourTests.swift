import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What comes out has the colours that other decoders show.
@Suite struct ColourTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        let scratch = try TemporaryDirectory()
        // A photograph, also with alpha from left to right, and the files that need code of their own to be made.
        try PictureJudge.run(
            """
            os.chdir(args[0])
            photo = Image.open(args[1]).convert('RGB').resize((120, 80), Image.LANCZOS)
            photo.save('photo.png')
            clear = photo.copy(); clear.putalpha(Image.linear_gradient('L').rotate(90).resize(photo.size))
            clear.save('clear.png')
            """, [scratch.url.path, Repository.media.appending(path: "jpeg/coffee.jpg").path])
        directory = scratch
    }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func rendered(_ name: String) throws -> String {
        try Rendered.of(
            directory.url.appending(path: name), in: directory.url, profile: PictureJudge.lossless()
        ).path(.main)
    }

    private func differences(_ pairs: [(String, String)]) throws -> [(String, PictureJudge.Difference)] {
        let differences = try PictureJudge.differences(try pairs.map { (try rendered($0.0), path($0.1)) })
        return zip(pairs.map(\.0), differences).map { ($0, $1) }
    }

    @Test
    func
        `whatever bits, palettes, keys and compressions a lossless file has, every pixel comes out as Pillow reads it`()
        throws
    {
        let names = try PictureJudge.run(
            """
            os.chdir(args[0])
            photo = Image.open('photo.png'); grey = photo.convert('L')
            def convert(name, *options): subprocess.run(['convert', 'photo.png', *options, name], check=True)
            for bits in (1, 2, 4):
                convert(f'grey-{bits}.png', '-colorspace', 'Gray', '+dither', '-posterize', str(2 ** bits), '-depth',
                    str(bits), '-define', f'png:bit-depth={bits}', '-define', 'png:color-type=0')
                photo.quantize(2 ** bits).save(f'palette-{bits}.png', bits=bits)
            convert('16.png', '-define', 'png:bit-depth=16')
            convert('interlaced.png', '-interlace', 'PNG')
            photo.quantize(64).save('key-palette.png', transparency=5)
            photo.quantize(64).save('keys-palette.png', transparency=bytes(range(0, 256, 4)))
            photo.save('key-rgb.png', transparency=photo.getpixel((5, 5)))
            grey.save('key-grey.png', transparency=grey.getpixel((5, 5)))
            Image.merge('LA', (grey, Image.open('clear.png').getchannel('A'))).save('grey-alpha.png')
            for bits, colours in ((1, 2), (4, 16), (8, 256)):
                convert(f'BMP3:palette-{bits}.bmp', '+dither', '-colors', str(colours), '-type', 'Palette')
            convert('BMP3:rle.bmp', '-colors', '256', '-compress', 'RLE')
            photo.save('24.bmp')
            subprocess.run(['convert', 'clear.png', 'BMP:32-alpha.bmp'], check=True)
            for compression in ('tiff_lzw', 'tiff_adobe_deflate', 'packbits'):
                photo.save(compression + '.tiff', compression=compression)
            photo.save('pages.tiff', save_all=True, append_images=[Image.new('RGB', (64, 64), 'red')])
            grey.save('grey.tiff')
            convert('16.tiff', '-depth', '16')
            Image.open('clear.png').save('alpha.tiff')
            Image.open('clear.png').save('lossless.webp', lossless=True, exact=True)
            Image.open('clear.png').save('lossy-alpha.webp', quality=80)
            photo.save('progressive.jpg', progressive=True); photo.save('444.jpg', subsampling=0)
            grey.save('grey.jpg')
            keep = ('photo.png', 'clear.png')
            for name in sorted(os.listdir('.')):
                if name in keep: continue
                say(name.removeprefix('BMP3:').removeprefix('BMP:'))
                Image.open(name).convert('RGBA').save('expected-' + name + '.png')
            """, [directory.url.path])
        #expect(names.count >= 27)
        for (name, difference) in try differences(names.map { ($0, "expected-\($0).png") }) {
            // Colours at half the resolution are rounded once here, and twice by libjpeg.
            let most = name == "progressive.jpg" ? 2.0 : 1
            #expect(
                difference.most <= most && difference.mean < 0.2 && difference.alpha == 0, "\(name): \(difference)")
        }
    }

    @Test
    func `AVIF, HEIC and JPEG XL come out as their own decoders show them, turned once, the primary picture only`()
        throws
    {
        let names = try PictureJudge.run(
            """
            os.chdir(args[0])
            def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            def avif(name, *options, source='photo.png'):
                run('avifenc', '-s', '9', '--min', '2', '--max', '6', *options, source, name)
            avif('10.avif', '-d', '10'); avif('12.avif', '-d', '12'); avif('grey.avif', '-y', '400')
            avif('limited.avif', '-r', 'limited'); avif('alpha.avif', source='clear.png')
            avif('premultiplied.avif', '--premultiply', source='clear.png')
            Image.new('RGB', (256, 128), 'blue').save('wide.png')
            large = Image.open('photo.png').resize((256, 128)); large.save('large.png')
            avif('grid.avif', '--grid', '2x1', source='large.png')
            Image.new('RGB', (120, 80), 'red').save('red.png')
            run('heif-enc', '-q', '90', 'photo.png', '-o', 'one.heic')
            run('heif-enc', '-q', '90', 'photo.png', 'red.png', '-o', 'first-of-two.heic')
            run('heif-enc', '-q', '90', '-t', '32', 'photo.png', '-o', 'thumbnail.heic')
            run('heif-enc', '-q', '90', '-b', '10', 'photo.png', '-o', '10.heic')
            run('heif-enc', '-q', '90', 'clear.png', '-o', 'alpha.heic')
            run('cjxl', 'photo.png', 'lossless.jxl', '-d', '0'); run('cjxl', 'photo.png', 'lossy.jxl', '-d', '1')
            run('cjxl', 'clear.png', 'alpha.jxl', '-d', '0')
            for name in sorted(os.listdir('.')):
                decoder = {'avif': 'avifdec', 'heic': 'heif-convert', 'jxl': 'djxl'}.get(name.split('.')[-1])
                if decoder is None or 'two' in name: continue
                run(decoder, name, 'expected-' + name + '.png'); say(name)
            Image.open('expected-one.heic.png').save('expected-first-of-two.heic.png'); say('first-of-two.heic')
            # A gain map in place of alpha is no part of the picture.
            aux = open('alpha.heic', 'rb').read()
            assert b'urn:mpeg:hevc:2015:auxid:1' in aux
            open('gain-map.heic', 'wb').write(aux.replace(b'urn:mpeg:hevc:2015:auxid:1', b'urn:com:example:hdrgainmap'))
            Image.open('expected-alpha.heic.png').convert('RGB').save('expected-gain-map.heic.png'); say('gain-map.heic')
            # avifdec leaves turning to others.
            exif = b'II*\\0\\x08\\0\\0\\0\\x01\\0\\x12\\x01\\x03\\0\\x01\\0\\0\\0\\x06\\0\\0\\0\\0\\0\\0\\0'
            open('six.exif', 'wb').write(exif)
            avif('plain.avif')
            run('avifdec', 'plain.avif', 'plain.png')
            for quarters in (1, 2, 3):
                avif(f'turned-{quarters}.avif', '--irot', str(quarters), '--exif', 'six.exif')
                Image.open('plain.png').rotate(90 * quarters, expand=True).save(f'expected-turned-{quarters}.avif.png')
                say(f'turned-{quarters}.avif')
            """, [directory.url.path])
        #expect(names.count >= 19)
        for (name, difference) in try differences(names.map { ($0, "expected-\($0).png") }) {
            // Premultiplied colours have few steps where little is to be seen.
            let (most, mean) = name.hasPrefix("premultiplied") ? (32.0, 1.5) : (3.0, 0.6)
            #expect(
                difference.most <= most && difference.mean < mean && difference.alpha <= 1, "\(name): \(difference)")
        }
    }

    @Test func `profiles, code points, Lab and CMYK all lead back to the same sRGB picture`() throws {
        let lines = try PictureJudge.run(
            """
            os.chdir(args[0])
            def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            photo = Image.open('photo.png'); media = args[1]
            # Through the profiles of sample files, by Little CMS.
            for name, sample in (('p3', 'display-p3.jpg'), ('adobe', 'adobe-rgb.jpg')):
                profile = Image.open(f'{media}/jpeg/{sample}').info['icc_profile']
                there = ImageCms.profileToProfile(photo, ImageCms.createProfile('sRGB'),
                    ImageCms.ImageCmsProfile(io.BytesIO(profile)), renderingIntent=1)
                there.save(name + '.png', icc_profile=profile); say(name + '.png', 5, 0.8)
                there.save(name + '.tiff', icc_profile=profile); say(name + '.tiff', 5, 0.8)
            ImageCms.profileToProfile(photo, ImageCms.createProfile('sRGB'), ImageCms.createProfile('LAB'),
                outputMode='LAB').save('lab-8.tiff'); say('lab-8.tiff', 12, 2)
            run('convert', 'photo.png', '-colorspace', 'Lab', '-depth', '16', 'lab-16.tiff'); say('lab-16.tiff', 6, 1)
            # With the CMYK profile that libvips brings; back again by Little CMS, with its black point.
            run('vips', 'icc_export', 'photo.png', 'cmyk.tiff', '--output-profile', 'cmyk')
            run('vips', 'copy', 'cmyk.tiff', 'cmyk.jpg[Q=98]')
            for name in ('cmyk.tiff', 'cmyk.jpg'):
                image = Image.open(name); assert image.mode == 'CMYK'
                profile = ImageCms.ImageCmsProfile(io.BytesIO(image.info['icc_profile']))
                ImageCms.profileToProfile(image, profile, ImageCms.createProfile('sRGB'), renderingIntent=1,
                    outputMode='RGB', flags=0x2000).save(name + '.png'); say(name, 4, 0.8, name + '.png')
            # Without one, from Pillow, which inverts as Adobe does, and from ImageMagick.
            photo.convert('CMYK').save('bare.jpg', quality=95); say('bare.jpg', 120, 32)
            photo.convert('CMYK').save('bare.tiff'); say('bare.tiff', 120, 32)
            run('convert', 'photo.png', '-colorspace', 'CMYK', '-quality', '95', 'magick.jpg'); say('magick.jpg', 120, 32)
            # By code points only: light by the formulas of H.273 and ST 2084, in double precision.
            light = np.asarray(photo) / 255.0
            light = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
            def xyz(points):
                columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in points]).T
                white = np.array([0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290])
                return columns * np.linalg.solve(columns, white)
            srgb = xyz([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)])
            p3 = xyz([(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)])
            bt2020 = xyz([(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)])
            def to(space, light): return np.clip(light @ (np.linalg.inv(space) @ srgb).T, 0, 1)
            def save(name, values):
                raw = (values * 65535 + 0.5).astype('<u2').tobytes()
                subprocess.run(['convert', '-size', '120x80', '-depth', '16', '-endian', 'LSB', 'rgb:-', name],
                    input=raw, check=True)
            def gamma(light): return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
            def pq(nits):
                y = (nits / 10000) ** 0.1593017578125
                return ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ** 78.84375
            def hlg(shown):
                luma = shown @ np.array([0.2627, 0.6780, 0.0593])
                scene = shown * (np.maximum(luma, 1e-9) ** (1 / 1.2 - 1))[..., None]
                return np.where(scene <= 1 / 12, np.sqrt(3 * scene),
                    0.17883277 * np.log(np.maximum(12 * scene - 0.28466892, 1e-9)) + 0.55991073)
            avif = ('avifenc', '-s', '9', '--min', '0', '--max', '2', '-d', '10')
            save('p3-coded.png', gamma(to(p3, light)))
            run(*avif, '--cicp', '12/13/6', 'p3-coded.png', 'p3.avif'); say('p3.avif', 6, 1)
            # Half as bright, so that nothing is pressed together.
            dim = light * 0.5
            Image.fromarray((gamma(dim) * 255 + 0.5).astype(np.uint8)).save('dim.png')
            save('pq.png', pq(to(bt2020, dim) * 203))
            run(*avif, '--cicp', '9/16/9', 'pq.png', 'pq.avif'); say('pq.avif', 10, 1.6, 'dim.png')
            save('hlg.png', hlg(to(bt2020, dim) * 203 / 1000))
            run(*avif, '--cicp', '9/18/9', 'hlg.png', 'hlg.avif'); say('hlg.avif', 10, 1.6, 'dim.png')
            """, [directory.url.path, Repository.media.path])
        let cases = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(cases.count == 14)
        let pairs = cases.map { ($0[0], $0.count > 3 ? $0[3] : "photo.png") }
        for (values, (name, difference)) in zip(cases, try differences(pairs)) {
            let most = try #require(Double(values[1]))
            let mean = try #require(Double(values[2]))
            #expect(difference.most <= most && difference.mean < mean, "\(name): \(difference)")
        }
    }

    @Test func `light brighter than white is pressed together, in order, and ends at white`() throws {
        let coded = CodedColour(primaries: 9, transfer: 16)
        var values: [Float] = (0...100).flatMap { [Float](repeating: Float($0) / 100, count: 3) }
        coded.standard(&values, bands: 3)
        let greys = stride(from: 0, to: values.count, by: 3).map { values[$0] }
        #expect(zip(greys, greys.dropFirst()).allSatisfy { $0 <= $1 })
        // 203 nits are 0.58 in PQ, 1,000 are 0.752.
        #expect(greys[0] == 0 && greys[58] > 0.85 && greys[58] < 0.93 && greys[70] < 0.995 && greys[76] > 0.999)
        var red: [Float] = [0.7, 0.3, 0.3]
        coded.standard(&red, bands: 3)
        #expect(red[0] > red[1] && red.allSatisfy { (0...1).contains($0) })
    }

    @Test func `boxes that lie leave a HEIF without code points, and end nothing`() throws {
        let bytes = try Data(contentsOf: Repository.media.appending(path: "avif/10-bit.avif")).map(\.self)
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                damaged[Int.random(in: 0..<min(400, damaged.count), using: &generator)] =
                    [
                        0, 1, 0x7F, 0xFF,
                        .random(
                            in: 0...255, using: &generator),
                    ].randomElement(using: &generator) ?? 0
            }
            damaged.removeLast(Int.random(in: 0..<damaged.count, using: &generator))
            _ = unsafe damaged.withUnsafeBytes { unsafe HEIFProperties($0) }
        }
        let whole = unsafe bytes.withUnsafeBytes { unsafe HEIFProperties($0) }
        #expect(whole.colour != nil && !whole.isPremultiplied)
    }
}
