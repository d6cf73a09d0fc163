import Foundation
import TestSupport

@testable import SatchelCore
@testable import ClipCodecs
@testable import StillCodecs

/// Judges pictures with Pillow and NumPy, which decode, crop and scale by themselves.
enum PictureJudge {
    /// Runs a script of Python, for which `load(path)` gives RGBA as whole numbers, `rgb(image)` the three colours,
    /// `tracks(path)` the video streams that move, and `say(…)` a line of the answer.
    @discardableResult
    static func run(_ script: String, _ arguments: [String] = []) throws -> [String] {
        let text = try Tool.text("/usr/bin/python3", ["-c", prelude + script] + arguments)
        return text.split(separator: "\n").map(String.init)
    }

    private static let prelude = """
        import sys, io, os, math, subprocess
        os.environ['OPENBLAS_NUM_THREADS'] = '1'
        import numpy as np
        from PIL import Image, ImageOps, ImageCms
        Image.MAX_IMAGE_PIXELS = None
        args = sys.argv[1:]
        say = print
        def load(path): return np.asarray(Image.open(path).convert('RGBA')).astype(int)
        # In sRGB, whatever profile it has.
        def shown(path):
            image = Image.open(path); profile = image.info.get('icc_profile')
            if not profile: return load(path)
            image = image.convert('RGBA'); colours = ImageCms.profileToProfile(image.convert('RGB'), io.BytesIO(profile),
                ImageCms.createProfile('sRGB'), renderingIntent=1, flags=0x2000)
            colours.putalpha(image.getchannel('A')); return np.asarray(colours).astype(int)
        def rgb(image): return np.asarray(image.convert('RGB')).astype(np.float64)
        def lanczos(image, size, box=None):
            planes = np.asarray(image.convert('RGB')).astype(np.float32)
            return np.clip(np.stack([np.asarray(Image.fromarray(planes[:, :, c], 'F').resize(size, Image.LANCZOS, box))
                for c in range(3)], -1), 0, 255).astype(np.float64)
        TURNS = {2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE,
            6: Image.ROTATE_270, 7: Image.TRANSVERSE, 8: Image.ROTATE_90}
        def upright(image, orientation):
            return image.transpose(TURNS[orientation]) if orientation in TURNS else image
        # Streams of more than one picture: FFmpeg 7 also gives the still of a sequence, as the first.
        def tracks(file):
            told = subprocess.run(['ffprobe', '-v', 'error', '-select_streams', 'v', '-count_packets', '-show_entries',
                'stream=index,nb_read_packets', '-of', 'csv=p=0', file], check=True, capture_output=True, text=True).stdout
            return [int(index) for index, count in (line.split(',')[:2] for line in told.split()) if int(count) > 1]
        def psnr(a, b): return 10 * math.log10(255 ** 2 / max(np.mean((a - b) ** 2), 1e-9))

        """

    /// By how much two pictures differ, in 255ths; colours only where something is to be seen.
    struct Difference: CustomStringConvertible {
        var most: Double
        var mean: Double
        var alpha: Double

        var description: String { "at most \(most), on average \(mean), in alpha \(alpha)" }

        /// What no comparison can pass: the sizes differ.
        static let size = Difference(most: 999, mean: 999, alpha: 999)
    }

    /// Compares pictures pair by pair.
    static func differences(_ pairs: [(String, String)]) throws -> [Difference] {
        let lines = try run(
            """
            for a, b in zip(args[::2], args[1::2]):
                a, b = shown(a), load(b)
                if a.shape != b.shape:
                    say('size'); continue
                d = np.abs(a - b) * np.where(np.arange(4) == 3, 1, (b[..., 3] > 8)[..., None])
                say(d[..., :3].max(), d[..., :3].mean(), d[..., 3].max())
            """, pairs.flatMap { [$0.0, $0.1] })
        return lines.map { line in
            let values = line.split(separator: " ").compactMap { Double($0) }
            guard values.count == 3 else { return .size }
            return Difference(most: values[0], mean: values[1], alpha: values[2])
        }
    }

    static func difference(_ ours: String, _ other: String) throws -> Difference {
        try differences([(ours, other)]).first ?? .size
    }

    /// A profile whose renditions show every pixel as it came out: PNG, of a size of one's own.
    static func lossless(side: Int? = nil, fit: Fit = .inside) -> Profile {
        var profile = Profile.notification
        profile.name = "lossless"
        profile.thumbnail = nil
        profile.image = ImagePolicy(types: [.png], longestSide: side, fit: fit, aim: nil, cap: 100_000_000)
        return profile
    }
}
