"""What do the figures look like? Static SVG from counts and pseudonyms; never text of a log, no script, no date.

The same rows give the same bytes. Ink takes the colour of the page, so that one picture serves light and dark.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensics.report.steps import IncidentStep

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that matplotlib writes and the page then replaces by its own.
_INK, _ACCENT, _MUTED, _SOFT, _PAPER = "#010203", "#010204", "#010205", "#010206", "#010207"
_PAGE = {
    _INK: "currentColor",
    _ACCENT: "var(--accent)",
    _MUTED: "var(--muted)",
    _SOFT: "var(--soft)",
    _PAPER: "var(--paper)",
}
_MATRIX = 20
# What an SVG of anybody's begins with, and the style that the plotting library gives each.
_HEAD = (
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
    'xmlns="http://www.w3.org/2000/svg" version="1.1"',
    '<style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>',
)
_DARK = 0.7  # share of the accent from which on a number in it takes the colour of the page


def words_of_pictures() -> tuple[str, ...]:
    """What stands in the figures and is nobody's."""
    return _HEAD


@dataclass(frozen=True)
class Bucket:
    """One step of time."""

    label: str
    responses: int
    affected: int
    possible: int
    examined: int = 0
    low: float | None = None  # limits of the share of affected ones among the examined, 0..1
    high: float | None = None


@dataclass(frozen=True)
class Pair:
    """Source to recipient, by pseudonym."""

    source: str
    recipient: str
    fragments: int


@dataclass(frozen=True)
class Step:
    """One class of lengths."""

    label: str
    strong: int
    weak: int


@dataclass(frozen=True)
class Bar:
    """One stay: `lane` counts from 0 at the top, times in seconds from the beginning of the picture."""

    lane: int
    start: float
    end: float
    role: str  # source | recipient | affected | other


@dataclass(frozen=True)
class Lanes:
    """The slots around one leak. `labels`: one per lane, of pseudonyms and slot numbers."""

    labels: tuple[str, ...]
    bars: tuple[Bar, ...]


