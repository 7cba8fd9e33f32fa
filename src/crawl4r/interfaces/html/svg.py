"""Scales, ticks and frames of plots, as SVG without scripts in the colours of the page."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from crawl4r.interfaces.html.elements import Markup, joined, tag

_STEPS = (1, 2, 5, 10)
_TIME_STEPS = (
    (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
    + (86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200, 7_257_600, 31_536_000)
)  # fmt: skip


class Scale(Struct, frozen=True):
    """Maps values to coordinates; `is_log` uses a logarithmic scale."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


class Frame(Struct, frozen=True):
    """The size of a plot and its margins."""

    width: float
    height: float
    left: float = 52.0
    right: float = 12.0
    top: float = 16.0
    bottom: float = 30.0

    @property
    def floor(self) -> float:
        return self.height - self.bottom

    def across(self, low: float, high: float, *, is_log: bool = False) -> Scale:
        return Scale(low, high, self.left, self.width - self.right, is_log)

    def upwards(self, high: float) -> Scale:
        return Scale(0.0, high, self.floor, self.top)

    def drawn(self, title: str, *parts: str) -> Markup:
        """The whole plot; `title` describes it for screen readers."""
        return tag(
            "svg",
            *parts,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_label=title,
            preserveAspectRatio="xMidYMid meet",
        )


def left_axis(frame: Frame, scale: Scale, words: Callable[[float], str], unit: str) -> Markup:
    """Horizontal lines at round values, and the unit above them."""
    parts = [tag("text", unit, x=frame.left, y=10.0, class_="unit")]
    for value in round_ticks(0.0, scale.high, 4):
        y = scale(value)
        parts.append(
            tag("line", x1=frame.left, x2=frame.width - frame.right, y1=y, y2=y, class_="grid")
        )
        parts.append(
            tag("text", words(value), x=frame.left - 8, y=y + 4, class_="tick", text_anchor="end")
        )
    return joined(*parts)


def bottom_axis(frame: Frame, scale: Scale, ticks: Sequence[tuple[float, str]]) -> Markup:
    """Labels under the axis; those at the edges are aligned inwards."""
    parts = [
        tag(
            "line",
            x1=frame.left,
            x2=frame.width - frame.right,
            y1=frame.floor,
            y2=frame.floor,
            class_="axis",
        )
    ]
    for value, words in ticks:
        x = scale(value)
        anchor = "end" if x > frame.width - 28 else "middle"
        parts.append(tag("line", x1=x, x2=x, y1=frame.floor, y2=frame.floor + 4, class_="axis"))
        parts.append(tag("text", words, x=x, y=frame.floor + 18, class_="tick", text_anchor=anchor))
    return joined(*parts)


def bar(x: float, y: float, width: float, height: float, hint: str, class_: str = "bar") -> Markup:
    """A bar with a tooltip."""
    radius = min(2.0, width / 3)
    return tag(
        "rect",
        tag("title", hint),
        x=x,
        y=y,
        width=max(width, 0.5),
        height=max(height, 0.0),
        rx=radius,
        class_=class_,
    )


def round_ticks(low: float, high: float, about: int) -> list[float]:
    """About `count` round values in a range."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in _STEPS if power * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times each power of ten if there is room, else the powers alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    is_wide = len(powers) > 4
    ticks = [
        10.0**power * factor for power in powers for factor in ((1,) if is_wide else (1, 2, 5))
    ]
    inside = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
    return inside[:: len(inside) // 9 + 1]


def time_ticks(low: float, high: float, about: int) -> list[tuple[float, str]]:
    """Round times of clock and calendar in UTC, with their labels."""
    rough = (high - low) / about
    step = next((step for step in _TIME_STEPS if step >= rough), _TIME_STEPS[-1])
    form = "%H:%M:%S" if step < 60 else "%H:%M" if step < 86_400 else "%d %b"
    if step >= 2_419_200:
        form = "%b %Y"
    first = math.ceil(low / step)
    moments = [number * step for number in range(first, math.floor(high / step) + 1)]
    return [(float(moment), _moment_words(moment, form)) for moment in moments]


def _moment_words(moment: int, form: str) -> str:
    """The label of a time; midnight shows the new day."""
    if moment % 86_400 == 0 and form.startswith("%H"):
        form = "%d %b"
    return time.strftime(form, time.gmtime(moment))
