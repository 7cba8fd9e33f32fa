"""The style of a politeness receipt: light and dark, for screen and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --paper: #f5f6f8; --card: #ffffff; --ink: #1b2430; --muted: #5d6875; --line: #e2e6eb;
  --accent: #3066be; --soft: #a9c4ec; --good: #1a7f4e; --good-soft: #e3f4ea; --warn: #b26a00;
  --bad: #b3261e; --bad-soft: #fbe7e5; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12161c; --card: #1a2029; --ink: #e6eaf0; --muted: #98a3b1; --line: #2c3541;
  --accent: #7aa7f0; --soft: #3a5684; --good: #57c98d; --good-soft: #17322a; --warn: #e0a13c;
  --bad: #f2857c; --bad-soft: #3a1f1f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 36px 24px 48px; }
header .over { color: var(--muted); font-size: 13px; letter-spacing: .04em; margin: 0; }
h1 { font-size: 34px; line-height: 1.2; margin: 2px 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 0 0 10px; }
h3 { font-size: 13px; margin: 16px 0 4px; color: var(--muted); font-weight: 600; }
p { margin: 0 0 8px; } .muted { color: var(--muted); }
section, .tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
section { padding: 18px 20px; margin-top: 16px; min-width: 0; }
.verdict { border-left: 5px solid var(--good); background: var(--good-soft); }
.verdict.broken { border-left-color: var(--bad); background: var(--bad-soft); }
.verdict h2 { font-size: 19px; margin-bottom: 4px; }
.verdict ul { margin: 10px 0 0; padding: 0; list-style: none; columns: 2 320px; }
.verdict li { padding-left: 24px; position: relative; break-inside: avoid; }
.verdict li::before { position: absolute; left: 2px; content: "\\2022"; color: var(--muted); }
.verdict li.kept::before { content: "\\2713"; color: var(--good); font-weight: 700; }
.verdict li.broken::before { content: "\\2717"; color: var(--bad); font-weight: 700; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin-top: 16px; }
@media (max-width: 720px) { .tiles { grid-template-columns: 1fr 1fr; } }
.tile { padding: 12px 16px; } .tile b { display: block; font-size: 24px; line-height: 1.25;
  font-weight: 650; font-variant-numeric: tabular-nums; }
.tile span { color: var(--muted); font-size: 13px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  gap: 0 16px; }
.plot { overflow-x: auto; } svg { display: block; width: 100%; height: auto; }
.plot.wide svg { min-width: 620px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--muted); font-weight: 600; font-size: 13px; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-right: 0;
  padding-left: 12px; }
code { font: 13px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
ol { margin: 0; padding-left: 20px; color: var(--muted); font-size: 13px; }
footer { color: var(--muted); font-size: 13px; margin-top: 20px; }
.bar { fill: var(--accent); } .short { fill: var(--bad); } .soft { fill: var(--soft); }
.median { stroke: var(--accent); stroke-width: 2.5; } .grid { stroke: var(--line); }
.axis { stroke: var(--muted); stroke-opacity: .6; }
.tick, .unit { fill: var(--muted); font-size: 12px; } .row { fill: var(--ink); font-size: 13px; }
.mark { stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 5 4; }
.mark-words { fill: var(--warn); font-size: 12px; }
.status-1, .status-n, .status-o { fill: var(--muted); } .status-2 { fill: var(--good); }
.status-3 { fill: var(--accent); } .status-4 { fill: var(--warn); } .status-5 { fill: var(--bad); }
@media print { :root { --paper: #fff; --card: #fff; --ink: #000; --muted: #444; --line: #ccc;
  --accent: #3066be; --soft: #a9c4ec; --good: #1a7f4e; --good-soft: #fff; --warn: #b26a00;
  --bad: #b3261e; --bad-soft: #fff; color-scheme: light; }
  body { font-size: 12px; } main { padding: 0; max-width: none; }
  .tiles { grid-template-columns: repeat(4, 1fr); } .two { grid-template-columns: 1fr 1fr; }
  .tile, .two > section, .plot, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
