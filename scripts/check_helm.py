"""Renders the chart and holds what comes out to Kubernetes' schemas, the restricted pod security standard, the product and
the chart of the version before. Prints one line, or every problem found.

`check_helm.py HELM record CHART FOLDER` writes down what an upgrade must keep, for the chart that is about to become the
version before."""

import concurrent.futures
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib

import jsonschema
import referencing
import yaml
from kubernetes_validate import utils as schemas

import helm_readme

HELM = sys.argv[1]
CHART = pathlib.Path("helm/anamnesis")
# A page with sets of values for readers; each block that begins with ADDITION is laid over the last one that does not.
PAGE = pathlib.Path("docs/deployment.md")
ADDITION = "# in addition to the values above"
# Renderings of the version before, with the values that it shipped.
BEFORE = CHART / "ci/upgrade"
# The oldest version that the chart admits, the newest that the schemas know, and two between them.
VERSIONS = ["1.27", "1.30", "1.34", "1.37"]
# Kinds that Kubernetes' own schemas do not know, each with the fields that the chart may use: what is misspelt there, no
# API server would refuse either.
CUSTOM = {
    "ServiceMonitor": {"jobLabel", "selector", "endpoints"},
    "PodMonitor": {"jobLabel", "selector", "podMetricsEndpoints"},
    "PrometheusRule": {"groups"},
    "ScaledObject": {
        "scaleTargetRef", "minReplicaCount", "maxReplicaCount", "pollingInterval", "cooldownPeriod", "advanced", "triggers",
    },
    "TriggerAuthentication": {"secretTargetRef"},
    "ExternalSecret": {"refreshInterval", "secretStoreRef", "target", "data"},
}
POSTGRES = {
    "store": {
        "engine": "postgres",
        "postgres": {"url": {"existingSecret": "a"}, "migrateUrl": {"existingSecret": "b"}},
        "keys": {"url": {"existingSecret": "c"}, "masterKey": {"existingSecret": "d"}},
    }
}
BROKER = {"broker": {"url": {"existingSecret": "e"}}, "config": "[intake]\nunbound_producers = 'allow'"}
# What must lie apart, and the setting that says where it lies.
APART = {
    "store": "ANAMNESIS__STORE__PATH",
    "keys": "ANAMNESIS__STORE__KEYS",
    "root key": "ANAMNESIS__STORE__MASTER_KEY_FILE",
}
# Secret settings, and the components that may have them.
HOLDERS = {
    "ANAMNESIS__STORE__URL_FILE": {"worker", "job", "migration", "test"},
    "ANAMNESIS__STORE__KEYS_URL_FILE": {"worker", "job", "migration", "test"},
    "ANAMNESIS__STORE__MIGRATE_URL_FILE": {"migration"},
    "ANAMNESIS__STORE__JOBS_URL_FILE": {"worker", "job"},
    "ANAMNESIS__BROKER__URL_FILE": {"worker", "topology", "test"},
    "ANAMNESIS__BROKER__MANAGEMENT_URL_FILE": {"test"},
}
# What a volume of the restricted standard may be, without those that the chart has no use for.
VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}

problems: list[str] = []


def merged(*trees: dict) -> dict:
    result: dict = {}
    for tree in trees:
        for key, value in tree.items():
            inner = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if inner else value
    return result


