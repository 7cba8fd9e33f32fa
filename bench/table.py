"""The figures of one site as a plain-text table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.manifest import Tally
from bench.measure import Spread, Usage

OURS = "crawl4r"
HEADINGS = (
    "contender", "stored", "missing", "wall s", "pages/s", "CPU s",
    "CPU ms/page", "(least..most)", "RSS MB", "x CPU/page", "(least..most)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl by one contender, checked."""

    usage: Usage
    tally: Tally
    requests: int  # lines in the server's access log
    denied: int  # of them, for what robots.txt refuses
    load: float  # the machine's load average when the run began

    @property
    def cpu_ms(self) -> float:
        return 1_000 * self.usage.cpu / max(self.tally.stored, 1)

    @property
    def pages_per_second(self) -> float:
        return self.tally.stored / self.usage.wall


def render(results: Mapping[str, Sequence[Run]]) -> str:
    """A row a contender, medians over its runs; ratios are to ours, run by run."""
    rows = [HEADINGS, *(_row(name, runs, _base(results)) for name, runs in results.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines + _remarks(results))


def _base(results: Mapping[str, Sequence[Run]]) -> Sequence[Run] | None:
    """What the others are compared with: ours, with or without documents."""
    return results.get(OURS) or results.get(f"{OURS}-documents")


def ratios(runs: Sequence[Run], ours: Sequence[Run]) -> Spread:
    """How many times our CPU a page they took, each run against the run of ours beside it."""
    return Spread.of(their.cpu_ms / our.cpu_ms for their, our in zip(runs, ours, strict=True))


def _row(name: str, runs: Sequence[Run], ours: Sequence[Run] | None) -> tuple[str, ...]:
    cpu_ms = Spread.of(run.cpu_ms for run in runs)
    ratio = ratios(runs, ours) if ours else None
    return (
        name,
        f"{min(run.tally.stored for run in runs)}",
        f"{max(run.tally.missing for run in runs)}",
        f"{median(run.usage.wall for run in runs):.2f}",
        f"{median(run.pages_per_second for run in runs):.0f}",
        f"{median(run.usage.cpu for run in runs):.2f}",
        f"{cpu_ms.median:.3f}",
        f"{cpu_ms.least:.3f}..{cpu_ms.greatest:.3f}",
        f"{max(run.usage.peak_rss for run in runs) / 1e6:.0f}",
        f"{ratio.median:.2f}" if ratio else "-",
        f"{ratio.least:.2f}..{ratio.greatest:.2f}" if ratio else "-",
    )


def _remarks(results: Mapping[str, Sequence[Run]]) -> list[str]:
    """Lines on whatever a contender did wrong; none when all is well."""
    remarks = []
    for name, runs in results.items():
        for run in runs:
            tally = run.tally
            if tally.missing or tally.wrong or tally.extra or run.denied:
                remarks.append(
                    f"{name}: {tally.missing} missing, {tally.wrong} with wrong bytes, "
                    f"{tally.extra} unexpected, {run.denied} requests that robots.txt denies; "
                    f"for example {', '.join(tally.examples) or 'see --json'}"
                )
                break
    return remarks
