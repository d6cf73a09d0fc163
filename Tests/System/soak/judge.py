"""Judges a soak by what was noted, and knows nothing else.

Whether something is flat: of each life of the service (a kill begins a new one), what it held in the last third is compared with the
first, after a warm-up. Of each third the lower quartile counts: what work underway takes comes and goes, what a fault does for a
minute isn't growth, and what stays after either raises the least that is held as well. The growth of a life is that difference over
two thirds of its time, carried on over all of it, and lives are added up, so that a kill hides no leak."""
import collections
import statistics

from history.checker import delivered_once, ends_stay, jobs_end, one_key_one_job, reads_are_whole

# What is looked at, its unit, how much it may grow over the whole soak, and whether a life of the service begins it anew.
Held = collections.namedtuple("Held", "name title unit growth is_of_life")
HELD = [
    Held("service", "Memory that the service allocated", "MB", 8, True),
    Held("memory", "Memory of all processes", "MB", 30, True),
    Held("descriptors", "Descriptors of the service", "", 16, True),
    Held("processes", "Processes", "", 4, True),
    Held("files", "Files that no record names", "", 12, False),
]
# Of a life, what isn't looked at: connections and threads are made on first use, and what is remembered for others (2,000 results, the
# events of 500 jobs that ended) is as much as it may be after some 3,000 jobs.
WARM_UP = 1 / 3
# Fewer samples in a third say nothing.
LEAST = 5
RULES = {
    "each acknowledged job came to its end": jobs_end,
    "no end was taken back": ends_stay,
    "each generation ended once, under the claim that held it": delivered_once,
    "each key came to one job": one_key_one_job,
    "what was read had its hash": reads_are_whole,
}


def growth(points):
    """Of one life, as pairs of time and value in their order; None where it is too short to tell."""
    if not points:
        return None
    begin, end = points[0][0], points[-1][0]
    warm = [point for point in points if point[0] >= begin + WARM_UP * (end - begin)]
    third = len(warm) // 3
    if third < LEAST:
        return None
    first, last = (statistics.quantiles((value for _, value in part), n=4)[0] for part in (warm[:third], warm[-third:]))
    return (last - first) * 1.5


def lives(samples, held):
    found = collections.defaultdict(list)
    for sample in samples:
        found[sample["life"] if held.is_of_life else 0].append((sample["at"], sample[held.name]))
    return list(found.values())


class Verdict:
    def __init__(self, history, samples, end):
        """`end` is what was found when all was over: a list of what is wrong."""
        self.history, self.samples, self.end = history, samples, end
        self.growths = {}
        for held in HELD:
            known = [found for life in lives(samples, held) if (found := growth(life)) is not None]
            self.growths[held.name] = sum(known) if known else None
        self.rules = {name: rule(history) for name, rule in RULES.items()}

    @property
    def growing(self):
        """What isn't flat, and what was looked at too shortly to say that it is."""
        return [held.name for held in HELD if self.growths[held.name] is None or self.growths[held.name] > held.growth]

    @property
    def errors(self):
        """Answers that no fault excuses."""
        return [call for call in self.history.calls if call["status"] == 500]

    @property
    def is_sound(self):
        return not (self.growing or self.errors or self.end or any(wrong for _, wrong in self.rules.values()))

    def lines(self, most=6):
        calls = self.history.calls
        answers = collections.Counter("no answer" if call["status"] is None else str(call["status"]) for call in calls)
        span = (max(call["end"] for call in calls) - min(call["start"] for call in calls)) if calls else 0
        yield f"{len(calls)} calls in {span / 60:.0f} minutes: " + ", ".join(f"{n} {name}" for name, n in sorted(answers.items())) + "."
        faults = collections.Counter(fault["what"] for fault in self.history.faults)
        yield f"{len(self.history.faults)} faults: " + ", ".join(f"{name} {count}" for name, count in faults.items()) + "."
        states = collections.Counter(row["state"] for row in self.history.tables["witness"] if row["what"] == "ended")
        yield f"{sum(states.values())} ends: " + ", ".join(f"{count} {name}" for name, count in sorted(states.items())) + "."
        for held in HELD:
            found, unit = self.growths[held.name], f" {held.unit}" if held.unit else ""
            values = [sample[held.name] for sample in self.samples]
            level = f"{statistics.median(values):.0f}{unit} in the middle, {max(values):.0f} at most" if values else "never seen"
            told = "too short to tell" if found is None else f"{found:+.1f}{unit} over all of it, of {held.growth} that it may"
            yield f"  {'WRONG' if held.name in self.growing else 'flat '}  {held.title}: {level}; {told}"
        for name, (cases, wrong) in self.rules.items():
            yield f"  {'WRONG' if wrong else 'holds'}  {name}: {cases}" + (f", {len(wrong)} wrong" if wrong else "")
            for one in wrong[:most]:
                yield f"           {one}"
        yield f"  {'WRONG' if self.errors else 'holds'}  no answer was a 500: {len(calls)}"
        for call in self.errors[:most]:
            yield f"           {call['op']} at {call['start']:.1f}: {call.get('code')}"
        yield f"  {'WRONG' if self.end else 'holds'}  nothing was left when all was over"
        for one in self.end[:most]:
            yield f"           {one}"
