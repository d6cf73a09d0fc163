"""What is made of sources, under profiles of its own, and Satchel making it."""

import json
from collections import namedtuple
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from ..figures import OWN
from ..service import unlike
from .contest import Contender
from .services import served

Output = namedtuple("Output", "role type suffix side")  # of a source, of a profile: `side` is what the longest side has to be
_MEDIA_TYPES = {"jpg": "image/jpeg", "gif": "image/gif"}


@dataclass(frozen=True)
class Task:
    name: str
    profiles: str
    outputs: tuple  # the first is the main one

    def output(self, source, place, output=None):
        """Where a contender puts what it makes of a source."""
        return f"{place}/{Path(source).name}{(output or self.outputs[0]).suffix}"

    def all_outputs(self, sources, place):
        return [(source, self.output(source, place, output), output.side) for source in sources for output in self.outputs]

    def batch(self, run, sources, profile="standard", sources_per_process=1000):
        """Over the directories of the sources, of which those alone are taken that are named like one of them."""
        words = sorted({str(Path(source).parent) for source in sources})
        for name in sorted({Path(source).name for source in sources}) if self.name == "clips" else ():
            words += ["--include", name]
        return run.workplace.satchel(
            "batch", *words, "--profiles", run.workplace.profiles(self.name, self.profiles), "--profile", profile,
            "--sources-per-process", sources_per_process)

    def satchel(self, run, profile, sources_per_process, name=None, speed=None):
        """`satchel batch`, its start and its end included."""
        def make(sources, place, *more):
            return self.batch(run, sources, profile, sources_per_process).with_arguments(*more).run()

        def make_to_look(sources, place):
            usage = make(sources, place, "--output", place)
            for source in sources:
                for output in self.outputs:
                    made = Path(f"{place}/{Path(source).name}.{output.role}.{output.type}")
                    made.rename(self.output(source, place, output))
            return usage

        name = name or f"satchel-{profile}-{sources_per_process}"
        return Contender(name, title(speed, sources_per_process), OWN, make, make_to_look=make_to_look, starts_once=True)

    def over_http(self, run, service, profile):
        """A running `satchel serve`, to which a client for each processor uploads the sources as raw bodies of jobs. Its start
        isn't counted."""
        def submit(sources, place=None):
            # No two submissions may be alike, in this round or another.
            bodies = [unlike(Path(source).read_bytes(), index) for index, source in enumerate(sources)]

            def client(left):
                connection = service.connect()
                for source, body in left:
                    answer = service.deliver(connection, body, f"profile={profile}")
                    renditions = json.loads(answer.body)["attachments"][0]["renditions"] if place else {}
                    for output in self.outputs if place else ():
                        content = connection.get(urlsplit(renditions[output.role]["url"]).path)
                        Path(self.output(source, place, output)).write_bytes(content)

            return served(service.process, client, zip(sources, bodies))

        return Contender(
            f"satchel-http-{profile}", f"Satchel, {profile}, over HTTP", OWN, lambda sources, place: submit(sources),
            make_to_look=submit, services=[service.process])

    def refusals(self, run, sources):
        """Why not all that is measured is made of some sources, whose names are all different, by path."""
        _, lines = report(self.batch(run, sources), run.workplace)
        wanted = {output.role: _MEDIA_TYPES[output.type] for output in self.outputs}
        reasons = {Path(line["path"]).name: refusal(line, wanted) for line in lines}
        return {source: reason for source in sources if (reason := reasons.get(Path(source).name))}


def title(speed, sources_per_process):
    form = "a process each" if sources_per_process == 1 else "shared processes"
    return f"Satchel, {speed}, {form}" if speed else f"Satchel, {form}"


def report(batch, workplace):
    """Runs a batch, whether all is delivered or not; its usage, and what it says of each file in its own report."""
    file = workplace.unique("report")
    # 1: some were not delivered.
    usage = replace(batch, accepted=(0, 1)).with_arguments("--report", file).run()
    return usage, [json.loads(line) for line in file.read_text().splitlines()]


