#!/usr/bin/env python3
"""The tables of docs/dashboards.md: each panel of each dashboard with what it answers, from the dashboards' own descriptions.

    scripts/dashboard_page.py --write | --check
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/dashboards.md"
ORDER = ["overview", "ingest", "jobs", "redaction", "embedding", "stores"]
UNITS = {"s": "duration", "percentunit": "share", "ops": "a second", "reqps": "requests a second", "bytes": "bytes", "short": "number"}


def table(board):
    lines = ["| row | panel | answers | unit | runbook |", "|---|---|---|---|---|"]
    row = ""
    for panel in board["panels"]:
        if panel["type"] == "row":
            row = panel["title"]
            continue
        answers = re.sub(r"\s*Alerts?: [^.]+\.", "", panel["description"]).strip()
        runbooks = ", ".join(f"[{pathlib.Path(link['url']).stem}]({link['url'].removeprefix('docs/')})" for link in panel.get("links", []))
        lines.append(f"| {row} | {panel['title']} | {answers} | {UNITS[panel['fieldConfig']['defaults']['unit']]} | {runbooks} |")
    return "\n".join(lines)


def section(name):
    board = json.loads((ROOT / f"dashboards/anamnesis-{name}.json").read_text())
    title = board["title"].removeprefix("Anamnesis / ")
    return f"## {title}\n\n{board['description']}\n\n![{title}](pictures/anamnesis-{name}.png)\n\n{table(board)}"


def main():
    page = PAGE.read_text()
    parts = page.split("<!-- dashboards: scripts/dashboard_page.py --write -->")
    if len(parts) != 3:
        sys.exit("error: docs/dashboards.md lacks the two marks of scripts/dashboard_page.py")
    made = "\n\n" + "\n\n".join(section(name) for name in ORDER) + "\n\n"
    if "--check" in sys.argv:
        if parts[1] != made:
            sys.exit("error: docs/dashboards.md differs from the dashboards: scripts/dashboard_page.py --write")
        lacking = [name for name in ORDER if not (ROOT / f"docs/pictures/anamnesis-{name}.png").is_file()]
        if lacking:
            sys.exit(f"error: docs/pictures lacks {lacking}: make day")
        print("docs/dashboards.md: equal to the dashboards")
        return
    PAGE.write_text(parts[0] + "<!-- dashboards: scripts/dashboard_page.py --write -->" + made + "<!-- dashboards: scripts/dashboard_page.py --write -->" + parts[2])


main()
