"""What cutting 10 s out of a minute costs: on keyframes beside a bare remux, between them beside encoding it all again."""

from .. import Failure
from ..commands import ffmpeg
from ..corpus.inputs import files
from ..figures import MILLISECONDS, Findings, mean, ratios
from ..judges.clips import facts

_COUNT, _SECONDS, _WIDTH = 6, 10, 1280
# On a keyframe, and 0.4 s after one: there is one in each second.
_ON_KEYFRAME, _BETWEEN = 20.0, 20.4


def measure(run):
    clips, output = files(run.inputs.clips(_COUNT)), run.workplace.scratch / "trimmed.mp4"

    def cut(program, method, start, *limit):
        """Milliseconds, means over the clips: of processors in all, and of looking at the source and cutting it alone."""
        lines = run.workplace.inner_lines([*program, start, _SECONDS, *limit, output, *clips], _COUNT)
        if any(line[0] != method for line in lines):
            raise Failure(f"{program[0]}: answered '{lines}', not '{method} …'")
        if abs((duration := facts(output)["duration"]) - _SECONDS) >= 0.3:
            raise Failure(f"{program[0]}: the part lasts {duration} s")
        return [mean([float(line[column]) for line in lines]) for column in (1, 2)]

    def encoded_by_ffmpeg(clip):
        """Milliseconds of processors, the start of the program included, with the settings of the codec."""
        coding = ["-c:v", "libx264", "-preset", "veryfast", "-crf", 23, "-c:a", "copy"]
        return 1000 * ffmpeg("-ss", _BETWEEN, "-t", _SECONDS, "-i", clip, *coding, output).cpu

    own, remux = [run.workplace.program("inner-bench"), "trim"], [run.workplace.program("remux")]
    copies, remuxes, smart, whole, encoded = [], [], [], [], []
    for _ in run.turns("trims"):
        copies.append(cut(own, "copy", _ON_KEYFRAME, _WIDTH))
        remuxes.append(cut(remux, "copy", _ON_KEYFRAME))
        smart.append(cut(own, "smart", _BETWEEN, _WIDTH)[0])
        # Two pixels less make it encode everything, by the same code and with the same settings.
        whole.append(cut(own, "encode", _BETWEEN, _WIDTH - 2)[0])
        encoded.append(mean([encoded_by_ffmpeg(clip) for clip in clips]))
    (copy_cpu, copying), (remux_cpu, remuxing) = zip(*copies), zip(*remuxes)
    add = (findings := Findings("trims")).add
    add(
        "copy_ratio", "A copy trim, looked at and cut: time in terms of a bare libavformat remux", ratios(copying, remuxing),
        at_most=1.3)
    add("copy_cpu_ratio", "— all CPU of it, with the frame that the placeholder is made of", ratios(copy_cpu, remux_cpu))
    add("copy", "— a copy trim of 10 s", copying, MILLISECONDS)
    add("remux", "— the remux", remuxing, MILLISECONDS)
    add("smart_ratio", "A smart trim: CPU in terms of encoding the part anew", ratios(smart, whole), at_most=1 / 3)
    add("smart", "— a smart trim of 10 s", smart, MILLISECONDS)
    add("encode", "— encoding it anew", whole, MILLISECONDS)
    add("smart_ffmpeg_ratio", "— in terms of ffmpeg encoding it anew", ratios(smart, encoded))
    return findings