# Values that must be refused, and the reason that must be given. Where the schema refuses them, the wording is Helm's:
# there it is the key that must be named.
REFUSED: list[tuple[dict, str]] = [
    # Unknown keys and values that nothing accepts.
    ({"worker": {"replcas": 1}}, "replcas"),
    ({"scheduler": {"mode": "both"}}, "scheduler.mode"),
    ({"jobs": {"expiry": {"schedule": "0 3 1 * 1"}}}, "jobs.expiry.schedule"),
    ({"jobs": {"sweeping": {"enabled": True}}}, "sweeping"),
    ({"store": {"engine": "mysql"}}, "store.engine"),
    ({"image": {"digest": "latest"}}, "image.digest"),
    ({"config": {"brokr": {"prefix": "clinic"}}}, "brokr"),
    ({"config": {"pipeline": {"batch_documents": "many"}}}, "batch_documents"),
    ({"config": {"intake": {"unbound_producers": "perhaps"}}}, "unbound_producers"),
    ({"store": {"keys": {"masterKey": {"persistence": {"size": "some"}}}}}, "masterKey.persistence.size"),
    ({"worker": {"terminationGracePeriodSeconds": 5}}, "terminationGracePeriodSeconds"),
    ({"networkPolicy": {"providers": [{"name": "anywhere", "ports": [443]}]}}, "to"),
    ({"networkPolicy": {"providers": [{"name": "x", "to": [{"host": "example.org"}], "ports": [443]}]}}, "host"),
    ({"networkPolicy": {"dns": {"ports": [70000]}}}, "networkPolicy.dns.ports"),
    ({"networkPolicy": {"collector": {"ports": [0]}}}, "networkPolicy.collector.ports"),
    ({"spool": {"persistence": {"accessMode": "ReadOnlyMany"}}}, "accessMode"),
    ({"autoscaling": {"mode": "vpa"}}, "autoscaling.mode"),
    ({"lexicons": {"files": {"a/b.tsv": "x"}}}, "a/b.tsv"),
    ({"podDisruptionBudget": {"minAvailable": "half"}}, "minAvailable"),
    ({"cronJob": {"timeZone": "Central European"}}, "cronJob.timeZone"),
    ({"broker": {"prefix": "clinic.*"}}, "broker.prefix"),
    ({"certificates": {"files": {"broker": "../ca.crt"}}}, "certificates.files.broker"),
    ({"extraVolumeMounts": [{"name": "x"}]}, "mountPath"),
    ({"serviceAccount": {"token": {"expirationSeconds": 60}}}, "expirationSeconds"),
    # Values that contradict each other.
    ({"worker": {"replicas": 2}}, "worker.replicas: the embedded store is one file and takes exactly one worker"),
    (
        merged(BROKER, {"autoscaling": {"mode": "keda"}}),
        "autoscaling.mode: the embedded store is one file and takes exactly one worker; use store.engine=postgres",
    ),
    (
        merged(POSTGRES, {"worker": {"replicas": 2}, "spool": {"place": "volume", "persistence": {"accessMode": "ReadWriteOnce"}}}),
        "spool.persistence.accessMode: several workers need a volume of ReadWriteMany, or spool.place=none",
    ),
    (
        merged(POSTGRES, {"worker": {"rollingUpdate": {"maxSurge": 0}}}),
        "worker.rollingUpdate: with maxSurge and maxUnavailable both 0 nothing could be replaced",
    ),
    (
        {"store": {"keys": {"masterKey": {"inService": True, "existingSecret": "a"}}}, "config": "root = 'vault'"},
        "store.keys.masterKey: either inService or existingSecret",
    ),
    (
        {"store": {"keys": {"masterKey": {"inService": True}}}},
        "store.keys.masterKey.inService: config must name the service, [keys] root",
    ),
    (
        {"store": {"engine": "postgres"}},
        "store.postgres.url.existingSecret: name the secret with the workers' URL of PostgreSQL",
    ),
    (
        merged(POSTGRES, {"store": {"keys": {"url": {"existingSecret": ""}}}}),
        "store.keys.url.existingSecret: with PostgreSQL the patients' keys are in a database of their own; name the secret with its URL",
    ),
    (
        merged(POSTGRES, {"store": {"keys": {"masterKey": {"existingSecret": ""}}}}),
        "store.keys.masterKey: with PostgreSQL name a secret (existingSecret) or a key service (inService); a volume would tie all pods to one node",
    ),
    (
        merged(POSTGRES, {"store": {"postgres": {"migrateUrl": {"existingSecret": ""}}}}),
        "store.postgres.migrateUrl.existingSecret: the migration Job needs the URL of a member of anamnesis_owner; or migration.enabled=false",
    ),
    (
        merged(POSTGRES, {"spool": {"place": "store"}}),
        "spool.place: with PostgreSQL there is no volume of the store; use volume or none",
    ),
    ({"store": {"postgres": {"url": {"existingSecret": "a"}}}}, "store.postgres: only with store.engine=postgres"),
    ({"store": {"keys": {"url": {"existingSecret": "a"}}}}, "store.keys.url: only with store.engine=postgres"),
    (
        merged(POSTGRES, {"migration": {"backup": {"done": True, "existingClaim": "a"}}}),
        "migration.backup: either done or existingClaim",
    ),
    (
        {"broker": {"url": {"existingSecret": "a"}}},
        "broker.url: no producer is bound; give [[intake.producers]] in config (docs/producers/README.md), or unbound_producers for a trial",
    ),
    (
        merged(POSTGRES, {"autoscaling": {"mode": "hpa"}}),
        "autoscaling.mode: without broker.url there is no queue whose length could be followed",
    ),
    (
        merged(POSTGRES, BROKER, {"autoscaling": {"mode": "hpa", "minReplicas": 20}}),
        "autoscaling: minReplicas is greater than maxReplicas",
    ),
    (
        merged(POSTGRES, BROKER, {"autoscaling": {"mode": "hpa", "minReplicas": 0}}),
        "autoscaling.minReplicas: a HorizontalPodAutoscaler keeps at least one worker; KEDA can go to 0",
    ),
    (
        merged(POSTGRES, BROKER, {"autoscaling": {"mode": "keda", "minReplicas": 0}}),
        "autoscaling.minReplicas: without a worker no job is started; use scheduler.mode=cronjob or hourly",
    ),
    (
        merged(POSTGRES, BROKER, {"autoscaling": {"mode": "keda"}, "config": "unbound_producers = 'allow'\n[broker]\nprefix = 'x'"}),
        "broker.prefix: policies and autoscaling name the queues by it; set it here, not in config",
    ),
    (
        {"broker": {"topology": {"apply": True}}},
        "broker.topology.apply, broker.policies.apply: without broker.url there is no broker to prepare",
    ),
    (
        merged(BROKER, {"broker": {"policies": {"apply": True}}}),
        "broker.policies.apply: policies are set by the management API; name its secret in broker.managementUrl.existingSecret",
    ),
    (
        merged(BROKER, {"broker": {"policies": {"apply": True}, "managementUrl": {"existingSecret": "a"}}}),
        "broker.policies.image.repository: name an image that has sh, sed and curl",
    ),
    (
        merged(POSTGRES, {"worker": {"replicas": 2}, "podDisruptionBudget": {"minAvailable": 2}}),
        "podDisruptionBudget.minAvailable: as many as there are workers; no node could be drained",
    ),
    (
        {"serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}},
        "serviceMonitor, podMonitor: either of them; both would count every series twice",
    ),
    (
        {"certificates": {"files": {"broker": "ca.crt"}}},
        "certificates.files.broker: name a secret or ConfigMap that holds ca.crt",
    ),
    ({"lexicons": {"existingConfigMap": "a", "files": {"b.tsv": "x"}}}, "lexicons: either existingConfigMap or files"),
    (
        {"lexicons": {"existingConfigMap": "a"}},
        'lexicons: config names none of them; set [extraction] lexicons = ["/etc/anamnesis-lexicons/NAME"]',
    ),
    (
        {"scheduler": {"mode": "hourly"}, "jobs": "none"},
        "scheduler.mode: no job is enabled, so that nothing would ever run",
    ),
    (
        merged(BROKER, {"broker": {"policies": {"apply": True, "image": {"repository": "curl"}}, "managementUrl": {"existingSecret": "a"}}}),
        "broker.policies.image: give a tag or a digest",
    ),
    (
        {"tests": {"readiness": {"enabled": True, "image": {"repository": "curl"}}}},
        "tests.readiness.image: give a tag or a digest",
    ),
    ({"tests": {"readiness": {"enabled": True}}}, "tests.readiness.image.repository: name an image that has curl"),
]


def helm(*arguments: str, values: dict | None = None) -> subprocess.CompletedProcess:
    given = ["--values", "-"] if values is not None else []
    text = json.dumps(values) if values is not None else None
    return subprocess.run([HELM, *arguments, *given], input=text, capture_output=True, text=True)


def documents_of(text: str) -> list[dict]:
    return [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]


def render(*arguments: str, values: dict | None = None, chart: pathlib.Path = CHART) -> list[dict]:
    done = helm("template", "release", str(chart), *arguments, values=values)
    if done.returncode:
        problems.append(f"helm template {' '.join(arguments)}: {done.stderr.strip()}")
        return []
    return documents_of(done.stdout)


def pods(documents: list[dict]):
    """Each pod with its labels and the name of what makes it."""
    for document in documents:
        name = f"{document['kind']}/{document['metadata']['name']}"
        if document["kind"] in ("Deployment", "Job"):
            template = document["spec"]["template"]
        elif document["kind"] == "CronJob":
            template = document["spec"]["jobTemplate"]["spec"]["template"]
        elif document["kind"] == "Pod":
            template = document
        else:
            continue
        yield name, template["metadata"]["labels"]["app.kubernetes.io/component"], template["spec"]


def containers(pod: dict) -> list[dict]:
    return pod.get("initContainers", []) + pod["containers"]


def own(pod: dict) -> list[dict]:
    """The containers that run the program itself."""
    return [container for container in containers(pod) if "command" not in container]


def environment(container: dict) -> dict[str, str]:
    return {entry["name"]: entry.get("value", "") for entry in container.get("env", [])}


def restricted(where: str, pod: dict):
    """Kubernetes' "restricted" pod security standard, and a read-only root."""
    context = pod["securityContext"]
    wanted = [
        (context.get("runAsNonRoot") is True, "runAsNonRoot"),
        (context.get("runAsUser") == 65532, "runAsUser 65532"),
        (context.get("seccompProfile", {}).get("type") == "RuntimeDefault", "seccomp RuntimeDefault"),
        (pod.get("automountServiceAccountToken") is False, "no service account token"),
        (not any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")), "no namespace of the host"),
        ("sysctls" not in context and "seLinuxOptions" not in context, "no sysctls, no SELinux options"),
    ]
    for volume in pod.get("volumes", []):
        kinds = set(volume) - {"name"}
        wanted.append((kinds <= VOLUMES, f"volumes of the standard: {kinds}"))
        for kind in kinds & {"secret", "projected"}:
            wanted.append((volume[kind].get("defaultMode") == 0o440, f"mode 0440 of {volume['name']}"))
    for container in containers(pod):
        inside = container["securityContext"]
        wanted += [
            (inside.get("allowPrivilegeEscalation") is False, "no privilege escalation"),
            (inside.get("readOnlyRootFilesystem") is True, "read-only root"),
            (inside.get("capabilities") == {"drop": ["ALL"]}, "no capabilities"),
            (not inside.get("privileged") and "procMount" not in inside, "no privileges"),
            (not any("hostPort" in port for port in container.get("ports", [])), "no port of the host"),
            ("memory" in container["resources"].get("limits", {}), "a memory limit"),
            ("cpu" in container["resources"].get("requests", {}), "a CPU request"),
        ]
    problems.extend(f"{where}: missing {what}" for ok, what in wanted if not ok)


def mounted(where: str, pod: dict):
    """Every mount has its volume and every volume its mount."""
    volumes = [volume["name"] for volume in pod.get("volumes", [])]
    mounts = {mount["name"] for container in containers(pod) for mount in container.get("volumeMounts", [])}
    if len(volumes) != len(set(volumes)) or set(volumes) != mounts:
        problems.append(f"{where}: volumes {sorted(volumes)}, mounts {sorted(mounts)}")


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


def configured(scenario: str, documents: list[dict], known: set[tuple]):
    """The keys that the chart sets, in the file and by environment, exist."""
    for document in documents:
        if document["kind"] == "ConfigMap" and "anamnesis.toml" in document["data"]:
            for key in keys(tomllib.loads(document["data"]["anamnesis.toml"])):
                if key not in known:
                    problems.append(f"{scenario}: the configuration has no key {'.'.join(key)}")
    for where, _, pod in pods(documents):
        for variable in {name for container in own(pod) for name in environment(container)}:
            if variable.startswith("ANAMNESIS__"):
                key = tuple(part.lower() for part in variable.split("__")[1:])
                if key not in known:
                    problems.append(f"{scenario}: {where}: {variable} names no configuration key")


def verbs(scenario: str, documents: list[dict]):
    """The verbs that pods run are verbs of the program."""
    for where, _, pod in pods(documents):
        for container in own(pod):
            verb, *rest = container["args"]
            places = [pathlib.Path(f"src/cli/{verb}.rs"), pathlib.Path(f"src/cli/{verb}/mod.rs")]
            sources = [path.read_text() for path in places if path.exists()]
            sub = rest[0] if rest and not rest[0].startswith("-") else None
            if not sources or (sub and not re.search(rf"^    {sub.capitalize()}\b", sources[0], re.MULTILINE)):
                problems.append(f"{scenario}: {where}: the program has no verb {verb} {sub or ''}")


@functools.cache
def definitions(version: str):
    text = schemas.schema_contents(f"kubernetes-json-schema/v{version}.0-local-strict/_definitions.json", version)
    return referencing.Resource.from_contents(text)


@functools.cache
def validator(version: str, kind: str, api: str):
    """Kubernetes' strict schema of a kind. Made once: it is large, and there are many objects."""
    group = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", api)
    name = f"kubernetes-json-schema/v{version}.0-local-strict/{kind.lower()}-{group}.json"
    schema = schemas.schema_contents(name, version)
    registry = definitions(version) @ (referencing.Resource.from_contents(schema) @ referencing.Registry())
    return jsonschema.validators.Draft202012Validator(schema, registry=registry)


judged: set[str] = set()


def valid(where: str, documents: list[dict]):
    seen = set()
    for document in documents:
        name = f"{where}: {document['kind']}/{document['metadata']['name']}"
        if name in seen:
            problems.append(f"{name}: twice")
        seen.add(name)
        if len(document["metadata"]["name"]) > (52 if document["kind"] == "CronJob" else 63):
            problems.append(f"{name}: the name is too long")
        for key, label in document["metadata"].get("labels", {}).items():
            if len(label) > 63:
                problems.append(f"{name}: the label {key} is too long")
        text = json.dumps(document, sort_keys=True)
        if text in judged:
            continue
        judged.add(text)
        if document["kind"] in CUSTOM:
            if unknown := set(document["spec"]) - CUSTOM[document["kind"]]:
                problems.append(f"{name}: unknown fields {unknown}")
            continue
        for version in VERSIONS:
            for error in validator(version, document["kind"], document["apiVersion"]).iter_errors(document):
                path = ".".join(str(part) for part in error.path)
                problems.append(f"{name}: Kubernetes {version}: {path}: {error.message}")


def policies_of_jobs() -> dict[str, dict]:
    return {path.stem: tomllib.loads(path.read_text()) for path in pathlib.Path("jobs").glob("*.toml")}


def scheduled():
    """In each of the three modes every job is offered by exactly one: the workers, its CronJob, or the one for all."""
    shipped = policies_of_jobs()
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    if set(values["jobs"]) != set(shipped):
        problems.append(f"values.yaml has the jobs {sorted(values['jobs'])}, the product has {sorted(shipped)}")
    for name, job in values["jobs"].items():
        if job["schedule"] != shipped.get(name, {}).get("schedule"):
            problems.append(f"jobs.{name}.schedule: the policy's hour is {shipped.get(name, {}).get('schedule')}")
    for mode, pods_of_jobs in [("embedded", 0), ("cronjob", len(shipped)), ("hourly", 1)]:
        documents = render("--set", f"scheduler.mode={mode}")
        crons = [document for document in documents if document["kind"] == "CronJob"]
        if len(crons) != pods_of_jobs:
            problems.append(f"scheduler.mode={mode} renders {len(crons)} CronJobs")
        offered = []
        for cron in crons:
            spec = cron["spec"]
            if spec["concurrencyPolicy"] != "Forbid" or not spec["timeZone"]:
                problems.append(f"{cron['metadata']['name']}: wants Forbid and a time zone")
            inside = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"]
            offered += [container["args"] for container in inside]
        if crons and sorted(offered) != sorted(["job", "run", name] for name in shipped):
            problems.append(f"scheduler.mode={mode} runs {sorted(offered)}, the product has {sorted(shipped)}")


def worker(scenario: str, documents: list[dict], values: dict):
    postgres = values["store"]["engine"] == "postgres"
    scaled = values["autoscaling"]["mode"] != "none"
    for document in documents:
        if document["kind"] != "Deployment":
            continue
        spec, pod = document["spec"], document["spec"]["template"]["spec"]
        container = pod["containers"][0]
        if pod["terminationGracePeriodSeconds"] < drain() + 5:
            problems.append(f"{scenario}: the grace period is not longer than the drain")
        for probe, path in [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]:
            if container[probe]["httpGet"]["path"] != path:
                problems.append(f"{scenario}: {probe} asks {container[probe]['httpGet']['path']}")
        if spec["strategy"]["type"] != ("RollingUpdate" if postgres else "Recreate"):
            problems.append(f"{scenario}: the strategy is {spec['strategy']['type']}")
        if ("replicas" in spec) == scaled:
            problems.append(f"{scenario}: either an autoscaler or the values give the number of workers")
        if ("topologySpreadConstraints" in pod) != postgres:
            problems.append(f"{scenario}: several workers are spread, one is not")
    scalers = [d["kind"] for d in documents if d["kind"] in ("ScaledObject", "HorizontalPodAutoscaler")]
    if len(scalers) != scaled:
        problems.append(f"{scenario}: the autoscalers are {scalers}")


def policies(scenario: str, documents: list[dict]):
    """A policy that replaces a shipped one has the same keys."""
    for document in documents:
        if document["kind"] != "ConfigMap" or not document["metadata"]["name"].endswith("-jobs"):
            continue
        for file, text in document["data"].items():
            shipped = tomllib.loads(pathlib.Path("jobs", file).read_text())
            if set(keys(tomllib.loads(text))) != set(keys(shipped)):
                problems.append(f"{scenario}: the policy {file} has other keys than the shipped one")


def ticking(scenario: str, documents: list[dict]):
    """Either the workers plan the jobs or CronJobs do."""
    jobs = any(document["kind"] == "CronJob" for document in documents)
    for where, _, pod in pods(documents):
        for container in own(pod):
            scheduler = environment(container)["ANAMNESIS__JOBS__SCHEDULER"]
            if scheduler != ("false" if jobs else "true"):
                problems.append(f"{scenario}: {where}: jobs.scheduler is {scheduler} although there are {'' if jobs else 'no '}CronJobs")


def waiting(scenario: str, documents: list[dict], values: dict):
    """Over PostgreSQL, workers and jobs wait for the schema, and one Job before them brings it."""
    if values["store"]["engine"] != "postgres":
        return
    for where, component, pod in pods(documents):
        first = containers(pod)[0]["args"]
        if component in ("worker", "job") and first[:2] != ["migrate", "wait"]:
            problems.append(f"{scenario}: {where} does not wait for the schema")
    migrating = [where for where, component, _ in pods(documents) if component == "migration"]
    if len(migrating) != values["migration"]["enabled"]:
        problems.append(f"{scenario}: migrated by {migrating}")


def secret(scenario: str, documents: list[dict]):
    """No secret is in an environment, and each pod has only the files of its work."""
    for where, component, pod in pods(documents):
        for container in containers(pod):
            for entry in container.get("env", []):
                if "secretKeyRef" in entry.get("valueFrom", {}):
                    problems.append(f"{scenario}: {where}: the secret {entry['name']} is in the environment")
                holders = HOLDERS.get(entry["name"])
                if holders and component not in holders:
                    problems.append(f"{scenario}: {where}: {component} has {entry['name']}")


def hooked(scenario: str, documents: list[dict]):
    """What a hook mounts exists before the release: it is made elsewhere, or is a hook of a smaller weight."""
    made = {}
    for document in documents:
        annotations = document["metadata"].get("annotations", {})
        weight = int(annotations["helm.sh/hook-weight"]) if "pre-install" in annotations.get("helm.sh/hook", "") else None
        made[document["kind"], document["metadata"]["name"]] = weight
    for where, component, pod in pods(documents):
        if component not in ("migration", "topology"):
            continue
        kind, name = where.split("/")
        used = [("ServiceAccount", pod["serviceAccountName"])]
        for volume in pod["volumes"]:
            used += [("ConfigMap", volume["configMap"]["name"])] if "configMap" in volume else []
            used += [("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"])] if "persistentVolumeClaim" in volume else []
        for one in used:
            if one in made and (made[one] is None or made[one] >= made[kind, name]):
                problems.append(f"{scenario}: {where} uses {one}, which is not there yet")


def opened(scenario: str, documents: list[dict], values: dict):
    """The network policies let out exactly what the values name, to each pod of the release."""
    network, broker = values["networkPolicy"], values["broker"]
    made = [document["spec"] for document in documents if document["kind"] == "NetworkPolicy"]
    if not network["enabled"]:
        if made:
            problems.append(f"{scenario}: network policies although they are off")
        return

    def rules(ports: list, to: list) -> set[tuple]:
        peers = [json.dumps(peer, sort_keys=True) for peer in to] or ["anywhere"]
        return {(*port, peer) for port in ports for peer in peers}

    def tcp(*numbers: int) -> list:
        return [("TCP", number) for number in numbers]

    common = rules([(protocol, port) for port in network["dns"]["ports"] for protocol in ("TCP", "UDP")], network["dns"]["to"])
    if values["store"]["engine"] == "postgres":
        common |= rules(tcp(values["store"]["postgres"]["port"]), network["database"]["to"])
        common |= rules(tcp(values["store"]["keys"]["url"]["port"]), network["keys"]["to"])
    common |= rules(tcp(*network["collector"]["ports"]), network["collector"]["to"])
    for provider in network["providers"]:
        common |= rules(tcp(*provider["ports"]), provider["to"])
    for rule in network["egress"]:
        common |= rules([(port["protocol"], port["port"]) for port in rule["ports"]], rule.get("to", []))
    to_broker = set()
    if broker["url"]["existingSecret"]:
        to_broker |= rules(tcp(broker["port"]), network["broker"]["to"])
        if broker["managementUrl"]["existingSecret"]:
            to_broker |= rules(tcp(broker["managementPort"]), network["broker"]["to"])
    selector = {"app.kubernetes.io/name": "anamnesis", "app.kubernetes.io/instance": "release"}
    to_worker = rules(tcp("http"), [{"podSelector": {"matchLabels": {**selector, "app.kubernetes.io/component": "worker"}}}])
    wanted = {
        "worker": common | to_broker, "job": common, "test": common | to_broker | to_worker,
        "migration": common, "topology": common | to_broker,
    }
    preparing = broker["topology"]["apply"] or broker["policies"]["apply"]
    for where, component, _ in pods(documents):
        labels = {**selector, "app.kubernetes.io/component": component}
        found: set[tuple] = set()
        incoming = 0
        for spec in made:
            chosen = spec["podSelector"]
            named = [e for e in chosen.get("matchExpressions", []) if labels[e["key"]] not in e["values"]]
            if named or any(labels.get(key) != value for key, value in chosen["matchLabels"].items()):
                continue
            incoming += len(spec.get("ingress", []))
            for rule in spec.get("egress", []):
                found |= rules([(port["protocol"], port["port"]) for port in rule["ports"]], rule.get("to", []))
        # The policy of hooks is one for both Jobs.
        expected = wanted[component] | (to_broker if component == "migration" and preparing else set())
        if found != expected:
            problems.append(f"{scenario}: {where} is let out to {sorted(map(str, found ^ expected))}, which is not as the values say")
        if incoming != (component == "worker"):
            problems.append(f"{scenario}: {where} lets in {incoming} rules")


def limits(documents: list[dict]):
    """The policies that the Job sets are those of deploy/rabbitmq/definitions.json, and its script sets them."""
    shipped = json.loads(pathlib.Path("deploy/rabbitmq/definitions.json").read_text())["policies"]
    shipped = {policy["name"]: {k: v for k, v in policy.items() if k not in ("name", "vhost")} for policy in shipped}
    data = next(d["data"] for d in documents if d["kind"] == "ConfigMap" and d["metadata"]["name"].endswith("-rabbitmq"))
    made = {name.removesuffix(".json"): json.loads(text) for name, text in data.items() if name.endswith(".json")}
    if made != shipped:
        problems.append(f"the policies of the Job are {made}, the product's are {shipped}")
    if not shutil.which("curl"):
        problems.append("curl is not installed, so that the script of RabbitMQ's policies cannot be run: install it (on Debian: apt-get install curl)")
        return
    got = []

    class Management(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, self.headers["authorization"], json.loads(body)))
            self.send_response(204 if len(got) > 1 else 503)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Management)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in data.items():
            pathlib.Path(folder, name).write_text(text)
        # A slash at the end, a line feed after it, and a password with percent-encoded signs.
        address = pathlib.Path(folder, "url")
        address.write_text(f"http://operator:a%22b%5Cc@127.0.0.1:{server.server_port}/\n")
        given = {**os.environ, "POLICIES": folder, "MANAGEMENT_URL_FILE": str(address), "VHOST": "a/b", "no_proxy": "*"}
        done = subprocess.run(["sh", f"{folder}/apply.sh"], env=given, capture_output=True, text=True, timeout=60)
    server.shutdown()
    # The first answer was 503 and is asked again.
    asked = {path.rsplit("/", 1)[1]: body for path, _, body in got}
    paths = {path.rsplit("/", 1)[0] for path, _, _ in got}
    if done.returncode or asked != shipped or paths != {"/api/policies/a%2Fb"} or len(got) != 3:
        problems.append(f"the script of policies asked {got}: {done.stdout}{done.stderr}")
    if {header for _, header, _ in got} != {"Basic b3BlcmF0b3I6YSJiXGM="}:
        problems.append("the script of policies logs in as another user than the address says")