def slot_lanes(lanes: Lanes, name: str) -> Markup:
    """Who was in which slot around one leak, with an arrow from source to recipient. `name` is unique on the page."""
    figure = _figure(1.0 + 0.24 * max(1, len(lanes.labels)))
    axes = figure.subplots()
    colours = {"source": _MUTED, "recipient": _ACCENT, "affected": _ACCENT, "other": _SOFT}
    shades = {"affected": 0.45}
    for bar in lanes.bars:
        axes.barh(
            bar.lane,
            bar.end - bar.start,
            left=bar.start,
            height=0.7,
            color=colours[bar.role],
            alpha=shades.get(bar.role, 1.0),
            edgecolor=_INK,
            linewidth=0.4,
        )
    ends = {role: [bar for bar in lanes.bars if bar.role == role] for role in ("source", "recipient")}
    if ends["source"] and ends["recipient"]:
        source, recipient = ends["source"][-1], ends["recipient"][-1]
        arrow = {"arrowstyle": "->", "color": _INK, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        head = (max(recipient.start, min(source.end, recipient.end)), recipient.lane)
        axes.annotate("", xy=head, xytext=(min(source.end, head[0]), source.lane), arrowprops=arrow)
        for role, bar in (("source", source), ("recipient", recipient)):
            axes.text((bar.start + bar.end) / 2, bar.lane, role, ha="center", va="center", fontsize=7, color=_PAPER)
    axes.set_yticks(range(len(lanes.labels)), lanes.labels, fontsize=7)
    axes.set_ylim(max(1, len(lanes.labels)) - 0.5, -0.5)
    axes.set_xlabel("seconds")
    _plain(axes)
    return _svg(figure, name, "Slots of a worker around one leak, with an arrow from the source to the recipient")


def affected_over_time(buckets: Sequence[Bucket]) -> Markup:
    """Share of affected responses with its interval above, affected and possible ones in the middle, all below."""
    figure = _figure(5.4)
    share, upper, lower = figure.subplots(3, 1, sharex=True, height_ratios=(2.2, 1.6, 1))
    places = range(len(buckets))
    for place, bucket in enumerate(buckets):
        if bucket.low is None or bucket.high is None or not bucket.examined:
            continue
        share.plot((place, place), (100 * bucket.low, 100 * bucket.high), color=_MUTED, linewidth=1.4)
        share.plot(place, 100 * bucket.affected / bucket.examined, "o", color=_ACCENT, markersize=4)
    share.set_ylim(bottom=0)
    share.set_ylabel("% affected")
    affected = [bucket.affected for bucket in buckets]
    upper.bar(places, affected, width=0.9, color=_ACCENT, label="probable or better")
    upper.bar(places, [b.possible for b in buckets], width=0.9, bottom=affected, color=_MUTED, label="weaker")
    lower.bar(places, [bucket.responses for bucket in buckets], width=0.9, color=_SOFT)
    upper.set_ylabel("affected")
    lower.set_ylabel("all")
    _legend(upper)
    step = max(1, -(-len(buckets) // 5))
    lower.set_xticks(list(places)[::step], [bucket.label.replace(" ", "\n") for bucket in buckets[::step]])
    for axes in (share, upper, lower):
        _plain(axes)
    for axes in (upper, lower):
        _whole_numbers(axes)
    return _svg(
        figure,
        "time",
        "Share of responses with foreign text over time with its interval, above their number and all responses",
    )


def incident(steps: Sequence[IncidentStep]) -> Markup | None:
    """The known steps on an axis of minutes from the first of them, with the intervals of what is estimated."""
    known = [step for step in steps if step.at is not None]
    if len(known) < 2:
        return None
    origin = min(step.at for step in known if step.at is not None)
    figure = _figure(0.8 + 0.3 * len(known))
    axes = figure.subplots()
    for lane, step in enumerate(known):
        if step.low is not None and step.high is not None:
            ends = ((step.low - origin) / 6e7, (step.high - origin) / 6e7)
            axes.plot(ends, (lane, lane), color=_MUTED, linewidth=3)
        sign = "o" if step.status == "known" else "D"
        axes.plot(((step.at or 0) - origin) / 6e7, lane, sign, color=_ACCENT, markersize=6)
    axes.set_yticks(range(len(known)), [step.name for step in known], fontsize=8)
    axes.set_ylim(len(known) - 0.5, -0.5)
    axes.set_xlabel(f"minutes from {known[0].name}" if known[0].at == origin else "minutes from the first of them")
    axes.grid(axis="x", color=_SOFT, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    _plain(axes)
    return _svg(
        figure, "steps", "The known steps of the incident over time, with intervals of those that are estimated"
    )


def who_to_whom(pairs: Sequence[Pair]) -> Markup:
    """Fragments from each source (row) to each recipient (column); the busiest tenants, the rest together."""
    sources = _busiest([(pair.source, pair.fragments) for pair in pairs])
    recipients = _busiest([(pair.recipient, pair.fragments) for pair in pairs])
    counts: dict[tuple[str, str], int] = {}
    for pair in pairs:
        cell = (
            pair.source if pair.source in sources else _REST,
            pair.recipient if pair.recipient in recipients else _REST,
        )
        counts[cell] = counts.get(cell, 0) + pair.fragments
    figure = _figure(1.4 + 0.26 * max(1, len(sources)))
    axes = figure.subplots()
    most = max(counts.values(), default=1)
    from matplotlib.patches import Rectangle

    for (source, recipient), fragments in sorted(counts.items()):
        x, y = recipients.index(recipient), sources.index(source)
        shade = 0.25 + 0.75 * fragments / most
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=_ACCENT, alpha=shade, linewidth=0))
        ink = _PAPER if shade > _DARK else _INK
        axes.text(x, y, str(fragments), ha="center", va="center", fontsize=7, color=ink)
    axes.set_xlim(-0.5, max(1, len(recipients)) - 0.5)
    axes.set_ylim(max(1, len(sources)) - 0.5, -0.5)
    axes.set_xticks(range(len(recipients)), recipients, rotation=90, fontsize=7)
    axes.set_yticks(range(len(sources)), sources, fontsize=7)
    axes.set_xlabel("recipient")
    axes.set_ylabel("source")
    _plain(axes)
    return _svg(figure, "matrix", "Number of fragments from each source customer to each recipient customer")


def fragment_lengths(steps: Sequence[Step]) -> Markup:
    """Fragments per class of lengths."""
    figure = _figure(2.8)
    axes = figure.subplots()
    places = range(len(steps))
    strong = [step.strong for step in steps]
    axes.bar(places, strong, color=_ACCENT, label="probable or better")
    axes.bar(places, [step.weak for step in steps], bottom=strong, color=_MUTED, label="weaker")
    axes.set_xticks(list(places), [step.label for step in steps])
    axes.set_xlabel("characters")
    axes.set_ylabel("fragments")
    _legend(axes)
    _plain(axes)
    axes.tick_params(axis="x", labelsize=7 if len(steps) > 7 else 8)
    _whole_numbers(axes)
    return _svg(figure, "lengths", "Number of fragments by length")


_REST = "others"


def _busiest(weights: Sequence[tuple[str, int]]) -> list[str]:
    total: dict[str, int] = {}
    for name, weight in weights:
        total[name] = total.get(name, 0) + weight
    ranked = sorted(total, key=lambda name: (-total[name], name))
    return ranked if len(ranked) <= _MATRIX else [*ranked[:_MATRIX], _REST]


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(7.2, height), layout="constrained")


def _plain(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_MUTED)
    axes.tick_params(colors=_INK, labelsize=8, length=2)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(_INK)
        label.set_fontsize(9)


def _whole_numbers(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.set_ylim(bottom=0)


def _legend(axes: Axes) -> None:
    axes.legend(frameon=False, fontsize=8, labelcolor=_INK, loc="best")


def _svg(figure: Figure, name: str, description: str) -> Markup:
    """The figure as an element for the page: no XML head, no metadata, ids of its own, the page's colours."""
    import matplotlib
    from markupsafe import Markup, escape
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    sink = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        FigureCanvasSVG(figure).print_svg(sink, metadata=nothing)
    text = sink.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # The white page that matplotlib draws first.
    text = re.sub(r'<g id="patch_1">.*?</g>', "", text, count=1, flags=re.DOTALL)
    text = re.sub(r'<path d="[^"]*"\s+style="fill: #ffffff"\s*/>', "", text)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    for written, shown in _PAGE.items():
        text = text.replace(written, shown)
    return Markup(text.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1))  # noqa: S704
