"""What is made of 12 videos of a minute and 12 recordings of three, by whom, and what it costs."""

from dataclasses import replace

from ..contenders import peers
from ..contenders.contest import Contest
from ..contenders.tasks import INSPECT, POSTER, TRANSCODE, ClipTask
from ..corpus.inputs import paths
from ..figures import FLOOR, Findings, ratios
from ..judges import clips as judge

_FORMS = {"satchel-1000": "shared processes", "satchel-1": "a process each"}


def measure(run):
    findings = Findings("clips")
    films = [paths(run.inputs.films(group)) for group in (0, 1)]

    def contest(task, name, title, item, sources, others, measure="ffmpeg"):
        def look(contender, place):
            return judge.figures(task, [] if contender.role == FLOOR else sources[0], place)

        contenders = [task.contender(run, 1000), task.contender(run, 1), *others]
        comparison = Contest(
            run, name, title, item, sources[0], measure, contenders, sources[1], look_columns=judge.columns(task)).hold(look)
        findings.comparisons.append(comparison)
        return comparison

    def more_ratios(comparison, peer, name, title, at_least):
        """What a call of the peer costs, in terms of what one more costs Satchel."""
        for (form, words), start, target in zip(_FORMS.items(), (f"{title}, ", "— "), ({"at_least": at_least}, {})):
            more = ratios(comparison.samples(peer, "cpu"), comparison.samples(form, "cpu_more"))
            findings.add(f"{name}_{form}", start + words, more, **target)

    def copying(task):
        return [peers.ffmpeg(task), peers.pyav(run, task), peers.remux(run, task)]

    task = ClipTask.of("trim", "mp4")
    trims = contest(task, "trims-video", "10 s of a video of a minute, copied", "video", films, copying(task))
    more_ratios(trims, "ffmpeg", "trims_video", "10 s of a video, copied: CPU of ffmpeg, in terms of Satchel's", 4.5)
    for (form, words), at_least in zip(_FORMS.items(), (3, 2.4)):
        whole = ratios(trims.samples("ffmpeg", "cpu"), trims.samples(form, "cpu"))
        findings.add(f"trims_video_all_{form}", f"— all CPU of 12, {words}", whole, at_least=at_least)
    for kind in ("m4a", "mp3", "wav"):
        task, recordings = ClipTask.of("trim", kind), [paths(run.inputs.recordings(kind, group)) for group in (0, 1)]
        title = f"10 s of a recording of three minutes, {kind}, copied"
        copies = contest(task, f"trims-{kind}", title, "recording", recordings, copying(task))
        title = f"10 s of a recording, {kind}, copied: CPU of ffmpeg, in terms of Satchel's"
        more_ratios(copies, "ffmpeg", f"trims_{kind}", title, 7)
    posters = contest(
        POSTER, "posters", "A poster of 640 pixels of a video of a minute", "video", films,
        [peers.ffmpeg(POSTER), peers.ffmpeg_choosing(), peers.pyav(run, POSTER)])
    _posters(findings, posters, trims)
    looks = contest(
        INSPECT, "inspections", "A look at a video of a minute", "video", films, [peers.ffprobe(), peers.pyav(run, INSPECT)],
        "ffprobe")
    more_ratios(looks, "ffprobe", "inspections", "A look at a video: CPU of ffprobe, in terms of Satchel's", 3)
    # One takes longer than a hundred copies. What one more costs PyAV is known from the other tasks: next to nothing less.
    count = 6 if run.is_full else 2
    pyav = replace(peers.pyav(run, TRANSCODE), starts_once=run.is_full)
    transcodes = contest(
        TRANSCODE, "transcodes", "10 s of a video of a minute to 640 pixels, H.264", "video", [group[:count] for group in films],
        [peers.ffmpeg(TRANSCODE), pyav])
    for form, words in _FORMS.items():
        more = ratios(transcodes.samples(form, "cpu_more"), transcodes.samples("ffmpeg", "cpu"))
        title = f"10 s of a video to 640 pixels, {words}: CPU of one more in terms of ffmpeg's"
        findings.add(f"transcodes_{form}", title, more, at_most=1.05)
    return findings


def _posters(findings, posters, trims):
    """A batch makes the copied part as well; what the poster costs is what it costs more with it."""
    title = "A poster of 640 pixels beside a copy: CPU of ffmpeg, in terms of what Satchel takes more, shared processes"
    for name, words, peer, form, target in (
        ("satchel-1000", title, "ffmpeg", "satchel-1000", {"at_least": 2}),
        ("satchel-1", "— a process each", "ffmpeg", "satchel-1", {}),
        ("chosen", "— of ffmpeg where it too chooses among keyframes, shared processes", "ffmpeg-choosing", "satchel-1000", {}),
    ):
        both, copies = posters.samples(form, "cpu_more"), trims.samples(form, "cpu_more")
        costs = [max(0.1, one - copy) for one, copy in zip(both, copies)]
        findings.add(f"posters_{name}", words, ratios(posters.samples(peer, "cpu"), costs), **target)
