"""A Prometheus of ours, and what Grafana and the rules ask it."""

import json
import math
import os
import pathlib
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import yaml

from .stack import ROOT, Failed, Process, answers, free_port, wait_for

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}
DURATION = re.compile(r"(\d+)(ms|[smhdwy])")


def seconds(duration):
    """Of `1h30m` and its like."""
    return sum(int(number) * UNITS[unit] for number, unit in DURATION.findall(duration))


def duration(of):
    """As PromQL writes it."""
    ms = max(1, round(of * 1000))
    return f"{ms // 1000}s" if ms % 1000 == 0 else f"{ms}ms"


class Prometheus:
    def __init__(self, program, folder, jobs, rules=None, interval=1.0, lookback=None):
        """`jobs` has for each name the targets (`host:port/path`)."""
        self.port, self.interval = free_port(), interval
        self.url = f"http://127.0.0.1:{self.port}"
        home = pathlib.Path(folder) / "prometheus"
        home.mkdir()
        scrapes = []
        for name, targets in jobs.items():
            for path in sorted({target.partition("/")[2] for target in targets}):
                static = [{"targets": [t.partition("/")[0] for t in targets if t.partition("/")[2] == path]}]
                # The same job from several paths: the name is a label, the section's own name must be unique.
                scrapes.append({
                    "job_name": f"{name}/{path}", "metrics_path": f"/{path}", "static_configs": static, "honor_labels": name == "stand-in",
                    "relabel_configs": [{"target_label": "job", "replacement": name}]})
        written = {"global": {"scrape_interval": duration(interval), "scrape_timeout": duration(interval), "evaluation_interval": duration(interval)},
                   "scrape_configs": scrapes}
        if rules:
            (home / "rules.yml").write_text(yaml.safe_dump(rules, sort_keys=False))
            written["rule_files"] = ["rules.yml"]
        (home / "prometheus.yml").write_text(yaml.safe_dump(written, sort_keys=False))
        self.process = Process("prometheus", [
            program, f"--config.file={home}/prometheus.yml", f"--storage.tsdb.path={home}/data", f"--web.listen-address=127.0.0.1:{self.port}",
            *([f"--query.lookback-delta={duration(lookback)}"] if lookback else [])], str(home / "log"))
        wait_for("Prometheus", lambda: answers(f"{self.url}/-/ready"), 30)

    def api(self, path, **given):
        body = urllib.parse.urlencode(given).encode()
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}", data=body, timeout=60) as answer:
                said = json.load(answer)
        except urllib.error.HTTPError as error:
            said = json.load(error)
        if said["status"] != "success":
            raise Failed(f"{said['errorType']}: {said['error']}")
        return said["data"]

    def instant(self, expression, at):
        data = self.api("query", query=expression, time=f"{at:.3f}")
        found = [{"metric": {}, "value": data["result"]}] if data["resultType"] == "scalar" else data["result"]
        return [(one["metric"], [(float(one["value"][0]), float(one["value"][1]))]) for one in found]

    def range(self, expression, start, end, step):
        data = self.api("query_range", query=expression, start=f"{start:.3f}", end=f"{end:.3f}", step=f"{step:.3f}")
        return [(one["metric"], [(float(at), float(value)) for at, value in one["values"]]) for one in data["result"]]

    def stop(self):
        self.process.stop()


def finite(series):
    return [(metric, points) for metric, points in series if any(math.isfinite(value) for _, value in points)]


class Question:
    """One query of a dashboard: of a panel or an annotation."""

    def __init__(self, board, place, expression, target):
        self.board, self.place, self.expression, self.target = board, place, expression, target
        self.instant = bool(target.get("instant"))


def dashboards():
    return {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "dashboards").glob("*.json"))}


def panels(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])


def questions():
    """Every query of every dashboard."""
    for name, board in dashboards().items():
        for panel in panels(board):
            for target in panel.get("targets", []):
                yield Question(name, f"{panel['title']} {target['refId']}", target["expr"], target)
        for annotation in board["annotations"]["list"]:
            if "expr" in annotation:
                yield Question(name, f"annotation {annotation['name']}", annotation["expr"], {})


def substituted(expression, interval, shown, factor=1, clock=None):
    """As Grafana puts in its variables: `interval` is the scrape's, `shown` the time shown. With a factor the windows that are written
    in the expression shrink, and `time()` is the workers' clock."""
    found = shrunk(expression, factor, clock)
    for variable, value in {"$__rate_interval": duration(4 * interval), "$__interval": duration(interval), "$__range": duration(shown),
                            "$job": ".+", "$instance": ".+"}.items():
        found = found.replace(variable, value)
    return found


def shrunk(expression, factor, clock=None):
    """A rule for a clock that runs `factor` times as fast: windows and offsets are that much shorter, and what is compared with the
    workers' timestamps is their clock. The start of a process is the kernel's, in the machine's time."""
    if factor == 1:
        return expression
    found = re.sub(r"\[((?:\d+(?:ms|[smhdwy]))+)\]", lambda m: f"[{duration(seconds(m[1]) / factor)}]", expression)
    found = re.sub(r"\boffset ((?:\d+(?:ms|[smhdwy]))+)", lambda m: f"offset {duration(seconds(m[1]) / factor)}", found)
    if clock:
        found = re.sub(r"\btime\(\)", clock.expression(), found)
        if "changes(" not in found:
            found = re.sub(r"\bprocess_start_time_seconds(\{[^}]*\})?",
                           lambda m: f"({clock.start:.3f} + (process_start_time_seconds{m[1] or ''} - {clock.real:.3f}) * {factor:g})", found)
    return found


def selectors(expression):
    """The series that an expression reads, as selectors."""
    bare = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", expression)
    found = []
    for match in re.finditer(r"([a-zA-Z_:][\w:]*)?\s*(\{(?:[^}\"]|\"(?:[^\"\\]|\\.)*\")*\})?", bare):
        name, braces = match[1], match[2]
        rest = bare[match.end():].lstrip()
        if not match[0].strip() or (name and not braces and (rest.startswith("(") or "_" not in name)):
            continue
        if name in ("group_left", "group_right"):
            continue
        found.append(f"{name or ''}{braces or ''}")
    return sorted(set(found))


def chart_rules(helm, *settings):
    """The alert rules that the chart renders."""
    done = subprocess.run([helm, "template", "live", "helm/anamnesis", "--set", "prometheusRule.enabled=true",
                           *[part for setting in settings for part in ("--set", setting)]], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"helm template: {done.stderr}")
    return next(d for d in yaml.safe_load_all(done.stdout) if d and d["kind"] == "PrometheusRule")["spec"]


def program():
    found = subprocess.run([ROOT / "scripts/prometheus.sh"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return found or None


def helm():
    return subprocess.run([ROOT / "scripts/helm.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def environment_allows():
    return os.environ.get("ANAMNESIS_WITHOUT_PROMETHEUS") == "allow"
