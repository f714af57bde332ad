#!/usr/bin/env python3
"""Pictures of the dashboards, drawn in Chromium from a Prometheus' answers, with the layout of the dashboards. Grafana is not involved: the
pictures say so.

    scripts/dashboard_pictures.py --prometheus URL --from T --to T --out FOLDER [--clock FILE] [--save FILE]
    scripts/dashboard_pictures.py --answers FILE --out FOLDER

Times are seconds since 1970. `--clock` names a clock that ran faster than the machine's (scripts/day.py): the axis shows that clock.
`--save` keeps the answers, from which `--answers` draws again.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import zoneinfo

import PIL.Image
from live import prometheus
from live.stack import ROOT, Failed

# Points of a line, and columns of a heat map.
POINTS, COLUMNS = 300, 110
HEIGHT_OF_CELL, GAP, TOP = 30, 8, 64


class Asked:
    """A running Prometheus, by its address."""

    def __init__(self, url):
        self.url = url

    api, instant, range = prometheus.Prometheus.api, prometheus.Prometheus.instant, prometheus.Prometheus.range


class Axis:
    """From the machine's time to milliseconds of the axis, which is read as UTC."""

    def __init__(self, clock):
        self.clock = clock

    def __call__(self, real):
        at, zone = real, datetime.UTC
        if self.clock:
            at = self.clock.start + (real - self.clock.real) * self.clock.factor
            zone = zoneinfo.ZoneInfo(self.clock.zone)
        local = datetime.datetime.fromtimestamp(at, zone)
        return round((at + local.utcoffset().total_seconds()) * 1000)


def named(target, metric):
    """The legend, as Grafana makes it."""
    pattern = target.get("legendFormat") or ""
    if not pattern or pattern == "__auto":
        return ", ".join(f"{key}={value}" for key, value in metric.items() if key not in ("__name__", "job"))
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda m: metric.get(m[1], ""), pattern).strip()


def sound(value):
    return value if math.isfinite(value) else None


def heat(answer, axis):
    """Cells of a heat map from cumulated buckets: `[column, bucket, count]`."""
    bounds = sorted((float(metric["le"]), dict(points)) for metric, points in answer)
    times = sorted({at for _, points in bounds for at in points})
    cells, used = [], set()
    for x, at in enumerate(times):
        below = 0.0
        for y, (_, points) in enumerate(bounds):
            count = points.get(at, below)
            if count - below > 0.05:
                cells.append([x, y, round(count - below, 2)])
                used.add(y)
            below = max(below, count)
    low, high = (min(used), max(used)) if used else (0, 0)
    kept = [bound for bound, _ in bounds][low:high + 1]
    finite = [bound if math.isfinite(bound) else (kept[-2] * 1.0001 if len(kept) > 1 else 1) for bound in kept]
    return {"times": [axis(at) for at in times], "buckets": finite, "cells": [[x, y - low, count] for x, y, count in cells]}


