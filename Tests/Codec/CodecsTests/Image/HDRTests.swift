import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// HDR that no result has is an omission, in every format that can have it.
@Suite struct HDRTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Files of a kind, with what another reader than ours says of their light: `PQ`, `HLG`, `map`, or `-`.
    private static let kinds = [
        "avif": """
        for name, transfer in curves.items():
            for suffix, frames in (('still', frame[:1]), ('moving', frame)):
                file = f'{name}-{suffix}.avif'
                run('avifenc', '-s', '9', '-d', '10', '--cicp', f'9/{transfer}/9', '--fps', '5', *frames, file)
                told(file, told_by('avifdec', '--info', file))
                # The picture's own data says it too.
                data = open(file, 'rb').read(); bare = 'bare-' + file
                open(bare, 'wb').write(data.replace(b'colrnclx', b'freenclx'))
                told(bare, told_by('avifdec', '--info', bare))
        """,
        "heic": """
        # What the recipe wrote: no tool here tells of it. The numbers take the place of a profile.
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
        Image.open('a.png').convert('RGB').save('profile.png', icc_profile=profile)
        run('heif-enc', 'profile.png', '-o', 'profile.heic')
        data = open('profile.heic', 'rb').read()
        for name, transfer in curves.items():
            numbers = b'nclx' + b''.join(n.to_bytes(2, 'big') for n in (9, transfer, 9)) + b'\\x80'
            open(name + '.heic', 'wb').write(data.replace(b'colrprof' + profile[:7], b'colr' + numbers))
            run('heif-convert', name + '.heic', name + '.png'); told(name + '.heic', name)
        # A frame of HEVC, as its own parameters say it: with the box, and without.
        def box(name, body): return (len(body) + 8).to_bytes(4, 'big') + name + body
        def inside(data, name): at = data.index(name); return data[at + 4:at - 4 + int.from_bytes(data[at - 4:at], 'big')]
        def heic(file, film, colors):
            full, frame = bytes(4), inside(film, b'mdat')
            shape = box(b'ispe', full + (64).to_bytes(4, 'big') + (48).to_bytes(4, 'big'))
            ipco = box(b'ipco', box(b'hvcC', inside(film, b'hvcC')) + shape + colors)
            own = bytes([0x81, 2, 3]) if colors else bytes([0x81, 2])
            ipma = box(b'ipma', full + (1).to_bytes(4, 'big') + b'\\0\\1' + bytes([len(own)]) + own)
            def head(at):
                place = b'\\x44\\0\\0\\1\\0\\1\\0\\0\\0\\1' + at.to_bytes(4, 'big') + len(frame).to_bytes(4, 'big')
                items = box(b'iinf', full + b'\\0\\1' + box(b'infe', b'\\2\\0\\0\\0\\0\\1\\0\\0hvc1\\0'))
                return box(b'ftyp', b'heic' + full + b'mif1heic') + box(b'meta', full + box(b'hdlr', bytes(8) + b'pict' + bytes(13))
                    + box(b'pitm', full + b'\\0\\1') + box(b'iloc', full + place) + items + box(b'iprp', ipco + ipma))
            open(file, 'wb').write(head(len(head(0)) + 8) + box(b'mdat', frame))
        for name, transfer in curves.items():
            run('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=64x48', '-frames:v', '1', '-pix_fmt', 'yuv420p10le',
                '-c:v', 'libx265', '-x265-params', 'log-level=none:pools=1', '-color_primaries', 'bt2020', '-color_trc',
                str(transfer), '-colorspace', 'bt2020nc', '-tag:v', 'hvc1', name + '.mp4')
            film = open(name + '.mp4', 'rb').read().replace(b'colrnclx', b'freenclx'); open('bare.mp4', 'wb').write(film)
            light = told_by('ffprobe', '-v', 'error', '-show_entries', 'stream=color_transfer', 'bare.mp4')
            numbers = b'nclx' + b''.join(n.to_bytes(2, 'big') for n in (9, transfer, 9)) + b'\\0'
            for file, colors in (('frame.heic', box(b'colr', numbers)), ('bare-frame.heic', b'')):
                file = file.replace('frame', name + '-frame'); heic(file, film, colors); told(file, light)
        """,
        "jxl": """
        for name, space in (('pq', 'PeQ'), ('hlg', 'HLG'), ('sdr', 'SRG')):
            run('cjxl', '-d', '0', '-x', f'color_space=RGB_D65_202_Rel_{space}', 'a.ppm', name + '.jxl')
            told(name + '.jxl', told_by('jxlinfo', name + '.jxl'))
        # A box of a gain map behind the two that begin the file (ISO/IEC 18181-2).
        data = open('sdr.jxl', 'rb').read(); assert data[4:8] == b'JXL '
        for name, kind in (('map', b'jhgm'), ('other', b'abcd')):
            open(name + '.jxl', 'wb').write(data[:32] + (12).to_bytes(4, 'big') + kind + bytes(4) + data[32:])
            run('djxl', name + '.jxl', name + '.png'); told(name + '.jxl', name)
        """,
        "mp4": """
        for name, transfer in (('pq', 'smpte2084'), ('hlg', 'arib-std-b67'), ('sdr', 'bt709')):
            for suffix in ('mp4', 'mov', 'mkv'):
                file = f'{name}.{suffix}'
                run('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=64x48:r=10:d=0.3', '-pix_fmt', 'yuv420p10le',
                    '-c:v', 'libx265', '-x265-params', 'log-level=none:pools=1', '-preset', 'ultrafast', '-color_primaries',
                    'bt2020', '-color_trc', transfer, '-colorspace', 'bt2020nc', file)
                told(file, told_by('ffprobe', '-v', 'error', '-show_entries', 'stream=color_transfer', file))
        """,
    ]

    private static let bitstreams = """
        def strip(file):
            data = open(file, 'rb').read(); open(file, 'wb').write(data.replace(b'colrnclx', b'freenclx'))
        source = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=10:d=0.3', '-pix_fmt', 'yuv420p10le']
        quick = {'libx265': ['-preset', 'ultrafast', '-x265-params', 'log-level=none:pools=1'], 'libx264': [],
            'libaom-av1': ['-cpu-used', '8', '-usage', 'realtime']}
        colors = ['-color_primaries', 'bt2020', '-colorspace', 'bt2020nc', '-color_trc']
        def video(file, coder, transfer, *more):
            run('ffmpeg', '-v', 'error', *source, '-c:v', coder, *quick[coder], *colors, transfer, *more, file)
            if file.endswith('mp4'): strip(file)
            entries = 'stream=color_transfer:frame=color_transfer'
            told(file, told_by('ffprobe', '-v', 'error', '-show_entries', entries, file))
        for name, transfer in (('pq', 'smpte2084'), ('hlg', 'arib-std-b67'), ('sdr', 'bt2020-10')):
            for coder, suffix in (('libx265', 'mp4'), ('libx265', 'ts'), ('libx264', 'mp4'), ('libaom-av1', 'mp4')):
                video(f'{name}-{coder}.{suffix}', coder, transfer)
        # As DVB broadcasts HLG: beside the frames, which say BT.2020.
        for suffix in ('mp4', 'ts'):
            video('beside.' + suffix, 'libx265', 'bt2020-10', '-x265-params', 'log-level=none:pools=1:atc-sei=18')
        """

    private static let prelude = """
        os.chdir(args[0])
        curves = {'pq': 16, 'hlg': 18, 'sdr': 13}
        frame = ['a.png', 'b.png']
        for name in ('a.png', 'a.ppm'): subprocess.run(['convert', '-size', '64x48', 'gradient:red-blue', '-depth', '16', name], check=True)
        subprocess.run(['convert', '-size', '64x48', 'gradient:green-white', '-depth', '16', 'b.png'], check=True)
        def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def told_by(*command): return subprocess.run(command, check=True, capture_output=True, text=True).stdout
        def told(file, text):
            names = {'PQ': ('2084', 'pq transfer', 'char. : 16'), 'HLG': ('b67', 'hlg transfer', 'char. : 18')}
            by_name = {'pq': 'PQ', 'hlg': 'HLG', 'map': 'map'}.get(text, '-')
            say(file, next((name for name, all in names.items() if any(word in text.lower() for word in all)), by_name))

        """

    @Test(arguments: ["avif", "heic", "jxl", "mp4", "bitstream"])
    func `HDR that is left out is an omission`(kind: String) throws {
        let files = try PictureJudge.run(Self.prelude + (Self.kinds[kind] ?? Self.bitstreams), [directory.path])
        var mains: [String: Data] = [:]
        for line in files {
            let words = line.split(separator: " ").map(String.init)
            let made = try Rendered.of(directory.url.appending(path: words[0]), in: directory.url)
            let wanted = ["PQ": [Finding.hdr], "HLG": [.hdr], "map": [.gainMap]][words[1]] ?? []
            #expect(made.probeResult.diagnosis.omissions.filter { [.hdr, .gainMap].contains($0) } == wanted, "\(line)")
            mains[words[0]] = try Data(contentsOf: URL(filePath: made.path(.main)))
            let told = Diagnosis.result(.full, error: nil, diagnosis: made.ending.diagnosis)
            #expect(told?.contains("without HDR") == !wanted.isEmpty, "\(line): \(told ?? "")")
        }
        // What only the data says comes out as what a box says too.
        for (name, main) in mains where name.hasPrefix("bare-") {
            #expect(main == mains[String(name.dropFirst(5))], "\(name)")
        }
        #expect(Set(files.map { $0.split(separator: " ").last ?? "" }).isSuperset(of: ["PQ", "HLG", "-"]), "\(files)")
    }
}
