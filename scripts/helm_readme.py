"""The table of values in the chart's README, made from values.yaml: its keys, their defaults and the comments above them.
With --write it replaces the table; check_helm.py compares."""

import json
import pathlib
import re
import sys

import yaml

CHART = pathlib.Path("helm/anamnesis")
BEGIN, END = "<!-- values: made by scripts/helm_readme.py -->\n", "<!-- end of values -->\n"
# One row each: their entries are alike, or they are Kubernetes' own.
ONE_ROW = {"jobs", "prometheusRule", "podSecurityContext", "securityContext"}
# Longer defaults are left to values.yaml.
LONGEST = 80


def described(lines: list[str]) -> dict[str, str]:
    """Each key of values.yaml, by its path, with the comment directly above it."""
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    comment: list[str] = []
    for line in lines:
        text = line.strip()
        if text.startswith("#"):
            comment.append(text.removeprefix("#").strip())
            continue
        if match := re.match(r"( *)([A-Za-z0-9_]+):", line):
            indent = len(match[1])
            path = [part for part in path if part[0] < indent] + [(indent, match[2])]
            found[".".join(name for _, name in path)] = " ".join(comment)
        comment = []
    return found


def default(value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= LONGEST else "see values.yaml"


def rows(values: dict, comments: dict[str, str], missing: list[str], prefix: str = ""):
    for name, value in values.items():
        path = prefix + name
        comment = comments.get(path, "")
        inside = [key for key in comments if key.startswith(path + ".")]
        apart = isinstance(value, dict) and value and path not in ONE_ROW and any(comments[key] for key in inside)
        if not apart and not comment:
            missing.append(path)
        if comment:
            cell = comment.replace("|", "\\|")
            yield f"| `{path}` | {'' if apart else default(value)} | {cell} |"
        if apart:
            yield from rows(value, comments, missing, path + ".")


def table() -> tuple[str, list[str]]:
    """The table, and the keys that no comment describes."""
    text = (CHART / "values.yaml").read_text()
    missing: list[str] = []
    made = list(rows(yaml.safe_load(text), described(text.splitlines()), missing))
    return "\n".join(["| value | default | meaning |", "|---|---|---|", *made]) + "\n", missing


def readme(made: str) -> tuple[str, str]:
    """The README as it is and as it should be."""
    text = (CHART / "README.md").read_text()
    before, rest = text.split(BEGIN)
    return text, before + BEGIN + made + END + rest.split(END)[1]


if __name__ == "__main__":
    made, missing = table()
    sys.exit(f"error: values.yaml has no comment for {', '.join(missing)}") if missing else None
    if "--write" in sys.argv:
        (CHART / "README.md").write_text(readme(made)[1])
    else:
        print(made)
