"""The four plots of a politeness receipt."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from crawl4r.interfaces.cli.view.format import clock_time
from crawl4r.interfaces.html.elements import Markup, joined, tag
from crawl4r.interfaces.html.svg import (
    Frame,
    Scale,
    bar,
    bottom_axis,
    left_axis,
    log_ticks,
    round_ticks,
    time_ticks,
)

_WIDE = Frame(980, 220)
_NARROW = Frame(480, 250, top=28.0)
_ROWS_START = 186.0  # x of the bars, after the names of statuses
_FEWEST_BUCKETS = 12  # so that a short crawl does not become one wide bar
_LINEAR_BELOW = 8.0  # maximum / minimum; below it a linear scale reads better than a log scale
_STATUSES_SHOWN = 9
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def span(seconds: float) -> str:
    """A duration as an axis label: 20 ms, 1.5 s, 3 h."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms" if seconds else "0"
    size, unit = next(pair for pair in _UNITS if seconds >= pair[0] * 0.9999)
    return f"{seconds / size:.3g} {unit}"


def requests_over_time(report: dict[str, Any]) -> Markup:
    frame, width = _WIDE, report["over_time"]["bucket_s"]
    buckets = report["over_time"]["buckets"]
    across = _time_scale(frame, report)
    upwards = frame.upwards(_headroom(max(bucket["requests"] for bucket in buckets)))
    bars = [
        bar(
            across(bucket["at"]) + 0.5,
            upwards(bucket["requests"]),
            across(bucket["at"] + width) - across(bucket["at"]) - 1,
            frame.floor - upwards(bucket["requests"]),
            f"{bucket['requests']:,} in {span(width)} from {clock_time(bucket['at'])}",
        )
        for bucket in buckets
    ]
    return frame.drawn(
        "Requests over time",
        left_axis(frame, upwards, _count, f"requests in {span(width)}"),
        *bars,
        bottom_axis(frame, across, time_ticks(across.low, across.high, 8)),
    )


def latency_over_time(report: dict[str, Any]) -> Markup:
    frame, width = _WIDE, report["over_time"]["bucket_s"]
    buckets = report["over_time"]["buckets"]
    across = _time_scale(frame, report)
    upwards = frame.upwards(_headroom(max(bucket["p95_ms"] for bucket in buckets)))
    parts = []
    for bucket in buckets:
        left, right = across(bucket["at"]), across(bucket["at"] + width)
        middle, high = upwards(bucket["median_ms"]), upwards(bucket["p95_ms"])
        hint = (
            f"half within {bucket['median_ms']:.0f} ms, 95 of 100 within {bucket['p95_ms']:.0f} ms,"
            f" from {clock_time(bucket['at'])}"
        )
        parts.append(bar(left + 0.5, high, right - left - 1, middle - high, hint, "soft"))
        parts.append(
            tag("line", x1=left + 0.5, x2=right - 0.5, y1=middle, y2=middle, class_="median")
        )
    return frame.drawn(
        "Latency over time: the median, and up to where 95 of 100 answers lie",
        left_axis(frame, upwards, lambda ms: span(ms / 1000), "time to the last byte"),
        *parts,
        bottom_axis(frame, across, time_ticks(across.low, across.high, 8)),
    )


def gaps_histogram(report: dict[str, Any]) -> Markup:
    frame, bars = _NARROW, report["gaps"]["histogram"]
    asked = report["robots"]["crawl_delay_s"]
    low, high = bars[0]["from_s"], bars[-1]["to_s"]
    if asked:
        low, high = min(low, asked * 0.97), max(high, asked * 1.03)
    across = frame.across(low, max(high, low * 1.02), is_log=True)
    upwards = frame.upwards(_headroom(max(item["gaps"] for item in bars)))
    drawn = [
        bar(
            across(item["from_s"]) + 0.5,
            min(upwards(item["gaps"]), frame.floor - 1.5),
            across(item["to_s"]) - across(item["from_s"]) - 1,
            max(frame.floor - upwards(item["gaps"]), 1.5),
            f"{item['gaps']:,} gaps of {span(item['from_s'])} to {span(item['to_s'])}",
            "bar short" if asked and item["to_s"] < asked else "bar",
        )
        for item in bars
        if item["gaps"]
    ]
    is_narrow = across.high < across.low * _LINEAR_BELOW
    ticks = round_ticks(low, across.high, 5) if is_narrow else log_ticks(low, across.high)
    return frame.drawn(
        "Gaps between requests",
        left_axis(frame, upwards, _count, "gaps" if is_narrow else "gaps (time on a log scale)"),
        *drawn,
        _mark(frame, across(asked), f"crawl-delay {span(asked)}") if asked else "",
        bottom_axis(frame, across, [(tick, span(tick)) for tick in ticks]),
    )


def answers_by_status(report: dict[str, Any]) -> Markup:
    statuses = report["requests"]["statuses"]
    shown = sorted(statuses.items(), key=lambda item: -item[1])[:_STATUSES_SHOWN]
    rest = sum(statuses.values()) - sum(count for _, count in shown)
    rows = [*shown, *([("other", rest)] if rest else [])]
    total, most = sum(statuses.values()), max(count for _, count in rows)
    frame = _NARROW
    step = min(34.0, (frame.height - 16) / len(rows))
    across = Scale(0, most, _ROWS_START, frame.width - 132)
    parts = []
    for number, (status, count) in enumerate(rows):
        y = 10 + number * step
        words = f"{count:,}  ({count / total:.1%})"
        end = across(count)
        parts += [
            tag(
                "text", _status_words(status), x=_ROWS_START - 8, y=y + step / 2 + 1, class_="tick row",
                text_anchor="end",
            ),
            bar(_ROWS_START, y, max(end - _ROWS_START, 2.0), step * 0.62, words, f"status-{status[0]}"),
            tag("text", words, x=max(end, _ROWS_START + 2) + 8, y=y + step / 2 + 1, class_="tick row"),
        ]  # fmt: skip
    return frame.drawn("Answers by status", *parts)


def _time_scale(frame: Frame, report: dict[str, Any]) -> Scale:
    width, buckets = report["over_time"]["bucket_s"], report["over_time"]["buckets"]
    low, high = buckets[0]["at"], buckets[-1]["at"] + width
    return frame.across(low, max(high, low + _FEWEST_BUCKETS * width))


def _headroom(most: float) -> float:
    return most * 1.08 or 1.0


def _count(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value / 1e3:.3g} k" if value >= 1e4 else f"{value:g}"


def _mark(frame: Frame, x: float, words: str) -> Markup:
    """A vertical line with its name, on the side with room for it."""
    is_right = x > frame.width * 0.6
    return joined(
        tag("line", x1=x, x2=x, y1=frame.top, y2=frame.floor, class_="mark"),
        tag(
            "text", words, x=x + (-6 if is_right else 6), y=frame.top + 8, class_="mark-words",
            text_anchor="end" if is_right else "start",
        ),
    )  # fmt: skip


def _status_words(status: str) -> str:
    if not status.isdecimal():
        return "no answer" if status == "none" else status
    try:
        return f"{status} {HTTPStatus(int(status)).phrase}"
    except ValueError:
        return status
