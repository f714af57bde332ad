"""Renders the chart's alerts, and the dashboards' expressions as rules, and lets promtool judge both."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

HELM, PROMTOOL = sys.argv[1:3]
# What Grafana puts in.
VARIABLES = {"$__rate_interval": "5m", "$__range": "6h", "$job": ".+", "$instance": ".+"}


def alerts() -> dict:
    done = subprocess.run(
        [HELM, "template", "release", "helm/anamnesis", "--values", "helm/anamnesis/ci/observability-values.yaml",
         "--set", "prometheusRule.alerts.Panics.enabled=true"],
        check=True, capture_output=True, text=True,
    )
    rules = [d for d in yaml.safe_load_all(done.stdout) if d and d["kind"] == "PrometheusRule"]
    return rules[0]["spec"]


def dashboards() -> dict:
    rules = []
    for path in sorted(pathlib.Path("dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"]
                for variable, value in VARIABLES.items():
                    expression = expression.replace(variable, value)
                labels = {"panel": f"{path.stem} {panel['id']} {target['refId']}"}
                rules.append({"record": "panel:expression", "expr": expression, "labels": labels})
    return {"groups": [{"name": "panels", "rules": rules}]}


def promtool(*arguments: str) -> None:
    done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: promtool {arguments[0]} {arguments[1]}:\n{done.stdout}{done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    ringing, shown = alerts(), dashboards()
    (work / "rules.yaml").write_text(yaml.safe_dump(ringing))
    (work / "panels.yaml").write_text(yaml.safe_dump(shown))
    shutil.copy("tests/alerts.yaml", work / "alerts.yaml")
    promtool("check", "rules", "--lint=all", "--lint-fatal", str(work / "rules.yaml"))
    promtool("check", "rules", str(work / "panels.yaml"))
    promtool("test", "rules", str(work / "alerts.yaml"))
count = sum(len(group["rules"]) for group in ringing["groups"])
tests = len(yaml.safe_load(pathlib.Path("tests/alerts.yaml").read_text())["tests"])
print(f"alerts: {count} rules, {tests} histories; dashboards: {len(shown['groups'][0]['rules'])} expressions read")