def asked(server, args, clock):
    """What the pictures show: for each dashboard the panels with their series, and the annotations."""
    axis, shown = Axis(clock), args.until - args.since
    step = max(args.interval, shown / POINTS)
    factor = clock.factor if clock else 1
    put = lambda expression, wide=step: prometheus.substituted(expression, max(args.interval, wide / 4 + args.interval / 4), shown, factor, clock)
    boards = {}
    for name, board in prometheus.dashboards().items():
        drawn = []
        for panel in prometheus.panels(board):
            defaults = panel.get("fieldConfig", {}).get("defaults", {})
            one = {"type": panel["type"], "title": panel["title"], "grid": panel["gridPos"], "unit": defaults.get("unit", "short"), "min": defaults.get("min"),
                   "steps": defaults.get("thresholds", {}).get("steps", []), "series": []}
            for target in panel.get("targets", []):
                if panel["type"] == "heatmap":
                    wide = max(args.interval, shown / COLUMNS)
                    one["heat"] = heat(server.range(put(target["expr"], wide), args.since + wide, args.until, wide), axis)
                    continue
                answer = server.instant(put(target["expr"]), args.until) if target.get("instant") else server.range(put(target["expr"]), args.since, args.until, step)
                for metric, points in prometheus.finite(answer):
                    one["series"].append({"name": named(target, metric), "points": gaps([(at, sound(value)) for at, value in points], step, axis)})
            drawn.append(one)
        notes = []
        for note in board["annotations"]["list"]:
            if "expr" in note and note.get("enable", True):
                found = server.range(put(note["expr"]), args.since, args.until, max(args.interval, 2))
                times = sorted({at for metric, points in found for at in starts(points, 5 * 60 / factor)})
                notes.append({"name": note["name"], "color": note.get("iconColor", "blue"), "times": [axis(at) for at in times]})
        boards[name] = {"title": board["title"], "from": axis(args.since), "to": axis(args.until), "panels": drawn, "annotations": notes,
                        "caption": args.caption}
    return boards


def gaps(points, step, axis):
    """A point without a value where Prometheus has none."""
    found, last = [], None
    for at, value in points:
        if last is not None and at - last > 1.5 * step:
            found.append([axis(last + step), None])
        found.append([axis(at), value])
        last = at
    return found


def starts(points, window):
    """Where a stretch of points begins."""
    found, last = [], None
    for at, _ in points:
        if last is None or at - last > window:
            found.append(at)
        last = at
    return found


def draw(boards, out):
    echarts = subprocess.run([ROOT / "scripts/charts.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    browser = subprocess.run([ROOT / "scripts/chromium.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, board in boards.items():
            rows = max(panel["grid"]["y"] + panel["grid"]["h"] for panel in board["panels"])
            page = pathlib.Path(folder) / f"{name}.html"
            page.write_text(f'<!doctype html><meta charset="utf-8"><body></body><script src="file://{echarts}"></script>'
                            f"<script>const board = {json.dumps(board)};</script><script>{(ROOT / 'scripts/live/panels.js').read_text()}</script>")
            picture = out / f"{name}.png"
            done = subprocess.run(
                [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files", "--force-device-scale-factor=1",
                 f"--user-data-dir={folder}/profile", "--virtual-time-budget=4000", f"--window-size=1600,{TOP + rows * (HEIGHT_OF_CELL + GAP)}",
                 f"--screenshot={picture}", f"file://{page}"], capture_output=True, text=True, timeout=120)
            if done.returncode or not picture.is_file():
                raise Failed(f"Chromium did not draw {name}: {done.stderr[-400:]}")
            # A palette is enough for lines and letters, and a third of the bytes.
            PIL.Image.open(picture).convert("RGB").quantize(128, dither=PIL.Image.Dither.NONE).save(picture, optimize=True)
            print(f"{picture}: {picture.stat().st_size // 1024} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prometheus")
    parser.add_argument("--from", dest="since", type=float)
    parser.add_argument("--to", dest="until", type=float)
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between two scrapes")
    parser.add_argument("--clock", type=pathlib.Path)
    parser.add_argument("--caption", default="")
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--answers", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    clock = None
    if args.clock:
        given = json.loads(args.clock.read_text())
        clock = types.SimpleNamespace(**given)
        clock.expression = lambda: f"({clock.start:.3f} + (time() - {clock.real:.3f}) * {clock.factor:g})"
    pace = f" The axis is the day's clock, {clock.factor:g} times the machine's; a rate is for a second of the machine's." if clock else ""
    args.caption = "Drawn from Prometheus' answers, not by Grafana." + pace + (f" {args.caption}" if args.caption else "")
    try:
        boards = json.loads(args.answers.read_text()) if args.answers else asked(Asked(args.prometheus), args, clock)
        if args.save:
            args.save.write_text(json.dumps(boards))
        draw(boards, args.out)
    except Failed as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