def mount_of(path: str, mounts: dict[str, str]) -> str:
    """What is mounted where a path lies: the longest mount point that contains it."""
    inside = [point for point in mounts if path == point or path.startswith(point.rstrip("/") + "/")]
    return mounts[max(inside, key=len)] if inside else f"{path}, which is no volume"


def apart(where: str, settings: dict[str, str], mounts: dict[str, str], service: bool, parts: dict[str, str] = APART):
    """Store, keys and root key lie on three volumes, or the root key in a service; never in the environment."""
    if "ANAMNESIS__STORE__MASTER_KEY" in settings:
        problems.append(f"{where}: the root key is in the environment")
    wanted = {part: settings.get(name) for part, name in parts.items()}
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


def mounts_of(container: dict, pod: dict) -> dict[str, str]:
    volumes = {volume["name"]: json.dumps({k: v for k, v in volume.items() if k != "name"}) for volume in pod["volumes"]}
    return {mount["mountPath"]: volumes[mount["name"]] for mount in container.get("volumeMounts", [])}


def keys_apart(scenario: str, documents: list[dict], values: dict):
    text = "".join(d["data"].get("anamnesis.toml", "") for d in documents if d["kind"] == "ConfigMap" and not d["metadata"]["name"].endswith("-hook"))
    service = tomllib.loads(text).get("keys", {}).get("root", "local") != "local"
    # Over PostgreSQL, store and keys are in two databases; what is left is the root key's file.
    parts = {"root key": APART["root key"]} if values["store"]["engine"] == "postgres" else APART
    for where, component, pod in pods(documents):
        for container in own(pod):
            if component == "topology":
                if set(APART.values()) & set(environment(container)):
                    problems.append(f"{scenario}: {where} prepares the broker and has the store or its keys")
                continue
            apart(f"{scenario}: {where}", environment(container), mounts_of(container, pod), service, parts)


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
        for given in service.get("secrets", []):
            mounts[f"/run/secrets/{given['target']}"] = f"secret {given['source']}"
            if given["source"] not in document["secrets"]:
                problems.append(f"{path}: {name} names the secret {given['source']}, which is none")
        apart(f"{path}: {name}", image() | service.get("environment", {}), mounts, False)


