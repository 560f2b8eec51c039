"""Line plots as SVG, with a logarithmic axis of x, in light and dark."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 360, 70, 130, 40, 50
LIGHT = {"card": "#ffffff", "ink": "#1b2430", "soft": "#566272", "grid": "#e6e9ee",
         "c0": "#1f77b4", "c1": "#2f8f4e", "c2": "#b45309", "c3": "#7b3fc4"}
DARK = {"card": "#1c2229", "ink": "#e4e8ee", "soft": "#a3afbd", "grid": "#2c343e",
        "c0": "#5aa9e0", "c1": "#6fcf8e", "c2": "#f0b75a", "c3": "#c49bff"}


def style():
    def variables(colours):
        return "; ".join(f"--{name}: {colour}" for name, colour in colours.items())

    lines = [f"svg.plot {{ {variables(LIGHT)};",
             '  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif }',
             f"@media (prefers-color-scheme: dark) {{ svg.plot {{ {variables(DARK)} }} }}"]
    for kind, name in (("text", "ink"), (".soft", "soft"), (".paper", "card")):
        lines.append(f".plot {kind} {{ fill: {LIGHT[name]}; fill: var(--{name}) }}")
    lines.append(f".plot .grid {{ stroke: {LIGHT['grid']}; stroke: var(--grid) }}")
    for name in ("c0", "c1", "c2", "c3"):
        lines.append(f".plot .{name} {{ stroke: {LIGHT[name]}; stroke: var(--{name}); fill: none; stroke-width: 2 }}")
        lines.append(f".plot text.{name}, .plot circle.{name} {{ fill: {LIGHT[name]}; fill: var(--{name}); stroke: none }}")
    lines.append(".plot .head { font-weight: 600 } .plot .end { text-anchor: end } .plot .middle { text-anchor: middle }")
    return "\n".join(lines)


def ticks_linear(most):
    step = 10 ** math.floor(math.log10(most))
    step = next(step * part for part in (0.2, 0.5, 1, 2) if most / (step * part) <= 6)
    return [i * step for i in range(math.ceil(most / step) + 1)]


def ticks_log(least, most):
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return [10.0 ** i for i in range(low, max(high, low + 1) + 1)]


def number(value):
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


def apart(places):
    """The same places, at least 14 from each other, so that texts do not cover each other."""
    moved, last = dict(places), -math.inf
    for key, place in sorted(places.items(), key=lambda item: item[1]):
        last = moved[key] = max(place, last + 14)
    return moved


def line_plot(title, x_title, xs, series, y_log=False):
    """'series': (name, values), where a value may be None."""
    values = [v for _, vs in series for v in vs if v is not None]
    ys = ticks_log(min(values), max(values)) if y_log else ticks_linear(max(values))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(x):
        return LEFT + (right - LEFT) * math.log(x / xs[0]) / math.log(xs[-1] / xs[0])

    def y_of(y):
        part = math.log(y / ys[0]) / math.log(ys[-1] / ys[0]) if y_log else y / ys[-1]
        return bottom - (bottom - TOP) * part

    out = [f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" role="img">', f"<title>{escape(title)}</title>",
           f"<style>\n{style()}\n</style>", f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
           f'<text class="head" x="{LEFT}" y="20">{escape(title)}</text>']
    for y in ys:
        out.append(f'<path class="grid" d="M{LEFT} {y_of(y):.1f}H{right}"/>'
                   f'<text class="soft end" x="{LEFT - 8}" y="{y_of(y) + 4:.1f}">{number(y)}</text>')
    for x in xs:
        out.append(f'<text class="soft middle" x="{x_of(x):.1f}" y="{bottom + 18}">{x:,}</text>')
    out.append(f'<text class="soft middle" x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 10}">{escape(x_title)}</text>')
    ends = {}
    for i, (name, vs) in enumerate(series):
        points = [(x_of(x), y_of(v)) for x, v in zip(xs, vs) if v is not None]
        out.append(f'<path class="c{i}" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + '"/>')
        out += [f'<circle class="c{i}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
        ends[i] = points[-1][1] + 4
    for i, y in apart(ends).items():
        out.append(f'<text class="c{i}" x="{right + 10}" y="{y:.1f}">{escape(series[i][0])}</text>')
    return "\n".join(out) + "\n</svg>\n"
