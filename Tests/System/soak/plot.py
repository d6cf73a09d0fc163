"""Draws a soak as SVG: a panel for each thing that is held, and one for what was done, with a line where something broke."""
import html

from soak.judge import HELD

WIDTH, LEFT, RIGHT, TOP, PANEL, GAP = 806, 62, 14, 34, 78, 30
INK, FAINT, OWN = "#333333", "#dddddd", "#c8501e"
COLOURS = ["#3d6fb6", "#2f9e8f", "#8f79c4", "#5f6a78", "#8a8f2a"]
# Seconds over which what ended is counted.
STEP = 15


def nice(most):
    """The least of 1, 2, 5, 10, … that isn't below."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= most:
                return step * factor
        step *= 10


def draw(samples, faults, ends, title):
    """`ends` is when each job ended; all times are those of one clock."""
    begin, end = samples[0]["at"], samples[-1]["at"]
    panels = [
        (held.title + (f", {held.unit}" if held.unit else ""), [
            [(one["at"], one[held.name]) for one in samples if one["life"] == life] for life in sorted({one["life"] for one in samples})])
        for held in HELD]
    steps = [0] * (int((end - begin) / STEP) + 1)
    for at in ends:
        if begin <= at <= end:
            steps[int((at - begin) / STEP)] += 1
    panels.append(("Jobs that ended, per second", [[(begin + (n + 0.5) * STEP, count / STEP) for n, count in enumerate(steps[:-1])]]))
    kinds = list(dict.fromkeys(fault["what"] for fault in faults))
    height = TOP + len(panels) * (PANEL + GAP) + 26 + 18 * ((len(kinds) + 2) // 3)

    def x(at):
        return LEFT + (at - begin) / (end - begin) * (WIDTH - LEFT - RIGHT)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        f' font-family="DejaVu Sans, sans-serif" font-size="11" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="20" font-size="14" font-weight="bold">{html.escape(title)}</text>']

    def text(at, y, words, anchor="start", colour=INK):
        lines.append(f'<text x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{html.escape(words)}</text>')

    def rule(x1, y1, x2, y2, colour, width=1.0, dashes=""):
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"'
            + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")

    for number, (label, series) in enumerate(panels):
        bottom = TOP + number * (PANEL + GAP) + GAP - 8 + PANEL
        most = nice(max((value for line in series for _, value in line), default=1) or 1)
        text(LEFT, bottom - PANEL - 5, label)
        for part in (0, 0.5, 1):
            y = bottom - part * PANEL
            rule(LEFT, y, WIDTH - RIGHT, y, FAINT)
            text(LEFT - 6, y + 4, f"{most * part:g}", "end")
        for fault in faults:
            colour = COLOURS[kinds.index(fault["what"]) % len(COLOURS)]
            lines.append(
                f'<rect x="{x(fault["start"]):.1f}" y="{bottom - PANEL}" width="{max(1.0, x(fault["end"]) - x(fault["start"])):.1f}"'
                f' height="{PANEL}" fill="{colour}" fill-opacity="0.35"/>')
        for line in series:
            if line:
                points = " ".join(f"{x(at):.1f},{bottom - value / most * PANEL:.1f}" for at, value in line)
                lines.append(f'<polyline points="{points}" fill="none" stroke="{OWN}" stroke-width="1.3" stroke-linejoin="round"/>')
    bottom = TOP + len(panels) * (PANEL + GAP) - 8 + 14
    minutes = (end - begin) / 60
    step = nice(minutes / 10)
    for number in range(int(minutes / step) + 1):
        text(x(begin + number * step * 60), bottom, f"{number * step} min" if number == 0 else f"{number * step}", "middle")
    for number, kind in enumerate(kinds):
        at, y = LEFT + number % 3 * 240, bottom + 20 + 18 * (number // 3)
        lines.append(f'<rect x="{at}" y="{y - 9}" width="10" height="10" fill="{COLOURS[number % len(COLOURS)]}" fill-opacity="0.5"/>')
        text(at + 16, y, kind)
    return "\n".join([*lines, "</svg>"]) + "\n"