def drain() -> int:
    source = pathlib.Path("src/shutdown.rs").read_text()
    return int(re.search(r"DRAIN: Duration = Duration::from_secs\((\d+)\)", source)[1])


def described():
    """values.yaml and its schema have the same keys, none accepts others, and the README's table is made from both."""
    schema = json.loads((CHART / "values.schema.json").read_text())

    def compare(values, schema: dict, path: str):
        if not isinstance(values, dict) or "properties" not in schema:
            return
        if schema.get("additionalProperties") is not False:
            problems.append(f"values.schema.json: {path or 'the top'} accepts unknown keys")
        # What Helm itself passes, and what the program's alerts leave out where they need no number.
        optional = {"global"} if not path else set()
        if unknown := set(values) - set(schema["properties"]):
            problems.append(f"values.schema.json does not know {path}: {sorted(unknown)}")
        if missing := set(schema["properties"]) - set(values) - optional:
            if not re.search(r"[pP]robe$|resources$|^prometheusRule", path):
                problems.append(f"values.yaml lacks {path}: {sorted(missing)}")
        for key, value in values.items():
            compare(value, schema["properties"].get(key, {}), f"{path}.{key}".lstrip("."))

    compare(yaml.safe_load((CHART / "values.yaml").read_text()), schema, "")
    made, missing = helm_readme.table()
    problems.extend(f"values.yaml: {path} has no comment" for path in missing)
    if not missing:
        is_, should = helm_readme.readme(made)
        if is_ != should:
            problems.append("helm/anamnesis/README.md is older than values.yaml: run scripts/helm_readme.py --write")