def refusal(line, wanted):
    """Why not all is there that is wanted, media types by role; None where it is."""
    if line["state"] != "delivered":
        error = line.get("error")
        return "Satchel doesn't deliver it: " + (f"{error['code']}: {error['message']}" if error else line["state"])
    others = [role for role, kind in sorted(wanted.items()) if line["renditions"].get(role, {}).get("media_type") != kind]
    return f"Satchel makes another {' and '.join(others)} of it" if others else None


# MARK: Photographs: JPEGs in two sizes, upright, without metadata

SIZES, QUALITY = (1024, 300), 80
STILLS = Task("stills", f"""
  standard:
    deadline: null
    thumbnail: {{side: {SIZES[1]}, fit: inside, cap: 10000000, quality: {QUALITY}}}
    image:
      types: [image/jpeg]
      longest_side: {SIZES[0]}
      aim: null
      cap: 20000000
      quality: {QUALITY}
      minimum_quality: {QUALITY}
  fast:
    based_on: standard
    speed: fast
  best:
    based_on: standard
    speed: best
""", tuple(Output(role, "jpg", f"-{size}.jpg", size) for role, size in zip(("main", "thumbnail"), SIZES)))

# MARK: GIFs, under profiles that make nothing but the animation

SIDE = 320
ANIMATIONS = Task("animations", f"""
  standard:
    animation: {{type: image/gif, longest_side: {SIDE}, cap: 50000000}}
  best:
    based_on: standard
    speed: best
""", (Output("main", "gif", "", SIDE),))

# MARK: Clips: a part from the beginning, copied, looked at or encoded

SECONDS = 10
_LIMITS = f"cap: 1000000000, aim: null, maximum_duration: {SECONDS}, when_longer: trim"
_CLIP_PROFILES = f"""
  trim:
    deadline: null
    thumbnail: null
    video: {{{_LIMITS}, poster: null}}
    audio: {{{_LIMITS}, types: [audio/mp4, audio/mpeg, audio/wav], waveform: null}}
  poster:
    based_on: trim
    video: {{{_LIMITS}, poster: {{longest_side: 640, quality: 80, cap: 10000000}}}}
  transcode:
    based_on: trim
    video: {{{_LIMITS}, poster: null, longest_side: 640, rate_factor: 23}}
"""


@dataclass(frozen=True)
class ClipTask(Task):
    profile: str = "trim"  # also for `clips.py`

    @classmethod
    def of(cls, profile, kind, side=None):
        """`kind` is what comes out, None where nothing does; `side` that of the picture, None where it stays as it is."""
        role = "poster" if profile == "poster" else "main"
        return cls("clips", _CLIP_PROFILES, (Output(role, kind, f".{profile}.{kind or 'txt'}", side),), profile)

    @property
    def type(self):
        return self.outputs[0].type

    @property
    def side(self):
        return self.outputs[0].side or 0

    def contender(self, run, sources_per_process):
        """A placeholder is made of every clip, and everything is hashed, synced and recorded."""
        if self.type:
            return self.satchel(run, self.profile, sources_per_process, f"satchel-{sources_per_process}")

        def inspect(sources, place):
            """`satchel inspect` of all in one call, with all that it tells, what would be made as well."""
            command = run.workplace.satchel(
                "inspect", "--format", "jsonl", "--profiles", run.workplace.profiles(self.name, self.profiles), "--profile", "trim",
                "--sources-per-process", sources_per_process, *sources)
            answers = place / "answers"
            with open(answers, "wb") as output:
                usage = command.run(output)
            for source, line in zip(sources, answers.read_text().splitlines()):
                Path(self.output(source, place)).write_text(line)
            return usage

        return Contender(f"satchel-{sources_per_process}", title(None, sources_per_process), OWN, inspect, starts_once=True)


POSTER, TRANSCODE, INSPECT = (
    ClipTask.of("poster", "jpg", 640), ClipTask.of("transcode", "mp4", 640), ClipTask.of("inspect", None))
