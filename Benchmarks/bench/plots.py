"""Draws plots as SVG: on white, as wide as a page shows them, each line and bar with its label beside it."""

import math

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .figures import FLOOR, OWN, PEER, median, numbers

matplotlib.rcParams.update({
    # Text stays text. Who hasn't this font, which matplotlib brings, sees a narrower one.
    "svg.fonttype": "none", "svg.hashsalt": "bench", "font.family": "DejaVu Sans", "font.size": 10,
})

_COLOURS = {OWN: "#c8501e", PEER: "#5b87bd", FLOOR: "#8a9a5b"}
# Of lines, told apart also by those who see few colours; Satchel's own first.
_OWN_COLOURS = ["#c8501e", "#e69a28", "#8f2d56", "#d98e73", "#6b4c9a", "#2f7f79", "#3d6fb6", "#8a8f2a", "#b85c9e", "#4a4a4a", "#74a892"]
_PEER_COLOURS = ["#3d6fb6", "#2f9e8f", "#8f79c4", "#5f6a78"]
_INK, _FAINT = "#333333", "#dddddd"
_WIDTH = 8.4  # inches of 96 pixels


def label(value):
    """As short as it can be said: 0.5, 20, 3,000, 10⁶ as 1M."""
    for limit, unit in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1e6 if unit == 'M' else 1e3):.3g}{unit}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def draw(plot, file):
    figure = _bars(plot) if plot.bars else _lines(plot)
    figure.savefig(file, metadata={"Date": None}, facecolor="white")


def _axes(figure, plot):
    axes = figure.add_subplot()
    figure.suptitle(plot.title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=_INK)
    axes.set_xlabel(plot.x.label, color=_INK)
    axes.tick_params(length=0, colors=_INK)
    axes.spines[:].set_visible(False)
    axes.set_axisbelow(True)
    return axes


def _scale(axis, is_logarithmic):
    if is_logarithmic:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if _decades(axis) < 2.5 else (1,)))
        axis.set_minor_formatter(NullFormatter())
        axis.set_tick_params(which="minor", length=0)
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))


def _decades(axis):
    least, most = axis.get_data_interval()
    return math.log10(most / least) if least > 0 else 9


def _bars(plot):
    """One beneath the other, each with its value; a thin line is the spread."""
    figure = Figure((_WIDTH, 1.0 + 0.27 * len(plot.bars)), layout="constrained")
    axes = _axes(figure, plot)
    values = [median(bar.samples) for bar in plot.bars]
    # Where bars begin on a logarithmic axis says nothing: a whole power of ten.
    start = 10 ** math.floor(math.log10(min(values) * 0.7)) if plot.x.is_logarithmic else 0
    for place, (bar, value) in enumerate(zip(plot.bars, values)):
        known = numbers(bar.samples)
        axes.barh(place, value - start, 0.68, start, color=_COLOURS[bar.role])
        if max(known) > min(known):
            axes.plot([min(known), max(known)], [place, place], color=_INK, linewidth=1.2, solid_capstyle="butt")
        axes.annotate(
            label(value), (max(*known, value), place), (5, 0), textcoords="offset points", va="center", color=_INK, fontsize=9)
    axes.set_yticks(range(len(plot.bars)), [bar.label for bar in plot.bars])
    for text, bar in zip(axes.get_yticklabels(), plot.bars):
        text.set_fontweight("bold" if bar.role == OWN else "normal")
    axes.invert_yaxis()
    axes.margins(y=0.01)
    _scale(axes.xaxis, plot.x.is_logarithmic)
    most = max(max(numbers(bar.samples)) for bar in plot.bars)
    axes.set_xlim(start, most * (most / start) ** 0.08 if plot.x.is_logarithmic else most * 1.08)
    axes.grid(axis="x", color=_FAINT, linewidth=0.8)
    return figure


def _lines(plot):
    figure = Figure((_WIDTH, 4.4), layout="constrained")
    axes = _axes(figure, plot)
    axes.set_ylabel(plot.y.label, color=_INK)
    colours = {OWN: iter(_OWN_COLOURS), PEER: iter(_PEER_COLOURS), FLOOR: iter([_COLOURS[FLOOR]])}
    ends = []
    for line in plot.lines:
        points = sorted(point for point in line.points if len(numbers(point)) == 2)
        if points:
            colour = next(colours[line.role], _INK)
            axes.plot(*zip(*points), "o-", color=colour, markersize=4, linewidth=2 if line.role == OWN else 1.5)
            ends.append((*points[-1], line, colour))
    _scale(axes.xaxis, plot.x.is_logarithmic)
    _scale(axes.yaxis, plot.y.is_logarithmic)
    if not plot.y.is_logarithmic:
        axes.set_ylim(bottom=0)
    axes.grid(color=_FAINT, linewidth=0.8)
    _label_ends(figure, axes, ends)
    return figure


def _label_ends(figure, axes, ends):
    """Each line's label right of its last point, moved where labels would lie on each other."""
    longest = max((len(line.label) for *_, line, _ in ends), default=0)
    figure.get_layout_engine().set(rect=(0, 0, 1 - 0.04 - 0.0095 * longest, 1))
    figure.draw_without_rendering()
    to_axes = (axes.transData - axes.transAxes).transform
    places = sorted(((to_axes((x, y))[1], x, y, line, colour) for x, y, line, colour in ends), key=lambda place: place[0])
    step = 13 / 72 * figure.dpi / axes.bbox.height
    heights = [place[0] for place in places]
    for _ in range(200):
        for index in range(len(heights) - 1):
            overlap = max(0, step - (heights[index + 1] - heights[index]))
            heights[index] -= overlap / 2
            heights[index + 1] += overlap / 2
    for height, (_, x, y, line, colour) in zip(heights, places):
        axes.annotate(
            line.label, (x, y), (1.03, height), textcoords=axes.transAxes, va="center", color=colour, fontsize=9,
            fontweight="bold" if line.role == OWN else "normal", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3}).set_in_layout(False)
