"""docs/sizing.md and its plots, from a table of bench/results."""

import os
import re

from harness import ROOT, BenchError
from plot import line_plot
from sizing import COLUMNS, CONNECTIONS, RATE

PAGE = os.path.join(ROOT, "docs", "sizing.md")
IMAGES = os.path.join(ROOT, "docs", "images")
# Percent of other work, with which rates and latencies mean something; on a machine without other work the
# network of the kernel counts as 10 to 15.
BUSY_MOST = 20
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
NAMES = {"eddy": "eddy", "nginx": "nginx", "go": "Go"}


def figures_read(name):
    """{server: {connections: {column: its text}}} and the lines of the head that name the machine."""
    with open(os.path.join(ROOT, "bench", "results", f"{name}.md")) as file:
        text = file.read()
    lines = text.splitlines()
    figures, head = {}, "| " + " | ".join(COLUMNS) + " |"
    if head not in lines:
        raise BenchError(f"{name}.md has no table of sizes")
    for line in lines[lines.index(head) + 2:]:
        if not line.startswith("|"):
            break
        row = dict(zip(COLUMNS, (cell.strip() for cell in line.strip("|").split("|"))))
        figures.setdefault(row["server"], {})[int(row["connections"])] = row
    facts = dict(line[2:].split(": ", 1) for line in lines if line.startswith("- ") and ": " in line)
    facts["others"] = re.findall(r"Other work took (\d+) %", text)[-1]
    return figures, facts


def column(figures, key, name):
    return [float(figures[key][n][name]) if n in figures[key] else None for n in CONNECTIONS]


def plots_write(figures):
    keys = [key for key in NAMES if key in figures]
    p50, p99 = COLUMNS[6:8]
    rates = [(NAMES[key], column(figures, key, "requests/s")) for key in keys]
    late = [("eddy, median", column(figures, "eddy", p50))]
    late += [(f"{NAMES[key]}, 99 of 100", column(figures, key, p99)) for key in keys]
    plots = {
        "sizing-rate.svg": line_plot("Requests a second, one processor", "connections", CONNECTIONS, rates),
        "sizing-latency.svg": line_plot(f"Latency at {RATE:,} requests a second, ms", "connections", CONNECTIONS,
                                        late, y_log=True),
    }
    for name, text in plots.items():
        with open(os.path.join(IMAGES, name), "w") as file:
            file.write(text)


def sentence(few, many):
    share = float(many["requests/s"]) / float(few["requests/s"])
    part = RATE * float(few[COLUMNS[8]]) / 1e6
    return (
        f"With 64 connections one processor answered {int(few['requests/s']):,} requests a second, and with 10,000 "
        f"connections {share:.0%} of that. {RATE:,} requests a second, over 64 connections, took {part:.0%} of a "
        f"processor. At that rate 99 of 100 answers came within {few[COLUMNS[7]]} ms with 64 connections, and within "
        f"{many[COLUMNS[7]]} ms with 10,000."
    )


def block(name, figures, facts):
    """The part of the page with figures."""
    ours = figures["eddy"]
    few, many = ours[64], ours[10_000]
    shown = [c for c in COLUMNS if c not in ("server", "CPU us", COLUMNS[8])]
    lines = [f"| {' | '.join(shown)} |", "|--:|" + "--:|" * (len(shown) - 1)]
    for n in CONNECTIONS:
        if n in ours:
            cells = [f"{int(ours[n][c]):,}" if c in shown[:2] else ours[n][c] for c in shown]
            lines.append(f"| {' | '.join(cells)} |")
    if int(facts["others"]) > BUSY_MOST:
        said = (f"Other work took {facts['others']} % of the processors during this run, so its rates and latencies "
                "are too bad, and only the memory is right. Run it on a quiet machine.")
    else:
        said = sentence(few, many)
    lines += [
        "",
        said,
        "",
        "![Requests a second by the number of connections, of eddy, nginx and Go](images/sizing-rate.svg)",
        "",
        "![Latency by the number of connections](images/sizing-latency.svg)",
        "",
        f"{facts.get('processor', '')}; {facts.get('kernel', '')}; {facts.get('date', '')}; "
        f"[all figures](../bench/results/{name}.md).",
        "",
    ]
    return "\n".join(lines)


def page_write(name):
    figures, facts = figures_read(name)
    plots_write(figures)
    with open(PAGE) as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise BenchError("docs/sizing.md has no place for the figures")
    with open(PAGE, "w") as file:
        file.write(f"{before}{BEGIN}\n{block(name, figures, facts)}\n{END}{after}")