def refused():
    """Each set of values that must be refused is, and for its own reason."""
    none = {name: {"enabled": False} for name in policies_of_jobs()}

    def attempt(case: tuple[dict, str]) -> str | None:
        values, reason = case
        if values.get("jobs") == "none":
            values = {**values, "jobs": none}
        done = helm("template", "release", str(CHART), values=values)
        if done.returncode == 0:
            return f"accepted: {json.dumps(values)}"
        if reason in done.stderr:
            return None
        # The schema's path, in either of the two ways in which versions of Helm write it.
        parts = reason.split(".")
        if ": " not in reason and re.search(r"[./]".join(map(re.escape, parts)), done.stderr):
            return None
        return f"{json.dumps(values)} is refused for another reason than “{reason}”: {done.stderr.strip()[-600:]}"

    with concurrent.futures.ThreadPoolExecutor() as pool:
        problems.extend(found for found in pool.map(attempt, REFUSED) if found)
    old = helm("template", "release", str(CHART), "--kube-version", "1.26.0")
    if old.returncode == 0 or "1.27" not in old.stderr:
        problems.append("Kubernetes 1.26 is accepted")
    if len(REFUSED) < 20:
        problems.append(f"only {len(REFUSED)} sets of values that must be refused")


def kept(documents: list[dict]) -> dict:
    """What an upgrade must find as it was: names, fields that cannot be changed, and where data lies."""
    facts = {}
    for document in documents:
        kind, metadata, spec = document["kind"], document["metadata"], document.get("spec", {})
        fact: dict = {"apiVersion": document["apiVersion"]}
        annotations = metadata.get("annotations", {})
        # An object that becomes a hook is removed and made again.
        fact["hook"] = annotations.get("helm.sh/hook")
        fact["resource-policy"] = annotations.get("helm.sh/resource-policy")
        if kind == "Deployment":
            fact["selector"] = spec["selector"]
            pod = spec["template"]["spec"]
            settings = environment(pod["containers"][0])
            fact["settings"] = {name: settings.get(name) for name in [*APART.values(), "ANAMNESIS__HTTP__BIND"]}
            fact["claims"] = {m: v for m, v in mounts_of(pod["containers"][0], pod).items() if "claimName" in v}
            fact["ports"] = pod["containers"][0]["ports"]
        if kind == "Service":
            fact["service"] = {key: spec[key] for key in ("type", "selector", "ports")}
        if kind == "PersistentVolumeClaim":
            fact["claim"] = spec
        if kind == "PodDisruptionBudget":
            fact["selector"] = spec["selector"]
        facts[f"{kind}/{metadata['name']}"] = fact
    return facts


