"""Renders the chart's alerts, and the dashboards' expressions as rules, and lets promtool judge both. Holds each alert to a
runbook and to histories of both kinds, and each runbook to an alert, its headings and commands that exist."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HELM, PROMTOOL = sys.argv[1:3]
# What Grafana puts in.
VARIABLES = {"$__rate_interval": "5m", "$__range": "6h", "$job": ".+", "$instance": ".+"}
MODES = ["embedded", "cronjob", "hourly"]
RULE = "prometheusRule"
# The group whose rules depend on the mode.
JOBS = "anamnesis-jobs"
# Every alert is on; several workers are expected, so that one of them can be missing.
EVERYTHING = {
    f"{RULE}.alerts.Panics.enabled": "true",
    f"{RULE}.alerts.WorkerMissing.expected": "3",
    f"{RULE}.exporters.rabbitmq.enabled": "true",
    f"{RULE}.exporters.kubelet.enabled": "true",
    f"{RULE}.exporters.kubeStateMetrics.enabled": "true",
    f"{RULE}.exporters.certificates.source": "blackbox",
}
RUNBOOKS = pathlib.Path("docs/runbooks")
HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation"]
# Lines of a page: shorter says too little at three in the morning, longer is not read.
LENGTH = range(20, 61)

problems: list[str] = []


def rendering(*arguments: str, **settings: str) -> list[dict]:
    """What the chart renders with these settings; a name's dots are written as they are."""
    given = [part for name, value in settings.items() for part in ("--set-string" if "selector" in name else "--set", f"{name}={value}")]
    done = subprocess.run([HELM, "template", "release", "helm/anamnesis", *arguments, *given], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: helm template {' '.join([*arguments, *given])}: {done.stderr}")
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def spec_of(documents: list[dict]) -> dict:
    return next(document for document in documents if document["kind"] == "PrometheusRule")["spec"]


def spec(*arguments: str, **settings: str) -> dict:
    """The rules among it."""
    return spec_of(rendering(*arguments, **settings))


def observed(**settings: str) -> dict:
    return spec("--values", "helm/anamnesis/ci/observability-values.yaml", **(EVERYTHING | settings))


def rules(of: dict) -> list[dict]:
    return [rule for group in of["groups"] for rule in group["rules"]]


def named(rule: dict) -> str:
    return rule["alert"].removeprefix("Anamnesis")


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


def panels(alerts: dict[str, dict]) -> None:
    """An alert that a panel's description names exists, and the panel links to its runbook."""
    for path in sorted(pathlib.Path("dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for names in re.findall(r"Alerts?: ([^.]+)", panel.get("description", "")):
                named = set(re.split(r", | and ", names))
                problems.extend(f"{path}, {panel['title']}: there is no alert {name}" for name in sorted(named - alerts.keys()))
                linked = {link["url"] for link in panel.get("links", [])}
                wanted = {f"docs/runbooks/{name}.md" for name in named}
                if linked != wanted:
                    problems.append(f"{path}, {panel['title']}: links to {sorted(linked)}, wants {sorted(wanted)}")


def promtool(*arguments: str) -> None:
    done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: promtool {' '.join(arguments[:3])}:\n{done.stdout}{done.stderr}")


def histories() -> dict:
    """The tests of each mode, without the key that is not promtool's. A test may be of several modes."""
    # As text: what begins with 0x is a history of zeros and no number.
    document = yaml.load(pathlib.Path("tests/alerts.yaml").read_text(), Loader=yaml.BaseLoader)
    of = {mode: [] for mode in MODES}
    for test in document.pop("tests"):
        modes = test.pop("mode", "embedded")
        for mode in [modes] if isinstance(modes, str) else modes:
            of[mode].append(test)
    return {mode: document | {"tests": tests} for mode, tests in of.items()}


def proven(names: list[str], tests: list[dict], where: str = "") -> None:
    """Each alert has a history in which it fires and one in which it stays silent."""
    checks = [check for test in tests for check in test["alert_rule_test"]]
    for name in names:
        expected = [bool(check["exp_alerts"]) for check in checks if check["alertname"] == f"Anamnesis{name}"]
        problems.extend(
            f"tests/alerts.yaml: {name} has no history in which it {what}{where}"
            for kind, what in [(True, "fires"), (False, "stays silent")]
            if kind not in expected
        )


def jobs_proven(rendered: dict[str, dict], tests: dict[str, dict]) -> int:
    """The rules about jobs differ by mode: each has both histories in every mode that renders it. The number of such pairs."""
    pairs = 0
    for mode, of in rendered.items():
        names = [named(rule) for group in of["groups"] if group["name"] == JOBS for rule in group["rules"]]
        if not {"JobStale", "JobFailed"} <= set(names):
            problems.append(f"scheduler.mode={mode}: the group {JOBS} has the rules {names}")
        proven(names, tests[mode]["tests"], f" with scheduler.mode={mode}")
        pairs += len(names)
    return pairs


def defaults(alerts: dict[str, dict]) -> None:
    """Without a choice of one's own an alert leads to its page; without an exporter it names only the program's series."""
    for rule in rules(spec(**{f"{RULE}.enabled": "true"})):
        url = rule["annotations"]["runbook_url"]
        if not pathlib.Path(url).is_file():
            problems.append(f"{named(rule)}: {url} is not there")
        if foreign := re.findall(r"\b(?:kube|kubelet|rabbitmq|probe|certmanager)_\w+", rule["expr"]):
            problems.append(f"{named(rule)}: names {foreign}, which no value switched on")
    off = {f"{RULE}.alerts.{name}.enabled": "false" for name in alerts}
    if groups := observed(**off)["groups"]:
        problems.append(f"with every alert off there are groups without rules: {groups}")


def selected(of: dict) -> None:
    """With a selector, each of the program's series has its matchers."""
    for rule in rules(of):
        for series in re.finditer(r"\b(?:anamnesis|process)_\w+(.{0,11})", rule["expr"]):
            if series[1] != '{namespace=':
                problems.append(f"{named(rule)}: {series[0]} is not bound to prometheusRule.selector")


def matched(mode: str, documents: list[dict]) -> None:
    """The patterns of the rules about CronJobs match the names of all of them, and of the Jobs that they start."""
    crons = [document["metadata"]["name"] for document in documents if document["kind"] == "CronJob"]
    patterns = {
        (named(rule), pattern)
        for rule in rules(spec_of(documents))
        for pattern in re.findall(r'(?:cronjob|job_name)=~"([^"]+)"', rule["expr"])
        if named(rule).startswith("CronJob")
    }
    if not crons or {name for name, _ in patterns} != {"CronJobFailed", "CronJobStale"}:
        problems.append(f"scheduler.mode={mode}: CronJobs {crons}, patterns {sorted(patterns)}")
    for name, pattern in patterns:
        started = "-29000000" if name == "CronJobFailed" else ""
        problems.extend(f"{name}, scheduler.mode={mode}: {pattern} does not match {cron}" for cron in crons if not re.fullmatch(pattern, cron + started))


def subcommands(source: str) -> set[str]:
    """The names of an enum of subcommands, as clap writes them."""
    found = set()
    for body in re.findall(r"derive\([^)]*Subcommand[^)]*\)\](?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([a-z]+\))? )?enum \w+ \{\n(.*?)\n\}", source, re.S):
        found |= {re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower() for name in re.findall(r"^    ([A-Z]\w*)[ {(,]?", body, re.M)}
    return found


def verbs() -> dict[str, set[str]]:
    """Every verb of the command line with its subcommands: one module a verb, registered in src/cli/mod.rs."""
    registered = re.search(r"^verbs! \{\n(.*?)^\}", pathlib.Path("src/cli/mod.rs").read_text(), re.M | re.S)[1]
    found = {}
    for module in re.findall(r"^    [A-Z]\w*\(([a-z_:]+)::Args\)", registered, re.M):
        place = pathlib.Path("src/cli", *module.split("::"))
        path = next(path for path in [place.with_suffix(".rs"), place / "mod.rs"] if path.is_file())
        found[module.split("::")[-1].replace("_", "-")] = subcommands(path.read_text())
    return found


def options() -> set[str]:
    """The long options of all verbs."""
    found = {"help", "version"}
    for path in pathlib.Path("src/cli").rglob("*.rs"):
        text = path.read_text()
        found |= set(re.findall(r'\blong = "([a-z-]+)"', text))
        named = re.findall(r"#\[arg\((?:[^\]]*\b)?long\b(?! =).*?\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))? )?([a-z_]+):", text, re.S)
        found |= {name.replace("_", "-") for name in named}
    return found


def commands(where: str, text: str, known: dict[str, set[str]], flags: set[str]) -> None:
    """What a text gives as a command of the program is one."""
    for code in re.findall(r"```\w*\n(.*?)```", text, re.S) + re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        for line in re.findall(r"(?:^|[\s|(])anamnesis ([a-z][^|;#\n]*)", code):
            words = line.replace(")", " ").split()
            subs = known.get(words[0])
            if subs is None:
                problems.append(f"{where}: there is no verb `anamnesis {words[0]}`")
                continue
            if len(words) > 1 and re.fullmatch(r"[a-z-]+", words[1]) and not words[1].startswith("-") and subs and words[1] not in subs:
                problems.append(f"{where}: there is no `anamnesis {words[0]} {words[1]}`")
            for flag in re.findall(r"(?<!\S)--([a-z-]+)", line):
                if flag not in flags:
                    problems.append(f"{where}: no verb has the option --{flag}")


def metrics(alerts: dict[str, dict]) -> set[str]:
    """Names that a page may use: metrics of the reference and of the rules (a test in Rust compares those with the registry), and
    roles of the database, which are named alike."""
    reference = set(re.findall(r"^\| `(\w+)` \|", pathlib.Path("docs/metrics.md").read_text(), re.M))
    ruled = {name for rule in alerts.values() for name in re.findall(r"\banamnesis_\w+", rule["expr"])}
    roles = set(re.findall(r"\banamnesis_\w+", pathlib.Path("migrations/postgres/roles.sql").read_text()))
    return reference | ruled | roles


def pages(alerts: dict[str, dict]) -> None:
    """One page an alert, with the four headings; commands and metrics in it exist; the index lists all of them."""
    there = {path.stem: path.read_text() for path in RUNBOOKS.glob("*.md") if path.name != "README.md"}
    problems.extend(f"docs/runbooks/{name}.md is missing" for name in sorted(alerts.keys() - there.keys()))
    problems.extend(f"docs/runbooks/{name}.md: there is no such alert" for name in sorted(there.keys() - alerts.keys()))
    known, flags, series = verbs(), options(), metrics(alerts)
    values = yaml.safe_load(pathlib.Path("helm/anamnesis/values.yaml").read_text())["prometheusRule"]["alerts"]
    index = (RUNBOOKS / "README.md").read_text()
    rows = dict(re.findall(r"^\| \[(\w+)\]\(\1\.md\) \| (\w+) \|", index, re.M))
    if rows != {name: values[name]["severity"] for name in alerts}:
        wrong = {(name, rows.get(name)) for name in rows.keys() | alerts.keys() if rows.get(name) != values.get(name, {}).get("severity")}
        problems.append(f"docs/runbooks/README.md: the table differs from the alerts and their severities: {sorted(wrong)}")
    if set(values) != set(alerts):
        problems.append(f"values.yaml and the template differ: {sorted(set(values) ^ set(alerts))}")
    for name, rule in alerts.items():
        annotations = " ".join(rule["annotations"].values())
        commands(f"{name}, annotations", annotations, known, flags)
    for name, text in {**there, "README": index}.items():
        where = f"docs/runbooks/{name}.md"
        commands(where, text, known, flags)
        for named in set(re.findall(r"\banamnesis_[a-z_]+(?<!_)", text)):
            base = re.sub(r"_(bucket|sum|count)$", "", named)
            if named not in series and base not in series:
                problems.append(f"{where}: there is no metric {named}")
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", text):
            if not (RUNBOOKS / target).exists():
                problems.append(f"{where}: {target} is not there")
        if name == "README":
            continue
        if not text.startswith(f"# {name}\n"):
            problems.append(f"{where}: the title is not {name}")
        if (found := re.findall(r"^## (.*)$", text, re.M)) != HEADINGS:
            problems.append(f"{where}: has the headings {found}, wants {HEADINGS}")
        if any(not part.strip() for part in re.split(r"^## .*$", text, flags=re.M)[1:]):
            problems.append(f"{where}: a heading has no text")
        if (lines := len(text.splitlines())) not in LENGTH:
            problems.append(f"{where}: {lines} lines, wants {LENGTH.start} to {LENGTH.stop - 1}")


def main() -> None:
    rendered = {mode: observed(**{"scheduler.mode": mode}) for mode in MODES}
    alerts = {named(rule): rule for mode in reversed(MODES) for rule in rules(rendered[mode])}
    tests, shown = histories(), dashboards()
    one = {f"{RULE}.selector": 'namespace="clinic"'}
    bound = observed(**one)
    # Where a job is disabled, the rule about successes names the others.
    partly = observed(**one, **{"scheduler.mode": "cronjob", "jobs.decay.enabled": "false"})
    for of in (bound, partly):
        selected(of)
    stale = next(rule["expr"] for rule in rules(partly) if named(rule) == "JobStale")
    if "expiry" not in stale or "decay" in stale:
        problems.append(f"JobStale does not name the enabled jobs alone: {stale}")
    # The CronJobs of a long name are found by the rules about them.
    for mode in MODES[1:]:
        long = rendering("--values", "helm/anamnesis/ci/observability-values.yaml", **EVERYTHING, **{"scheduler.mode": mode, "fullnameOverride": "long" * 12})
        matched(mode, long)
    others = {
        "bound": bound,
        "partly": partly,
        "certificates": observed(**{f"{RULE}.exporters.certificates.source": "cert-manager"}),
    }
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "panels.yaml").write_text(yaml.safe_dump(shown))
        promtool("check", "rules", str(work / "panels.yaml"))
        for name, of in {**rendered, **others}.items():
            (work / f"{name}.yaml").write_text(yaml.safe_dump(of))
            promtool("check", "rules", "--lint=all", "--lint-fatal", str(work / f"{name}.yaml"))
        files = []
        for mode in MODES:
            for at, test in enumerate(tests[mode]["tests"]):
                names = {check["alertname"] for check in test["alert_rule_test"]}
                # A history evaluates the rules that it is about: a day of minutes takes its time with all of them.
                about = {"groups": [{"name": "about", "rules": [rule for rule in rules(rendered[mode]) if rule["alert"] in names]}]}
                (work / f"{mode}-{at}-rules.yaml").write_text(yaml.safe_dump(about))
                one = tests[mode] | {"rule_files": [f"{mode}-{at}-rules.yaml"], "tests": [test]}
                files.append(work / f"{mode}-{at}.yaml")
                files[-1].write_text(yaml.safe_dump(one, sort_keys=False))
        promtool("test", "rules", *map(str, files))
    every = [test for mode in MODES for test in tests[mode]["tests"]]
    proven(list(alerts), every)
    pairs = jobs_proven(rendered, tests)
    defaults(alerts)
    pages(alerts)
    panels(alerts)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    read = len(shown["groups"][0]["rules"])
    print(
        f"alerts: {len(alerts)} rules, each with a runbook, {len({id(test) for test in every})} histories, those about jobs in each mode ({pairs} pairs); "
        f"dashboards: {read} expressions read"
    )


main()
