"""Starts private servers, a worker under load and a Prometheus that scrapes it, and asks Prometheus every query of the dashboards and
every series of the chart's alerts. Fails on an error and on an empty answer.

    scripts/check_dashboards.sh [PROGRAM] [--keep]

Series of Kubernetes and of certificates have a stand-in exporter, which the output names. RabbitMQ's are its own plugin's."""

import argparse
import collections
import datetime
import re
import sys
import threading
import time
import zoneinfo
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from live import messages, producers, prometheus
from live.clock import Clock
from live.readers import Readers
from live.stack import ROOT, Failed, Stack, free_port, say

ORGS = [messages.Organization("madrid", "Europe/Madrid", "es", 6), messages.Organization("leeds", "Europe/London", "en", 6)]
# An hour of each organisation: enough for a load of a few messages a second.
SHAPE = {"chat": 2400, "clinical_note": 1500, "session_transcript": 600, "analysis": 300, "intake_form": 300, "uploaded_document": 300,
         "signal": 600, "command": 900, "consent": 300, "profile": 300}
# Alerts that the load explains; any other must be silent.
EXPLAINED = {"EventRefused", "OrganizationMismatch", "ProducerNotPermitted", "WorkerMissing", "EmbeddingErrorBudgetFast", "EmbeddingErrorBudgetSlow",
             "EmbeddingCircuitOpen", "IngestLagHigh", "PoolExhausted", "RealtimeWaiting", "RedactionServiceFailing"}
# Servers, the first documents and the registration of the organisations come before the jobs.
BEFORE_JOBS, JOBS = 45, 25
SETTINGS = """
[worker]
spool = ""
store_stats_interval_seconds = 1
[audit]
seal_seconds = 5
[embedding.limits]
requests_per_minute = 1200
[extraction.llm]
url = "http://127.0.0.1:{provider}/v1"
model = "reader"
[[redaction.organizations]]
organization = "{leeds}"
presidio = "http://127.0.0.1:{provider}/presidio"
# A subscriber that wants no more of them.
[[broker.webhooks]]
url = "http://127.0.0.1:{provider}/callback"
secret = "a secret of sixteen or more"
events = ["memory.changed.v1"]
"""


def due_at(minute):
    """The jobs' policies, due at this minute (UTC, where organisations without a zone live), so that a worker runs them while it is
    watched."""
    at = datetime.datetime.fromtimestamp(minute * 60, datetime.UTC)
    found = {}
    for path in (ROOT / "jobs").glob("*.toml"):
        found[path.stem] = re.sub(r'^schedule = ".*"', f'schedule = "{at.minute} {at.hour} * * *"', path.read_text(), flags=re.M)
    return found


def kubernetes(port):
    """Series of kube-state-metrics, the kubelet and a certificate prober, as a cluster in order would have them."""
    now = time.time()
    labels = 'namespace="default"'
    lines = [
        f'kube_deployment_status_replicas_unavailable{{{labels},deployment="live-anamnesis-worker"}} 0',
        f'kube_job_failed{{{labels},job_name="live-anamnesis-decay-1",condition="true"}} 0',
        f'kube_job_status_start_time{{{labels},job_name="live-anamnesis-decay-1"}} {now:.0f}',
        f'kube_cronjob_status_last_successful_time{{{labels},cronjob="live-anamnesis-decay"}} {now:.0f}',
        f'kube_cronjob_created{{{labels},cronjob="live-anamnesis-decay"}} {now:.0f}',
        f'probe_ssl_earliest_cert_expiry{{instance="db.example.org:5432"}} {now + 90 * 86400:.0f}',
        *(f'kubelet_volume_stats_{kind}_bytes{{{labels},persistentvolumeclaim="live-anamnesis-{volume}"}} {value}'
          for kind, value in (("available", 7e9), ("capacity", 1e10)) for volume in ("data", "keys", "master-key")),
    ]
    body = ("\n".join(lines) + "\n").encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def load(stack, ledger):
    """Producers of two organisations."""
    known, running = messages.templates(), []
    for org in ORGS:
        writer = messages.Writer(org, stack.clock, 1, known)
        producer = producers.Producer(writer, stack, ledger, lambda _: SHAPE, zoneinfo.ZoneInfo(org.zone))
        producer.start()
        running.append(producer)
    return running


def refused(producer):
    """A counter that is scraped for the first time has no increase: what must be refused comes after the first scrape."""
    writer = producer.writer
    producer.also(writer.malformed(), writer.unknown_type(), writer.of_another(ORGS[1]), writer.not_permitted())


def ask(server, began):
    """Each query of the dashboards, answered or not; `(question, state, what)`."""
    shown, at = time.time() - began, time.time()
    for question in prometheus.questions():
        expression = prometheus.substituted(question.expression, server.interval, shown)
        try:
            # A panel draws its time; an annotation may be about any of it.
            answer = server.instant(expression, at) if question.instant else server.range(expression, began, at, 1)
        except Failed as error:
            yield question, "error", str(error)
            continue
        sound = prometheus.finite(answer)
        if not sound and question.place == "annotation Deploy" and server.instant("count(anamnesis_build_info)", at):
            yield question, "silent", "one build runs; its series are there"
        elif not sound:
            yield question, "empty", "no series" if not answer else "only NaN"
        elif all(value == 0 for _, points in sound for _, value in points):
            yield question, "zero", f"{len(sound)} series, all 0"
        else:
            yield question, "data", f"{len(sound)} series"