def upgraded():
    """The values of the version before still render, and its objects keep what an upgrade cannot change."""
    compared = 0
    for folder in sorted(path for path in BEFORE.iterdir() if path.is_dir()):
        before = json.loads((folder / "objects.json").read_text())
        for scenario, objects in before.items():
            now = kept(render("--values", str(folder / scenario)))
            for name, fact in objects.items():
                compared += 1
                if name not in now:
                    problems.append(f"upgrade from {folder.name}, {scenario}: {name} is gone")
                elif now[name] != fact:
                    changed = [key for key in fact if now[name].get(key) != fact[key]]
                    problems.append(f"upgrade from {folder.name}, {scenario}: {name} changes {changed}")
    if not compared:
        problems.append("no version before to compare with")
    return compared


def record(chart: pathlib.Path, folder: pathlib.Path):
    """Writes down what upgrades from a chart must keep, with the sets of values in the folder."""
    facts = {path.name: kept(render("--values", str(path), chart=chart)) for path in sorted(folder.glob("*-values.yaml"))}
    (folder / "objects.json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


# Configurations that the schema of `config` must refuse: one of each kind of mistake.
WRONG_CONFIGS = ['[intake]\nunbound = "allow"', '[log]\nformat = "xml"', '[pipeline]\nbatch_documents = "many"', '[brokr]\nurl = ""']


def of_config(scenario: str, config: str | dict, schema: dict):
    """The value `config`, read as TOML where it is a text, keeps the schema that the program's settings have."""
    table = tomllib.loads(config) if isinstance(config, str) else config
    for error in jsonschema.Draft202012Validator(schema).iter_errors(table):
        yield f"{scenario}: config: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"


def schema_of_config() -> dict:
    values = json.loads((CHART / "values.schema.json").read_text())
    schema = {**values["properties"]["config"]["anyOf"][0]["contentSchema"], "$defs": values["$defs"]}
    problems.extend(f"the schema of config takes {text!r}" for text in WRONG_CONFIGS if not list(of_config("", text, schema)))
    return schema


def scenario_of(path: pathlib.Path, known: set[tuple]) -> int:
    linted = helm("lint", "--strict", str(CHART), "--values", str(path))
    if linted.returncode:
        problems.append(f"{path.name}: {linted.stdout}{linted.stderr}")
    documents = render("--values", str(path))
    if not documents:
        return 0
    given = yaml.safe_load(path.read_text()) or {}
    values = merged(yaml.safe_load((CHART / "values.yaml").read_text()), given)
    name = path.name
    problems.extend(of_config(name, values["config"], SCHEMA_OF_CONFIG))
    valid(name, documents)
    configured(name, documents, known)
    verbs(name, documents)
    worker(name, documents, values)
    policies(name, documents)
    ticking(name, documents)
    waiting(name, documents, values)
    secret(name, documents)
    hooked(name, documents)
    if not given.get("fullnameOverride"):
        opened(name, documents, values)
    keys_apart(name, documents, values)
    for where, _, pod in pods(documents):
        restricted(f"{name}: {where}", pod)
        mounted(f"{name}: {where}", pod)
    if values["broker"]["policies"]["apply"]:
        limits(documents)
    return len(documents)


def of_page(known: set[tuple]) -> int:
    """The sets of values that a page shows are held to the same as those of ci."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    if len(blocks) < 2:
        problems.append(f"{PAGE}: no sets of values are found")
    base: dict = {}
    rendered = 0
    with tempfile.TemporaryDirectory() as folder:
        for n, block in enumerate(blocks, 1):
            values = yaml.safe_load(block)
            base = base if block.startswith(ADDITION) else values
            path = pathlib.Path(folder) / f"{PAGE.stem}-{n}-values.yaml"
            path.write_text(yaml.safe_dump(merged(base, values)))
            rendered += scenario_of(path, known)
    return rendered


def main():
    if sys.argv[2:3] == ["record"]:
        record(pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]))
        return
    known = reference()
    scenarios = sorted((CHART / "ci").glob("*-values.yaml"))
    rendered = sum(scenario_of(path, known) for path in scenarios) + of_page(known)
    refused()
    scheduled()
    described()
    compared = upgraded()
    compose()
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems or len(scenarios) < 8:
        sys.exit(1)
    print(
        f"helm chart: {rendered} objects from {len(scenarios)} sets of values and those of {PAGE}, Kubernetes {', '.join(VERSIONS)}; "
        f"{len(REFUSED)} bad sets of values refused; {compared} objects of the version before kept"
    )


SCHEMA_OF_CONFIG = schema_of_config()
main()
