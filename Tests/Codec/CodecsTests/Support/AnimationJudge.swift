import Foundation
import Testing

/// Compares animations frame by frame, as Pillow composes and scales them.
struct AnimationJudge: Decodable {
    var frames: Int
    var expectedFrames: Int
    var width: Int
    var height: Int
    /// Milliseconds of each frame, with what browsers make of 0 and 1 hundredths.
    var delays: [Int]
    var expectedDelays: [Int]
    /// Of the worst frame against the source, scaled by Lanczos 3; 99 where they are equal.
    var likeness: Double
    var meanLikeness: Double
    /// Pixels whose transparency is plainly another.
    var wrongAlpha: Int
    /// The least and the most of each channel where pixels are opaque.
    var least: [Int]
    var most: [Int]

    static func compare(_ output: String, with source: URL, crop: [Int] = []) throws -> AnimationJudge {
        let text = try Tool.run(
            "/usr/bin/python3", ["-c", script, source.path, output] + crop.map(String.init))
        return try JSONDecoder().decode(AnimationJudge.self, from: text)
    }

    /// What a script says, a line each, for which `frames(path)` gives every frame with its delay, and `scaled(frame, size)`
    /// one as small as it is wanted.
    static func run(_ script: String, _ arguments: [String]) throws -> [String] {
        let text = try Tool.text("/usr/bin/python3", ["-c", prelude + script] + arguments)
        return text.split(separator: "\n").map(String.init)
    }

    private static let prelude = """
        import sys, json, subprocess
        import numpy
        from PIL import Image, ImageSequence
        def coalesced(path, image):
            # Pillow shows the colour of the transparent index, opaque, where a GIF's frame was cleared away.
            pixels = subprocess.run(["convert", path, "-coalesce", "-depth", "8", "rgba:-"], check=True,
                stdout=subprocess.PIPE).stdout
            return numpy.frombuffer(pixels, numpy.uint8).reshape(-1, image.height, image.width, 4)
        def frames(path):
            image = Image.open(path)
            composed = coalesced(path, image) if image.format == "GIF" else None
            for index in range(getattr(image, "n_frames", 1)):
                image.seek(index)
                frame = image.convert("RGBA") if composed is None else Image.fromarray(composed[index])
                # The picture that an APNG shows where it can't move is no frame.
                if index == 0 and image.info.get("default_image"): continue
                delay = image.info.get("duration", 0)
                yield frame, 100 if delay <= 10 else round(delay)
        def scaled(frame, size):
            # Every channel by itself, with colours multiplied by alpha, and nothing cut off in between.
            values = numpy.asarray(frame).astype(numpy.float32)
            values[..., :3] *= values[..., 3:] / 255
            planes = [numpy.asarray(Image.fromarray(values[..., c]).resize(size, Image.LANCZOS)) for c in range(4)]
            alpha = numpy.where(abs(planes[3]) < 0.5, 255, planes[3])
            planes[:3] = [plane * 255 / alpha for plane in planes[:3]]
            return numpy.clip(numpy.rint(numpy.stack(planes, axis=-1)), 0, 255).astype(int)

        """

    private static let script =
        prelude + """
            crop = [int(value) for value in sys.argv[3:]]
            found = [(numpy.asarray(f).astype(int), d) for f, d in frames(sys.argv[2])]
            height, width = found[0][0].shape[:2]
            result = dict(frames=len(found), width=width, height=height, delays=[d for _, d in found],
                expectedDelays=[], wrongAlpha=0, least=[255] * 3, most=[0] * 3)
            likeness = []
            for index, (frame, delay) in enumerate(frames(sys.argv[1])):
                result["expectedDelays"].append(delay)
                if index >= len(found): continue
                if crop: frame = frame.crop(crop)
                same = frame.size == (width, height)
                wanted = numpy.asarray(frame).astype(int) if same else scaled(frame, (width, height))
                shown = found[index][0]
                clear = (wanted[..., 3] < 112) & (shown[..., 3] >= 128) | (wanted[..., 3] > 144) & (shown[..., 3] < 128)
                result["wrongAlpha"] += int(clear.sum())
                both = (wanted[..., 3] >= 250) & (shown[..., 3] >= 250)
                solid = shown[..., 3] >= 250
                if solid.any():
                    result["least"] = numpy.minimum(result["least"], shown[solid][:, :3].min(axis=0)).tolist()
                    result["most"] = numpy.maximum(result["most"], shown[solid][:, :3].max(axis=0)).tolist()
                error = ((wanted - shown)[both][:, :3] ** 2).mean() if both.any() else 0
                likeness.append(99 if error == 0 else 10 * numpy.log10(65025 / error))
            result.update(expectedFrames=len(result["expectedDelays"]), likeness=float(min(likeness)),
                meanLikeness=float(sum(likeness) / len(likeness)))
            print(json.dumps(result))
            """
}