def alerts(server, helm):
    """Each alert: its expression is evaluated, and each selector in it has series."""
    on = [f"prometheusRule.exporters.{one}.enabled=true" for one in ("rabbitmq", "kubelet", "kubeStateMetrics")]
    on += ["prometheusRule.alerts.WorkerMissing.expected=3", "prometheusRule.exporters.certificates.source=blackbox"]
    seen = {}
    for mode in ("embedded", "cronjob"):
        for group in prometheus.chart_rules(helm, *on, f"scheduler.mode={mode}")["groups"]:
            for rule in group["rules"]:
                seen.setdefault(rule["alert"], rule["expr"])
    for name, expression in seen.items():
        try:
            firing = server.instant(expression, time.time())
            missing = [one for one in prometheus.selectors(expression) if not server.instant(f"count(last_over_time({one}[5m]))", time.time())]
        except Failed as error:
            yield name, "error", str(error)
            continue
        yield name, "empty" if missing else "firing" if firing else "silent", ", ".join(missing)


def checked(args, stack, server_of):
    stack.start()
    stack.start_worker("worker-0")
    stack.wait_ready("worker-0")
    exporter = free_port()
    kubernetes(exporter)
    broker = stack.broker_metrics.removeprefix("http://")
    server = server_of(stack, {
        "anamnesis": [f"127.0.0.1:{stack.workers['worker-0'][1]}/metrics"],
        "rabbitmq": [f"{broker}/metrics", f"{broker}/metrics/per-object"],
        "stand-in": [f"127.0.0.1:{exporter}/metrics"]})
    began = time.time()
    ledger = producers.Ledger()
    subscriber = producers.Subscriber(stack.broker_port)
    subscriber.start()
    running = load(stack, ledger)
    say("a worker under load …")
    time.sleep(8)
    refused(running[0])
    reading = Readers(stack, ORGS, 1)
    reading.start()
    reading.refused()
    time.sleep(5)
    reading.evaluate()
    # A provider and a redaction service that fail, and a worker that ends and is started again.
    stack.provider(fault="503", presidio="503")
    time.sleep(5)
    stack.provider(fault="none", presidio="none")
    stack.replace_worker("worker-0")
    refused(running[0])
    time.sleep(max(20, args.due + JOBS - time.time()))
    for producer in running:
        producer.stop()
    reading.stop()
    results = list(ask(server, began))
    rules = list(alerts(server, args.helm))
    subscriber.stop()
    return results, rules, ledger, server


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("prometheus")
    parser.add_argument("helm")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs")
    args = parser.parse_args()
    bindings = [one for org in ORGS for one in org.bindings()]
    minute = int(time.time() + BEFORE_JOBS) // 60 + 1
    args.due = minute * 60
    stack = Stack(args.program, Clock(), bindings, SETTINGS.replace("{leeds}", ORGS[1].id), due_at(minute), keep=args.keep)
    try:
        def server_of(stack, jobs):
            server = prometheus.Prometheus(args.prometheus, stack.folder, jobs)
            stack.processes.append(server.process)
            return server

        results, rules, ledger, _ = checked(args, stack, server_of)
    except Failed as error:
        sys.exit(f"error: {error}")
    finally:
        stack.stop()
    states = collections.Counter(state for _, state, _ in results)
    for question, state, what in results:
        if state == "silent":
            print(f"  {state}: {question.board}, {question.place}: {what}")
        if state in ("error", "empty"):
            print(f"error: {question.board}, {question.place}: {what}: {question.expression}")
        if state == "zero":
            print(f"  only 0: {question.board}, {question.place}")
    for name, state, what in rules:
        if state in ("error", "empty"):
            print(f"error: alert {name}: {'no series of ' if state == 'empty' else ''}{what}")
    fired = sorted(name.removeprefix("Anamnesis") for name, state, _ in rules if state == "firing")
    unexplained = [name for name in fired if name not in EXPLAINED]
    for name in unexplained:
        print(f"error: alert {name} would fire, which the load does not explain")
    boards = len(prometheus.dashboards())
    wrong = len(unexplained) + states["error"] + states["empty"] + sum(state in ("error", "empty") for _, state, _ in rules)
    print(f"dashboards: {boards}, {len(results)} queries answered by Prometheus: {states['data']} with values, {states['zero']} with 0 only, "
          f"{states['silent']} silent, {states['empty']} empty, {states['error']} errors; {len(ledger.sent)} messages sent")
    print(f"alerts: {len(rules)} expressions evaluated (would fire: {', '.join(fired) or 'none'}); series of Kubernetes and certificates came "
          f"from a stand-in exporter, RabbitMQ's from its plugin")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
