"""Renders the chart and holds what comes out to Kubernetes' schemas, the restricted pod security standard and the
product itself. Prints one line, or every problem found."""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

import kubernetes_validate
import yaml

HELM = sys.argv[1]
CHART = pathlib.Path("helm/anamnesis")
# The oldest version that the chart admits and the newest that the schemas know.
VERSIONS = ["1.27", "1.37"]
# Kinds of the Prometheus Operator, which Kubernetes' own schemas do not know.
CUSTOM = {"ServiceMonitor", "PrometheusRule"}
# Values that must be refused, each for its own reason.
REFUSED = [
    "worker.replicas=2",
    "worker.replcas=1",
    "scheduler.mode=both",
    "worker.terminationGracePeriodSeconds=5",
    "jobs.expiry.schedule=0 3 1 * 1",
    "jobs.sweeping.enabled=true",
    "store.engine=postgres",
    "image.digest=latest",
    "store.keys.masterKey.persistence.size=some",
]
# Values that contradict each other.
CONTRADICTIONS = [
    ["store.keys.masterKey.inService=true"],
    ["broker.url.existingSecret=rabbitmq"],
    ["store.keys.masterKey.inService=true", "store.keys.masterKey.existingSecret=a", "config=root = 'vault'"],
]
# What must lie apart, and the setting that says where it lies.
APART = {
    "store": "ANAMNESIS__STORE__PATH",
    "keys": "ANAMNESIS__STORE__KEYS",
    "root key": "ANAMNESIS__STORE__MASTER_KEY_FILE",
}

problems: list[str] = []


