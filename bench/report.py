"""The benchmark's rows as a page of bar charts and as a table in the documents."""
import html
import math

import rows
from rows import number, passed, share

BEGIN = "<!-- the table below is made by ./x bench -->"
END = "<!-- the table above is made by ./x bench -->"

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --soft: #5c6670; --line: #d5dae0;
  --own: #1f6fb2; --over: #c2541d; --peer: #a9b2bb; --grid: #e8ebee; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --ink: #e4e7ea; --soft: #98a2ac; --line: #353b42;
  --own: #5aa9e6; --over: #e8895a; --peer: #5b656f; --grid: #23282d; } }
body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } p, li { color: var(--soft); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg text.soft { fill: var(--soft); }
.own { fill: var(--own); } .over { fill: var(--over); } .peer { fill: var(--peer); }
.grid { stroke: var(--grid); } .one { stroke: var(--soft); } .target { stroke: var(--ink); stroke-width: 2; }
.spread { stroke: var(--ink); stroke-opacity: 0.55; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; } th { text-align: left; }
td, th { border-bottom: 1px solid var(--line); padding: 0.25rem 0.5rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
"""

TITLES = {
    "chain-64": "1,000 dependent kernels of 64 floats",
    "chain-4096": "1,000 dependent kernels of 4,096 floats",
    "wide": "64 independent chains of 16 kernels of 4,096 floats",
    "triad": "10 dependent triads over arrays of 64 MiB",
    "record": "Recording and sealing, for a node",
    "single": "A graph of one small kernel, replayed and waited for",
    "reserve": "A buffer from the pool and back",
    "update": "One value of a sealed graph",
    "photo": "The photo demo's step",
    "opencl": "The OpenCL backend on PoCL's devices",
}

NAME_WIDTH, BAR_WIDTH, LINE = 390, 430, 24


def reference(name):
    group = name.split("/", 1)[0]
    if name in rows.AGAINST_PEERS:
        return "the peer's"
    return rows.REFERENCES.get(name, rows.REFERENCES.get(group, "plain C"))


class Scale:
    """Ratios to pixels, by their logarithm, from one power of ten to another."""

    def __init__(self, values):
        self.low = math.floor(math.log10(min(values + [1.0])))
        self.high = max(math.ceil(math.log10(max(values + [1.0]))), self.low + 1)

    def x(self, value):
        share = (math.log10(max(value, 10.0 ** self.low)) - self.low) / (self.high - self.low)
        return NAME_WIDTH + share * BAR_WIDTH

    def powers(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def line(kind, x, top, bottom):
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'


def bar(row, scale, top):
    low, high = row["spread"]
    kind = "peer" if rows.is_peer(row["name"]) else "own" if passed(row) else "over"
    middle = top + LINE / 2
    label = html.escape(row["name"].split("/", 1)[1])
    end = scale.x(row["ratio"])
    parts = [f'<text x="{NAME_WIDTH - 8}" y="{middle + 4:.1f}" text-anchor="end">{label}</text>',
             f'<rect class="{kind}" x="{NAME_WIDTH}" y="{top + 4:.1f}" width="{max(end - NAME_WIDTH, 1):.1f}" '
             f'height="{LINE - 8}"/>',
             f'<line class="spread" x1="{scale.x(low):.1f}" x2="{scale.x(high):.1f}" y1="{middle:.1f}" '
             f'y2="{middle:.1f}"/>']
    if row["target"]:
        parts.append(line("target", scale.x(row["target"]), top + 1, top + LINE - 1))
    text = f'{number(row["ratio"])} x' + (f', {number(row["ns"])} ns' if row["ns"] is not None else "")
    parts.append(f'<text class="soft" x="{max(end, scale.x(high)) + 6:.1f}" y="{middle + 4:.1f}">{text}</text>')
    return "".join(parts)


def chart(group, made):
    scale = Scale([value for row in made for value in (row["ratio"], row["spread"][1]) if value > 0])
    height = LINE * len(made)
    parts = [f'<svg viewBox="0 0 {NAME_WIDTH + BAR_WIDTH + 150} {height + 22}" role="img" '
             f'aria-label="{html.escape(TITLES.get(group, group))}">']
    for power in scale.powers():
        parts.append(line("one" if power == 1 else "grid", scale.x(power), 0, height))
        parts.append(f'<text class="soft" x="{scale.x(power):.1f}" y="{height + 16}" text-anchor="middle">'
                     f'{power:g}</text>')
    parts += [bar(row, scale, LINE * at) for at, row in enumerate(made)]
    return "".join(parts) + "</svg>"


def belongs(row, group):
    """Bars of one chart have one reference; rows with another are in the table only."""
    name = row["name"]
    return (name.startswith(group + "/") and row["ratio"] > 0 and name not in rows.AGAINST_PEERS
            and name not in rows.REFERENCES)


def charts(made):
    parts = []
    for group, title in TITLES.items():
        own = [row for row in made if belongs(row, group)]
        if own:
            parts.append(f"<h2>{html.escape(title)}</h2><p>Times {html.escape(reference(own[0]['name']))}, on a "
                         "logarithmic scale.</p>" + chart(group, sorted(own, key=lambda row: row["ratio"])))
    return "".join(parts)


def table(made, alone):
    parts = ['<div class="scroll"><table><tr><th>row</th><th class="n">ns</th><th class="n">reference, ns</th>'
             '<th>reference</th><th class="n">ratio</th><th class="n">target</th><th></th>'
             '<th class="n">min to max</th><th class="n">core alone</th></tr>']
    for row in made:
        verdict = "" if row["target"] is None else "ok" if passed(row) else "over"
        low, high = row["spread"]
        parts.append(f'<tr><td>{html.escape(row["name"])}</td><td class="n">{number(row["ns"])}</td>'
                     f'<td class="n">{number(row["ref_ns"])}</td><td>{html.escape(reference(row["name"]))}</td>'
                     f'<td class="n">{number(row["ratio"])}</td><td class="n">{number(row["target"])}</td>'
                     f'<td>{verdict}</td><td class="n">{number(low)} to {number(high)}</td>'
                     f'<td class="n">{share(alone.get(row["name"]))}</td></tr>')
    return "".join(parts) + "</table></div>"


def write(path, made, alone, facts, skipped):
    left_out = "".join(f"<li>{html.escape(name)}: {html.escape(why)}</li>" for name, why in skipped.items())
    path.write_text(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Rondo: benchmark</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>Rondo: benchmark</h1>"
        f"<p>{html.escape('. '.join(fact for fact in facts if fact))}. Shorter bars are better. Rondo is blue, or "
        "orange where it misses its target; others are grey. The upright stroke is the target, the thin line the "
        "spread of the processes.</p>" + charts(made) + "<h2>All rows</h2>" + table(made, alone) +
        (f"<h2>Not measured</h2><ul>{left_out}</ul>" if left_out else "") + "</body></html>\n", encoding="utf-8")


def write_docs(path, made, alone, facts, skipped):
    """Puts the table between the two marks of the document."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    lines = ["", f"Measured on {'; '.join(fact for fact in facts if fact)}.", "",
             "| row | ns | reference, ns | ratio | target | | min to max | core alone |",
             "|---|---:|---:|---:|---:|---|---|---:|"]
    for row in made:
        verdict = "" if row["target"] is None else "ok" if passed(row) else "**over**"
        low, high = row["spread"]
        lines.append(f"| {row['name']} | {number(row['ns'])} | {number(row['ref_ns'])} | {number(row['ratio'])} | "
                     f"{number(row['target'])} | {verdict} | {number(low)} to {number(high)} | "
                     f"{share(alone.get(row['name']))} |")
    lines += ["", "Not measured:", ""] if skipped else []
    lines += [f"- {name}: {why}" for name, why in skipped.items()]
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after, encoding="utf-8")
