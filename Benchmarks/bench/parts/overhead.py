"""What there is beside pixels: the start of a batch, what each picture takes, and a service that has nothing to do."""

import time

from ..commands import Command
from ..figures import MEGABYTES, MILLISECONDS, Findings, median, ratios
from ..processes import proportional
from ..service import Service

_FEW, _MANY = 500, 2000
# Of which the median counts: one is over soon, and short ones vary.
_STARTS = 15
# Seconds until a service has given back what its start took.
_REST = 20
_FORMS = {"shared": 1000, "alone": 1}


def measure(run):
    findings = Findings("overhead")
    _pictures(run, findings)
    _rest(run, findings)
    return findings


def _pictures(run, findings):
    """Of 64 × 64, by the slope between few and many, in which no start is."""
    one, few, many = (run.inputs.tiny_pictures(count) for count in (1, _FEW, _MANY))
    starts, calls, slopes = [], [], {form: [] for form in _FORMS}

    def cpu(sources, form):
        return run.workplace.satchel("batch", sources, "--sources-per-process", _FORMS[form]).run().cpu * 1000

    for _ in run.turns("what is beside pixels", most=3):
        both = [(cpu(one, "shared"), Command(["vipsthumbnail", "--vips-version"]).run().cpu * 1000) for _ in range(_STARTS)]
        for samples, found in zip((starts, calls), zip(*both)):
            samples.append(median(found))
        for form in _FORMS:
            slopes[form].append((cpu(many, form) - cpu(few, form)) / (_MANY - _FEW))
        run.workplace.clear()
    findings.add("start", "A batch of one picture of 64 × 64, nearly all of it the start: CPU", starts, MILLISECONDS)
    findings.add("start_ratio", "— in terms of `vipsthumbnail --vips-version`", ratios(starts, calls))
    title = f"One picture of 64 × 64 more, from {_FEW} to {_MANY}: CPU, shared processes"
    findings.add("source", title, slopes["shared"], MILLISECONDS)
    over = [alone - shared for alone, shared in zip(slopes["alone"], slopes["shared"])]
    findings.add("process", "— what a process of its own adds", over, MILLISECONDS, at_most=4.5)


def _rest(run, findings):
    service_alone, together = [], []
    for _ in run.turns("a service at rest", most=3):
        with Service(run.workplace) as service:
            time.sleep(_REST)
            own, all_of_it = proportional(service.process)
            service_alone.append(own / 1e6)
            together.append(all_of_it / 1e6)
        run.workplace.clear()
    findings.add("rest_service", "A service at rest: the process by itself (Pss)", service_alone, MEGABYTES, at_most=20)
    findings.add("rest", "— with all its codecs", together, MEGABYTES, at_most=60)