def helm(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([HELM, *arguments], capture_output=True, text=True)


def render(*arguments: str) -> list[dict]:
    done = helm("template", "release", str(CHART), *arguments)
    if done.returncode:
        problems.append(f"helm template {' '.join(arguments)}: {done.stderr.strip()}")
        return []
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def pods(documents: list[dict]):
    """Each pod template with the name of what makes it."""
    for document in documents:
        name = f"{document['kind']}/{document['metadata']['name']}"
        if document["kind"] == "Deployment":
            yield name, document["spec"]["template"]["spec"]
        if document["kind"] == "CronJob":
            yield name, document["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def restricted(where: str, pod: dict):
    """Kubernetes' "restricted" pod security standard, and a read-only root."""
    context = pod["securityContext"]
    wanted = [
        (context.get("runAsNonRoot") is True, "runAsNonRoot"),
        (context.get("runAsUser") == 65532, "runAsUser 65532"),
        (context.get("seccompProfile", {}).get("type") == "RuntimeDefault", "seccomp RuntimeDefault"),
        (pod.get("automountServiceAccountToken") is False, "no service account token"),
        (not any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")), "no namespace of the host"),
    ]
    for container in pod["containers"]:
        own = container["securityContext"]
        wanted += [
            (own.get("allowPrivilegeEscalation") is False, "no privilege escalation"),
            (own.get("readOnlyRootFilesystem") is True, "read-only root"),
            (own.get("capabilities", {}).get("drop") == ["ALL"], "no capabilities"),
            ("memory" in container["resources"].get("limits", {}), "a memory limit"),
            ("cpu" in container["resources"].get("requests", {}), "a CPU request"),
        ]
    problems.extend(f"{where}: missing {what}" for ok, what in wanted if not ok)


def keys(tree: dict, prefix: tuple = ()):
    for key, value in tree.items():
        yield prefix + (key,)
        if isinstance(value, dict):
            yield from keys(value, prefix + (key,))


def reference() -> set[tuple]:
    """Every configuration key, those that stand there as a comment included."""
    text = pathlib.Path("crates/config/src/default.toml").read_text()
    found = set(keys(tomllib.loads(text)))
    section: tuple = ()
    for line in text.splitlines():
        line = line.removeprefix("# ")
        if match := re.fullmatch(r"\[([a-z_.]+)\]", line.strip()):
            section = tuple(match[1].split("."))
            found.add(section)
        elif match := re.match(r"([a-z_]+) = ", line):
            found.add(section + (match[1],))
    return found


def configured(documents: list[dict], known: set[tuple]):
    """The keys that the chart sets, in the file and by environment, exist."""
    for document in documents:
        if document["kind"] == "ConfigMap" and "anamnesis.toml" in document["data"]:
            for key in keys(tomllib.loads(document["data"]["anamnesis.toml"])):
                if key not in known:
                    problems.append(f"the configuration has no key {'.'.join(key)}")
    for where, pod in pods(documents):
        for variable in (entry["name"] for container in pod["containers"] for entry in container["env"]):
            if variable.startswith("ANAMNESIS__"):
                key = tuple(part.lower() for part in variable.split("__")[1:])
                if key not in known:
                    problems.append(f"{where}: {variable} names no configuration key")


def valid(where: str, documents: list[dict]):
    for document in documents:
        name = f"{where}: {document['kind']}/{document['metadata']['name']}"
        if len(document["metadata"]["name"]) > (52 if document["kind"] == "CronJob" else 63):
            problems.append(f"{name}: the name is too long")
        for key, label in document["metadata"].get("labels", {}).items():
            if len(label) > 63:
                problems.append(f"{name}: the label {key} is too long")
        if document["kind"] in CUSTOM:
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                problems.append(f"{name}: Kubernetes {version}: {error.message}")


def scheduled():
    """One CronJob per policy in jobs/, or none at all; nothing in between."""
    policies = {path.stem: tomllib.loads(path.read_text()) for path in pathlib.Path("jobs").glob("*.toml")}
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    if set(values["jobs"]) != set(policies):
        problems.append(f"values.yaml has the jobs {sorted(values['jobs'])}, the product has {sorted(policies)}")
    for name, job in values["jobs"].items():
        minute = policies.get(name, {}).get("schedule", "").split(" ")[0]
        if minute not in job["schedule"].split(" ")[0].split(","):
            problems.append(f"jobs.{name}.schedule: the policy's minute is {minute}")
    embedded = [d for d in render() if d["kind"] == "CronJob"]
    if embedded:
        problems.append("scheduler.mode=embedded renders CronJobs: every night would be offered twice")
    offered = {}
    for document in render("--set", "scheduler.mode=cronjob"):
        if document["kind"] == "CronJob":
            spec = document["spec"]
            arguments = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"]
            offered[arguments[2]] = arguments[:2]
            if spec["concurrencyPolicy"] != "Forbid" or not spec["timeZone"]:
                problems.append(f"CronJob {arguments[2]}: wants Forbid and a time zone")
    if offered != {name: ["job", "run"] for name in policies}:
        problems.append(f"the CronJobs run {sorted(offered)}, the product has {sorted(policies)}")


def worker(documents: list[dict]):
    for document in documents:
        if document["kind"] != "Deployment":
            continue
        pod = document["spec"]["template"]["spec"]
        container = pod["containers"][0]
        if pod["terminationGracePeriodSeconds"] < drain() + 5:
            problems.append("the grace period is not longer than the drain")
        for probe, path in [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]:
            if container[probe]["httpGet"]["path"] != path:
                problems.append(f"{probe} asks {container[probe]['httpGet']['path']}")
        if document["spec"]["strategy"]["type"] != "Recreate":
            problems.append("two workers would write one file during a rollout")


def policies(documents: list[dict]):
    """A policy that replaces a shipped one has the same keys."""
    for document in documents:
        if document["kind"] != "ConfigMap" or not document["metadata"]["name"].endswith("-jobs"):
            continue
        for file, text in document["data"].items():
            shipped = tomllib.loads(pathlib.Path("jobs", file).read_text())
            if set(keys(tomllib.loads(text))) != set(keys(shipped)):
                problems.append(f"the policy {file} of a scenario has other keys than the shipped one")


def ticking(documents: list[dict]):
    """Either the worker plans the nights or CronJobs do."""
    jobs = any(document["kind"] == "CronJob" for document in documents)
    for where, pod in pods(documents):
        tick = {entry["name"]: entry.get("value") for entry in pod["containers"][0]["env"]}["ANAMNESIS__JOBS__TICK"]
        if tick != ("false" if jobs else "true"):
            problems.append(f"{where}: jobs.tick is {tick} although there are {'' if jobs else 'no '}CronJobs")


def mount_of(path: str, mounts: dict[str, str]) -> str:
    """What is mounted where a path lies: the longest mount point that contains it."""
    inside = [point for point in mounts if path == point or path.startswith(point.rstrip("/") + "/")]
    return mounts[max(inside, key=len)] if inside else f"{path}, which is no volume"


def apart(where: str, environment: dict[str, str], mounts: dict[str, str], service: bool):
    """Store, keys and root key lie on three volumes, or the root key in a service; never in the environment."""
    if "ANAMNESIS__STORE__MASTER_KEY" in environment:
        problems.append(f"{where}: the root key is in the environment")
    wanted = {part: environment.get(name) for part, name in APART.items()}
    if service:
        if wanted.pop("root key"):
            problems.append(f"{where}: a root key's file although a service has it")
    missing = [part for part, path in wanted.items() if not path]
    if missing:
        problems.append(f"{where}: no path of {missing}")
        return
    lies = {part: mount_of(path, mounts) for part, path in wanted.items()}
    if len(set(lies.values())) != len(lies) or any(place.endswith("no volume") for place in lies.values()):
        problems.append(f"{where}: store, keys and root key do not lie apart: {lies}")


def keys_apart(scenario: str, documents: list[dict]):
    text = "".join(d["data"].get("anamnesis.toml", "") for d in documents if d["kind"] == "ConfigMap")
    service = tomllib.loads(text).get("keys", {}).get("root", "local") != "local"
    for where, pod in pods(documents):
        volumes = {volume["name"]: json.dumps({k: v for k, v in volume.items() if k != "name"}) for volume in pod["volumes"]}
        for container in pod["containers"]:
            environment = {entry["name"]: entry.get("value", "") for entry in container["env"]}
            mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
            apart(f"{scenario}: {where}", environment, mounts, service)


def image() -> dict[str, str]:
    """What the image sets."""
    return dict(re.findall(r"(ANAMNESIS__\w+)=(\S+)", pathlib.Path("Dockerfile").read_text()))


def compose():
    """The same of deploy/compose, whose container has the image's environment."""
    path = "deploy/compose/compose.yaml"
    document = yaml.safe_load(pathlib.Path(path).read_text())
    for name, service in document["services"].items():
        mounts = {}
        for mount in service.get("volumes", []):
            source, target = mount.split(":")[:2]
            mounts[target] = source
            if source not in document["volumes"]:
                problems.append(f"{path}: {name} mounts {source}, which is no volume")
        for secret in service.get("secrets", []):
            mounts[f"/run/secrets/{secret['target']}"] = f"secret {secret['source']}"
            if secret["source"] not in document["secrets"]:
                problems.append(f"{path}: {name} names the secret {secret['source']}, which is none")
        apart(f"{path}: {name}", image() | service.get("environment", {}), mounts, False)


def drain() -> int:
    source = pathlib.Path("src/shutdown.rs").read_text()
    return int(re.search(r"DRAIN: Duration = Duration::from_secs\((\d+)\)", source)[1])


def main():
    known = reference()
    scenarios = sorted((CHART / "ci").glob("*-values.yaml"))
    rendered = 0
    for scenario in scenarios:
        linted = helm("lint", "--strict", str(CHART), "--values", str(scenario))
        if linted.returncode:
            problems.append(f"{scenario.name}: {linted.stdout}{linted.stderr}")
        documents = render("--values", str(scenario))
        rendered += len(documents)
        valid(scenario.name, documents)
        configured(documents, known)
        worker(documents)
        policies(documents)
        ticking(documents)
        keys_apart(scenario.name, documents)
        for where, pod in pods(documents):
            restricted(f"{scenario.name}: {where}", pod)
    for setting in REFUSED:
        if helm("template", "release", str(CHART), "--set", setting).returncode == 0:
            problems.append(f"--set {setting} is accepted")
    for settings in CONTRADICTIONS:
        if helm("template", "release", str(CHART), *(f"--set={setting}" for setting in settings)).returncode == 0:
            problems.append(f"{settings} are accepted together")
    scheduled()
    compose()
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems or len(scenarios) < 7:
        sys.exit(1)
    print(f"helm chart: {rendered} objects from {len(scenarios)} sets of values, {len(REFUSED)} bad values refused")


main()
