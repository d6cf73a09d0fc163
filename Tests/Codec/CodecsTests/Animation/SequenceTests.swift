import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// Sequences of AVIF and HEIF are animations: every frame with its delay, and with its alpha.
@Suite struct SequenceTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func profile(_ type: MediaType = .webp, _ damaged: WhenDamaged = .refuse) -> Profile {
        var profile = Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 16), image: ImagePolicy(types: [.png], cap: 10_000_000),
            animation: AnimationPolicy(type: type, cap: 50_000_000))
        profile.damaged = damaged
        return profile
    }

    /// Colours that move, as an animated AVIF of libavif's own encoder.
    private borrowing func sequence(
        frames: Int, hasAlpha: Bool = false, size: (Int, Int) = (96, 64),
        quality: [String] = ["--min", "4", "--max", "8"]
    ) throws -> URL {
        let file = directory.url.appending(path: "sequence-\(frames)-\(hasAlpha).avif")
        try PictureJudge.run(
            """
            w, h, alpha = int(args[2]), int(args[3]), args[4] == 'true'
            names = []
            for n in range(int(args[1])):
                frame = np.zeros((h, w, 4 if alpha else 3), np.uint8)
                y, x = np.mgrid[0:h, 0:w]
                frame[..., 0], frame[..., 1], frame[..., 2] = (x + n * 20) % 256, y * 3, n * 30 % 256
                if alpha: frame[..., 3] = np.where((x + n * 8) % w < w // 2, 255, 100)
                names.append(f'{args[0]}-{n:04}.png')
                Image.fromarray(frame).save(names[-1])
            subprocess.run(['avifenc', '--jobs', '1', '--speed', '9', *args[5:], '--fps', '8', *names, args[0]], check=True, stdout=subprocess.DEVNULL)
            """, [file.path, "\(frames)", "\(size.0)", "\(size.1)", "\(hasAlpha)"] + quality)
        return file
    }

    @Test(arguments: [false, true])
    func `an animated AVIF keeps every frame, its delays and its alpha`(hasAlpha: Bool) throws {
        let source = try sequence(frames: 7, hasAlpha: hasAlpha)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile())
        #expect(rendered.probeResult.kind == .animation && rendered.probeResult.type == .avif)
        #expect(rendered.probeResult.frames == 7)
        #expect(rendered.ending.losses.isEmpty)
        let judged = try PictureJudge.run(
            """
            image = Image.open(args[0])
            say(image.n_frames, image.info.get('loop'))
            worst, alphas = 99, 0
            def decoded(track, form, channels):
                data = subprocess.run(['ffmpeg', '-v', 'error', '-i', args[1], '-map', f'0:{tracks(args[1])[track]}', '-pix_fmt',
                    form, '-f', 'rawvideo', '-'], check=True, stdout=subprocess.PIPE).stdout
                return np.frombuffer(data, np.uint8).reshape(-1, 64, 96, channels)
            colours = decoded(0, 'rgb24', 3)
            alpha = decoded(1, 'gray', 1) if args[2] == 'true' else np.full(colours.shape[:3] + (1,), 255, np.uint8)
            for n in range(image.n_frames):
                image.seek(n)
                image.load()
                wanted = np.concatenate([colours[n], alpha[n]], -1).astype(float)
                found = np.asarray(image.convert('RGBA')).astype(float)
                solid = wanted[..., 3] > 250
                worst = min(worst, psnr(wanted[solid][:, :3], found[solid][:, :3]))
                alphas = max(alphas, abs(wanted[..., 3] - found[..., 3]).max())
                say(image.info['duration'])
            say(worst > 30 or worst, alphas < 4 or alphas)
            """, [try rendered.path(.main), source.path, "\(hasAlpha)"])
        #expect(judged == ["7 0"] + Array(repeating: "125", count: 7) + ["True True"])
    }

    /// What the reader makes of a file, before any encoder: RGBA or RGB of every frame, in a file of their bytes.
    private borrowing func decoded(_ file: URL) throws -> (pixels: URL, frames: Int, size: PixelSize) {
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        try Codec.everything.prepare()
        let data = try Data(contentsOf: file)
        let tracks = try #require(unsafe data.withUnsafeBytes { unsafe PictureTracks($0) })
        let pixels = directory.url.appending(path: "pixels-\(UUID().uuidString)")
        return try withDescriptor(file) { descriptor in
            let reader = try #require(try SequenceReader.open(descriptor, tracks: tracks, limits: .service))
            var bytes: [UInt8] = []
            for index in reader.moments.indices { bytes += try #require(try reader.picture(at: index)) }
            try Data(bytes).write(to: pixels)
            return (pixels, reader.moments.count, reader.size)
        }
    }

    /// Six patches of 32 by 32, which move by one place with each of four frames; `patches(n)` draws a frame.
    private static let patches = """
        COLOURS = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 128, 128), (255, 255, 255), (200, 120, 40)]
        def patches(n):
            frame = np.zeros((64, 96, 3), np.uint8)
            for at in range(6):
                y, x = at // 3 * 32, at % 3 * 32
                frame[y:y + 32, x:x + 32] = COLOURS[(at + n) % 6]
            return frame
        def most(a, b):
            return max(np.abs(a[:, y + 8:y + 24, x + 8:x + 24].astype(int) - b[:, y + 8:y + 24, x + 8:x + 24]).max()
                for y in (0, 32) for x in (0, 32, 64))
        def compare(pixels, file):
            # avifenc adds alpha to every sequence.
            ours = np.fromfile(pixels, np.uint8).reshape(4, 64, 96, -1)
            say((ours[..., 3:] == 255).all())
            ours = ours[..., :3]
            data = subprocess.run(['ffmpeg', '-v', 'error', '-i', file, '-map', f'0:{tracks(file)[0]}', '-sws_flags',
                'bicubic+accurate_rnd+full_chroma_int', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'], check=True,
                stdout=subprocess.PIPE).stdout
            theirs = np.frombuffer(data, np.uint8).reshape(-1, 64, 96, 3)
            drawn, other = most(ours, np.stack([patches(n) for n in range(4)])), most(ours, theirs)
            say(len(ours), drawn <= 4 or drawn, other <= 3 or other)

        """

    @Test(arguments: [
        "444 full 8 6", "420 full 8 6", "420 limited 8 6", "420 limited 8 1", "444 full 10 1", "420 full 8 1",
    ])
    func `the colours of an AVIF are those that were drawn, by any matrix and range`(coding: String) throws {
        let coding = coding.split(separator: " ").map(String.init)
        let file = directory.url.appending(path: "patches.avif")
        try PictureJudge.run(
            Self.patches + """
                names = [f'{args[0]}-{n}.png' for n in range(4)]
                for n in range(4): Image.fromarray(patches(n)).save(names[n])
                subprocess.run(['avifenc', '--jobs', '1', '--speed', '8', '--min', '0', '--max', '2', '--fps', '8', '--yuv',
                    args[1], '--range', args[2], '--depth', args[3], '--cicp', '1/13/' + args[4], *names, args[0]],
                    check=True, stdout=subprocess.DEVNULL)
                """, [file.path] + coding)
        let found = try decoded(file)
        #expect(found.size == PixelSize(width: 96, height: 64))
        let judged = try PictureJudge.run(Self.patches + "compare(*args)", [found.pixels.path, file.path])
        #expect(judged == ["True", "4 True True"])
    }

    @Test(arguments: ["tv bt709", "tv smpte170m", "pc bt709", "pc smpte170m"])
    func `the colours of a HEIF are those that were drawn, by any matrix and range`(coding: String) throws {
        let coding = coding.split(separator: " ").map(String.init)
        let clip = directory.url.appending(path: "patches.mp4")
        try PictureJudge.run(
            Self.patches + """
                file, levels, matrix = args
                for n in range(4): Image.fromarray(patches(n)).save(f'{file}-{n}.png')
                subprocess.run(['ffmpeg', '-v', 'error', '-framerate', '8', '-i', file + '-%d.png', '-vf',
                    f'scale=out_range={levels}:out_color_matrix={matrix}:flags=accurate_rnd+full_chroma_int,format=yuv420p',
                    '-c:v', 'libx265', '-x265-params', 'log-level=none:pools=1', '-crf', '1', '-tag:v', 'hvc1',
                    '-color_range', levels, '-colorspace', matrix, '-color_primaries', 'bt709', '-color_trc', 'bt709',
                    file], check=True)
                """, [clip.path] + coding)
        let file = directory.url.appending(path: "patches.heics")
        try Self.asSequence(try Data(contentsOf: clip)).write(to: file)
        let found = try decoded(file)
        let judged = try PictureJudge.run(Self.patches + "compare(*args)", [found.pixels.path, clip.path])
        #expect(judged == ["True", "4 True True"])
    }

    @Test func `the samples of a track may lie behind all of another's`() throws {
        // libavif writes the colors of all frames, then all alpha: more frames than decoders hold.
        let quality = ["--min", "10", "--max", "10", "--minalpha", "10", "--maxalpha", "10"]
        let source = try sequence(frames: 40, hasAlpha: true, size: (64, 48), quality: quality)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile())
        #expect(rendered.probeResult.frames == 40 && rendered.ending.losses.isEmpty)
        let alphas = try PictureJudge.run(
            """
            image = Image.open(args[0]); image.seek(39)
            shown = np.asarray(image.convert('RGBA')).astype(int)[..., 3]
            y, x = np.mgrid[0:48, 0:64]; wanted = np.where((x + 39 * 8) % 64 < 32, 255, 100)
            say(image.n_frames, np.abs(shown - wanted).mean() < 3)
            """, [try rendered.path(.main)])
        #expect(alphas == ["40 True"])
    }

    @Test(arguments: [false, true])
    func `alpha is that of its own track, and colours are what they were before it`(isPremultiplied: Bool) throws {
        let file = directory.url.appending(path: "alpha.avif")
        try PictureJudge.run(
            """
            file, premultiply = args[0], args[1:]
            for n in range(4):
                frame = np.zeros((64, 96, 4), np.uint8)
                frame[..., :3] = (200 - n * 30, 60 + n * 20, 120)
                frame[:, :32, 3], frame[:, 32:64, 3], frame[:, 64:, 3] = 255, 100 + n * 10, 0
                Image.fromarray(frame).save(f'{file}-{n}.png')
            subprocess.run(['avifenc', '--jobs', '1', '--speed', '8', '--min', '0', '--max', '0', '--fps', '8', *premultiply,
                *[f'{file}-{n}.png' for n in range(4)], file], check=True, stdout=subprocess.DEVNULL)
            """, [file.path] + (isPremultiplied ? ["--premultiply"] : []))
        let data = try Data(contentsOf: file)
        let tracks = try #require(unsafe data.withUnsafeBytes { unsafe PictureTracks($0) })
        #expect(tracks.isPremultiplied == isPremultiplied)
        let judged = try PictureJudge.run(
            """
            ours = np.fromfile(args[0], np.uint8).reshape(-1, 64, 96, 4).astype(int)
            for n in range(len(ours)):
                wanted = load(f'{args[1]}-{n}.png')
                alpha = np.abs(ours[n] - wanted)[..., 3].max()
                colours = np.abs(ours[n] - wanted)[:, :64, :3].max()
                say(alpha <= 2 or alpha, colours <= 6 or colours)
            """, [try decoded(file).pixels.path, file.path])
        #expect(judged == Array(repeating: "True True", count: 4))
    }

    /// A header alone, with an edit list of `flags` whose segment lasts 500 of the track's `duration` ticks.
    private static func header(flags: UInt8, duration: UInt64, isLong: Bool) -> Data {
        func big(_ value: UInt32) -> Data { Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }) }
        func box(_ name: String, _ body: Data) -> Data { big(UInt32(body.count + 8)) + Data(name.utf8) + body }
        let times = Data(count: isLong ? 16 : 8)
        let length = (isLong ? big(UInt32(duration >> 32)) : Data()) + big(UInt32(truncatingIfNeeded: duration))
        let track = box("tkhd", big(isLong ? 1 << 24 | 3 : 3) + times + big(1) + big(0) + length + Data(count: 60))
        let edits = box("edts", box("elst", big(UInt32(flags)) + big(1) + big(500) + big(0) + big(1 << 16)))
        let handler = box("mdia", box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13)))
        return box("ftyp", Data("avis".utf8) + Data(count: 4)) + box("moov", box("trak", track + edits + handler))
    }

    /// ISO/IEC 23008-12, 9.6.1.
    @Test(
        arguments: [
            (0, 500, 1, false), (0, 1500, 1, false), (1, 500, 1, false), (1, 1500, 3, false), (1, 1500, 3, true),
            (1, 0xFFFF_FFFF, 0, false), (1, 0x7FFF_FFFF, 0, false), (1, .max, 0, true), (1, .max / 2, 0, true),
        ] as [(UInt8, UInt64, Int, Bool)])
    func `an edit list says how often a sequence plays`(
        flags: UInt8, duration: UInt64, plays: Int, isLong: Bool
    ) throws {
        let header = Self.header(flags: flags, duration: duration, isLong: isLong)
        let tracks = unsafe header.withUnsafeBytes { unsafe PictureTracks($0) }
        #expect(tracks?.colour.plays == plays)
    }

    /// An MP4 of HEVC as a sequence of pictures, which has the same boxes.
    private static func asSequence(_ clip: Data) throws -> Data {
        var data = clip
        let brands = try #require(data.range(of: Data("ftyp".utf8)))
        data.replaceSubrange(brands.upperBound..<brands.upperBound + 4, with: Data("msf1".utf8))
        let handler = try #require(data.range(of: Data("vide".utf8)))
        data.replaceSubrange(handler, with: Data("pict".utf8))
        return data
    }

    /// The same frames as HEVC pictures: FFmpeg's MP4, with the brands and the handler of a sequence.
    @Test(arguments: [false, true])
    func `a HEIF sequence without a primary item is an animation`(isTurned: Bool) throws {
        let clip = directory.url.appending(path: "clip.mp4")
        try Tool.ffmpeg(
            [
                // Without colours they are drawn at random whatever the seed is, and may show too little of what moves.
                "-f", "lavfi", "-i", "gradients=size=128x96:rate=5:duration=1.8:speed=0.05:seed=1:c0=red:c1=blue",
                "-c:v", "libx265",
                "-x265-params", "log-level=none:pools=1", "-tag:v", "hvc1", "-pix_fmt", "yuv420p", "-crf", "10",
            ], to: clip)
        var data = try Data(contentsOf: clip)
        if isTurned {
            let header = try #require(data.range(of: Data("tkhd".utf8))).upperBound
            let matrix: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0]
            data.replaceSubrange(header + 40..<header + 56, with: matrix)
            try data.write(to: clip)
        }
        let file = directory.url.appending(path: "sequence.heics")
        try Self.asSequence(data).write(to: file)
        let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile())
        #expect(rendered.probeResult.kind == .animation && rendered.probeResult.type == .heic)
        #expect(rendered.probeResult.frames == 9)
        #expect(rendered.probeResult.size == PixelSize(width: isTurned ? 96 : 128, height: isTurned ? 128 : 96))
        let judged = try PictureJudge.run(
            """
            image = Image.open(args[0])
            subprocess.run(['ffmpeg', '-v', 'error', '-i', args[1], '-fps_mode', 'passthrough', args[1] + '-%d.png'], check=True)
            say(image.n_frames)
            for n in range(image.n_frames):
                image.seek(n)
                image.load()
                likeness = psnr(rgb(image), rgb(Image.open(f'{args[1]}-{n + 1}.png')))
                say(image.info['duration'], likeness > 30 or likeness)
            """, [try rendered.path(.main), clip.path])
        #expect(judged == ["9"] + Array(repeating: "200 True", count: 9))
    }

    @Test func `frames that the file ends before are counted`() throws {
        let source = try sequence(frames: 7)
        // One keyframe, then frames in their order: the last is at the end.
        let file = directory.url.appending(path: "cut.avif")
        try Data(contentsOf: source).dropLast(1).write(to: file)
        let error = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.gif))
        #expect(error?.message.contains("1 of 7 frames is missing") == true)
        let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.gif, .salvage))
        #expect(salvaged.probeResult.frames == 6)
        #expect(salvaged.ending.losses.map(\.what) == ["1 of 7 frames"])
    }

    @Test func `a still beside its sequence tells of it, and a claim that can't be is none`() throws {
        let still = try Rendered.of(
            Repository.media.appending(path: "avif/sequence.avif"), in: directory.url, profile: Self.profile())
        #expect(still.probeResult.kind == .image)
        #expect(still.ending.losses.isEmpty)
        #expect(still.ending.omissions == [Finding(.leftOut, .animation, named: "a still")])
        var data = try Data(contentsOf: try sequence(frames: 3))
        let sizes = try #require(data.range(of: Data("stsz".utf8)))
        data.replaceSubrange(sizes.upperBound + 8..<sizes.upperBound + 12, with: [0x80, 0, 0, 1])
        let file = directory.url.appending(path: "claim.avif")
        try data.write(to: file)
        // libheif 1.19 takes not even the still then.
        if let refusal = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile()) {
            #expect(refusal.finding?.code == .malformed)
            return
        }
        let claimed = try Rendered.of(file, in: directory.url, profile: Self.profile())
        #expect(claimed.probeResult.kind == .image)
        #expect(claimed.ending.losses == [Finding(.announcesMore, .animation, of: 2_147_483_649)])
    }
}
