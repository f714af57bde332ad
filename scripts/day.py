#!/usr/bin/env python3
"""A day in production, in an hour: PostgreSQL, RabbitMQ, Prometheus, three workers and the producers of four organisations. The workers'
clock and the windows of the alert rules run 24 times as fast. In the day: the jobs at their local hours, a forbidden producer, a rolling
deploy, an outage of the embedding provider, a restart of the broker, and a message that ends the process that works on it.

    scripts/day.py [--minutes M] [--program PATH] [--next PATH] [--out FOLDER] [--pictures FOLDER]

Fewer minutes are a shorter piece of the day at the same pace: 10 minutes are its first four hours, with all incidents in them. Ends with
tables of the service level objectives, the jobs and the alerts, and one JSON line. Exit code 1 if a promise was broken: a message lost,
stored twice or quarantined without cause, a job missed, an expected alert that did not fire, a page that nothing explains.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import zoneinfo

from live import expectations, messages, producers, prometheus
from live.clock import Clock
from live.expectations import Incident
from live.stack import ROOT, Failed, Stack, say, wait_for

FACTOR = 24
WORKERS = ["worker-0", "worker-1", "worker-2"]
HOME = zoneinfo.ZoneInfo("Europe/Madrid")
# A Tuesday, midnight in Madrid.
START = datetime.datetime(2026, 10, 6, tzinfo=HOME).timestamp()
ORGS = [
    messages.Organization("madrid", "Europe/Madrid", "es", 60),
    messages.Organization("mexico", "America/Mexico_City", "es", 40),
    messages.Organization("leeds", "Europe/London", "en", 50),
    messages.Organization("boston", "America/New_York", "en", 40),
]
# Where in the run an incident begins, and how many minutes of the day it lasts.
INCIDENTS = {"forbidden producer": 0.30, "rolling deploy": 0.45, "provider outage": 0.62, "broker restart": 0.75, "deadly message": 0.85}
OUTAGE = 25 * 60
# A job counts as missed that is not done so long after its local hour.
GRACE = 30 * 60
SETTINGS = f"""
[worker]
spool = ""
census_seconds = {300 // FACTOR}
[audit]
seal_seconds = 5
"""


def bump(hour, centre, width, height):
    distance = min(abs(hour - centre), 24 - abs(hour - centre))
    return height * max(0.0, 1 - distance / width)


def clinic(hour):
    """Notes around noon and in the late afternoon, sessions from nine to eight, little at night."""
    day = 1.0 if 8.5 <= hour < 20 else 0.04
    notes = bump(hour, 12, 3, 240) + bump(hour, 18, 2.5, 180)
    return {"clinical_note": notes + 4 * day, "session_transcript": 70 * day, "intake_form": 12 * day, "analysis": 10 * day, "uploaded_document": 8 * day,
            "chat": 50 * day + bump(hour, 21, 2, 120), "signal": 20, "command": 8 * day, "profile": 5 * day, "consent": 4 * day}


def chats(hour):
    """Bursts of chat at breakfast, lunch and in the evening."""
    return {"chat": 25 + bump(hour, 8, 1, 350) + bump(hour, 13, 1, 450) + bump(hour, 21, 2.5, 650), "signal": 60, "command": 12, "consent": 4,
            "clinical_note": 25 if 9 <= hour < 18 else 0, "profile": 4}


def hospital(hour):
    """An export of notes and uploads in the evening, a few sessions by day."""
    return {"clinical_note": bump(hour, 22, 1.5, 800) + (40 if 8 <= hour < 17 else 3), "uploaded_document": bump(hour, 22.5, 1, 150),
            "session_transcript": 45 if 8 <= hour < 18 else 0, "chat": 25 if 7 <= hour < 23 else 5, "signal": 20, "profile": 6 if 8 <= hour < 17 else 0,
            "command": 5}


SHAPES = {"madrid": clinic, "mexico": clinic, "leeds": chats, "boston": hospital}


def jobs():
    """The policies of the jobs. Work takes the machine's time, so that a lease, which is read on the fast clock, is as much longer."""
    found = {}
    for path in (ROOT / "jobs").glob("*.toml"):
        found[path.stem] = re.sub(r"^lease_seconds = (\d+)", lambda m: f"lease_seconds = {min(86400, int(m[1]) * FACTOR)}", path.read_text(), flags=re.M)
    return found


def rules(helm, clock):
    """The chart's rules for three workers, with windows, pauses and the present of the fast clock."""
    given = prometheus.chart_rules(helm, "prometheusRule.alerts.WorkerMissing.expected=3", "prometheusRule.exporters.rabbitmq.enabled=true")
    for group in given["groups"]:
        for rule in group["rules"]:
            rule["expr"] = prometheus.shrunk(rule["expr"], FACTOR, clock)
            rule["for"] = prometheus.duration(prometheus.seconds(str(rule["for"])) / FACTOR) if prometheus.seconds(str(rule["for"])) else "0s"
    return given


class Probes(threading.Thread):
    """How many workers are ready, twice a second."""

    def __init__(self, stack):
        super().__init__(daemon=True)
        self.stack, self.seen, self.over = stack, [], threading.Event()

    def run(self):
        while not self.over.wait(0.5):
            self.seen.append((time.time(), sum(self.stack.ready(name) for name in WORKERS)))

    def between(self, start, end):
        return [count for at, count in self.seen if start <= at <= end] or [0]


class Day:
    def __init__(self, args):
        self.args, self.incidents, self.report, self.broken = args, [], {}, []
        library = subprocess.run([ROOT / "scripts/faketime.sh"], stdout=subprocess.PIPE, text=True).stdout.strip()
        self.prometheus_program = prometheus.program()
        for what, found in (("libfaketime", library), ("Prometheus", self.prometheus_program)):
            if not found:
                raise Failed(f"{what} is neither installed nor to be had here: the day cannot be run")
        self.helm = prometheus.helm()
        self.clock = Clock(START, FACTOR, library)
        bindings = [one for org in ORGS for one in org.bindings()]
        self.stack = Stack(args.program, self.clock, bindings, SETTINGS, jobs(), durable=True, keep=args.keep)
        self.ledger, self.deploy = producers.Ledger(), []

    # The course of the day

    def start(self):
        stack = self.stack
        stack.start()
        for name in WORKERS:
            stack.start_worker(name, {"ANAMNESIS_DIE_OF": messages.DEADLY})
        for name in WORKERS:
            stack.wait_ready(name)
        stack.supervise()
        broker = stack.broker_metrics.removeprefix("http://")
        self.server = prometheus.Prometheus(
            self.prometheus_program, stack.folder,
            {"anamnesis": [f"127.0.0.1:{stack.workers[name][1]}/metrics" for name in WORKERS], "rabbitmq": [f"{broker}/metrics", f"{broker}/metrics/per-object"]},
            rules(self.helm, self.clock), lookback=15)
        stack.processes.append(self.server.process)
        self.subscriber = producers.Subscriber(stack.broker_port)
        self.subscriber.start()
        self.subscriber.bound.wait(20)
        self.probes = Probes(stack)
        self.probes.start()
        known = messages.templates()
        self.producers = {}
        for org in ORGS:
            writer = messages.Writer(org, self.clock, self.args.seed, known)
            self.producers[org.name] = producers.Producer(writer, stack, self.ledger, SHAPES[org.name], zoneinfo.ZoneInfo(org.zone), scale=self.args.load)
            # An organisation is registered by its first message.
            self.producers[org.name].also(writer.profile())
            self.producers[org.name].start()
        self.began = time.time()
        wait_for("the four organisations", lambda: len(stack.run("org", "list", "--output", "json").splitlines()) >= len(ORGS)
                 or stack.run("org", "list", "--output", "json").count("organization_id") >= len(ORGS), 30)
        for org in ORGS:
            stack.run("org", "set", "--org", org.id, "--time-zone", org.zone)
        # The day's first minutes went into the start; the run is counted from here.
        self.ends = self.began + self.args.minutes * 60

    def at(self, share):
        """Waits for a share of the run."""
        self.until(self.began + share * self.args.minutes * 60)

    def until(self, real):
        while time.time() < real:
            time.sleep(min(0.5, max(0.0, real - time.time())))

    def incident(self, name, act):
        self.at(INCIDENTS[name])
        one = Incident(name, self.clock.now())
        say(f"{self.shown(one.start)} {name}")
        self.incidents.append(one)
        act()
        one.end = self.clock.now()
        say(f"{self.shown(one.end)} {name}: over")

    def shown(self, instant):
        return datetime.datetime.fromtimestamp(instant, HOME).strftime("%H:%M")

    def forbidden(self):
        one, other = self.producers["madrid"], ORGS[1]
        writer = one.writer
        one.also(writer.of_another(other), writer.not_permitted(), writer.malformed(), writer.unknown_type())
        time.sleep(2)

    def rolling_deploy(self):
        for name in WORKERS:
            drained, ready = self.stack.replace_worker(name, self.args.next)
            self.deploy.append((name, drained, ready))
            time.sleep(3)

    def outage(self):
        self.stack.provider(fault="503")
        time.sleep(OUTAGE / FACTOR)
        self.stack.provider(fault="none")

    def broker_restart(self):
        # A node that is killed, and comes back when it has started.
        self.stack.restart_broker()

    def waiting(self, pattern, start, end):
        """How many messages waited in queues, each second."""
        answer = self.server.range(f'sum(rabbitmq_queue_messages_ready{{queue=~"{producers.PREFIX}.{pattern}"}})', start, end, 1)
        return answer[0][1] if answer else []

    def recovered(self, since, pattern):
        """Seconds from an instant until the queues are empty; `None` where they were not until the end."""
        for at, count in self.waiting(pattern, since + 3, self.ended):
            if count <= 5:
                return at - since
        return None

    def processing(self, since):
        """Seconds from an instant until a message of the broker is stored."""
        stored = 'sum(increase(anamnesis_messages_processed_total{queue=~"realtime|bulk", outcome="stored"}[3s]))'
        for _, points in self.server.range(stored, since + 1, since + 240, 1):
            for at, count in points:
                if count > 0:
                    return at - since
        return None

    def deadly(self):
        before = len(self.stack.restarts)
        self.producers["madrid"].also(self.producers["madrid"].writer.deadly())
        time.sleep(20)
        self.kills = len(self.stack.restarts) - before

    def run(self):
        self.start()
        say(f"{self.shown(self.clock.now())} the day begins; {self.args.minutes} minutes, {self.args.minutes * FACTOR / 60:g} hours of it")
        self.kills = 0
        for name, act in (("forbidden producer", self.forbidden), ("rolling deploy", self.rolling_deploy), ("provider outage", self.outage),
                          ("broker restart", self.broker_restart), ("deadly message", self.deadly)):
            self.incident(name, act)
        self.until(self.ends)
        say(f"{self.shown(self.clock.now())} the producers end")
        for one in self.producers.values():
            one.stop()
        self.settle()
        self.ended = time.time()

    def settle(self):
        """Until everything that was sent is worked and every event is delivered."""
        sent = sum(message.data.get("command") not in messages.QUESTIONS for message in self.ledger.sent.values())
        try:
            wait_for("the last message", lambda: self.worked() >= sent, 240, 2)
            wait_for("the last event", lambda: not self.stack.run("events", "list", "--output", "json").strip(), 60, 2)
        except Failed as error:
            say(f"error: {error}")
        time.sleep(2)

    def worked(self):
        return int(self.stack.sql("SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM quarantine)")[0][0])

    # What became of it

    def fault(self, text):
        self.broken.append(text)

    def messages(self):
        """The ledger of what was sent against what the store holds."""
        sent = self.ledger.sent.values()
        expected = self.ledger.expected()
        stored = collections.Counter()
        for document, revision, rows in self.stack.sql("SELECT document_id, revision, count(*) FROM documents GROUP BY 1, 2"):
            stored[document] += int(rows)
        inbox = {(org, kind): int(rows) for org, kind, rows in self.stack.sql("SELECT org_id, message_type, count(*) FROM inbox GROUP BY 1, 2")}
        aside = collections.Counter({reason: int(rows) for reason, rows in self.stack.sql("SELECT reason, count(*) FROM quarantine GROUP BY 1")})
        good = [message for message in sent if message.expected == "stored"]
        documents = [message.document for message in good if message.document]
        lost = [one for one in documents if not stored[one]]
        twice = [one for one, rows in stored.items() if rows > 1]
        # Words that a command keeps are a document of their own.
        added = sum(message.data.get("command") == "add" for message in good)
        foreign = max(0, len(set(stored) - set(documents)) - added)
        # A command that asks for something changes nothing: its answer is an event.
        asked = sum(message.data.get("command") in messages.QUESTIONS for message in good)
        answered = self.subscriber.types["rights.answered"]
        others = sum(not message.document for message in good) - asked
        kinds = sum(rows for (_, kind), rows in inbox.items() if "document" not in kind)
        refused = {reason: expected[reason] for reason in expected if reason != "stored"}
        innocent = sum((aside - collections.Counter(refused)).values())
        found = {"sent": len(sent), "sent_again": self.ledger.copies, "documents": len(documents), "documents_stored": len(stored), "lost": len(lost),
                 "stored_twice": len(twice), "stored_and_never_sent": foreign, "other_messages": others, "other_messages_processed": kinds,
                 "questions": asked, "answers": answered,
                 "quarantined": dict(aside), "quarantined_without_cause": innocent, "events": dict(self.subscriber.types), "events_received_again": self.subscriber.again}
        for key in ("lost", "stored_twice", "stored_and_never_sent", "quarantined_without_cause"):
            if found[key]:
                self.fault(f"{found[key]} messages {key.replace('_', ' ')}")
        for reason, count in refused.items():
            if aside[reason] < count:
                self.fault(f"{reason}: {count} sent, {aside[reason]} quarantined")
        if kinds != others:
            self.fault(f"{others} commands, signals, profiles and consents were sent, {kinds} processed")
        if answered < asked:
            self.fault(f"{asked - answered} questions have no answer")
        unseen = sum(document not in self.subscriber.indexed for document in documents)
        found["documents_without_event"] = unseen
        return found

    def quantity(self, expression):
        answer = prometheus.finite(self.server.instant(expression.replace("RANGE", prometheus.duration(self.ended - self.began)), self.ended))
        return answer[0][1][0][1] if answer else None

    def objectives(self):
        """Service level objectives of the overview over the whole run: name, value, objective, met."""
        lag = lambda q, queue: f'histogram_quantile({q}, sum by (le) (increase(anamnesis_queue_lag_seconds_bucket{{queue="{queue}"}}[RANGE])))'
        processed = 'sum(increase(anamnesis_messages_processed_total{%s}[RANGE]))'
        accepted = self.quantity(processed % 'outcome=~"stored|duplicate|ephemeral"' + " / " + processed % 'outcome!="retried"')
        failed = 'sum(increase(anamnesis_embedding_requests_total{outcome=~"transient|rate_limited|misconfigured|bad_answer"}[RANGE]))'
        embedded = self.quantity(f'1 - {failed} / sum(increase(anamnesis_embedding_requests_total{{outcome!="circuit_open"}}[RANGE]))')
        rows = [("messages accepted", accepted, ">=", 0.99, "ratio")]
        for queue in ("realtime", "bulk"):
            for q in (0.5, 0.95, 0.99):
                objective = 60 if (queue, q) == ("realtime", 0.95) else None
                rows.append((f"lag, {queue}, p{q * 100:g}", self.quantity(lag(q, queue)), "<=", objective, "s"))
        rows.append(("embedding requests that succeed", embedded, ">=", 0.99, "ratio"))
        rows.append(("oldest waiting event, most", self.quantity("max(max_over_time(anamnesis_outbox_oldest_seconds[RANGE]))"), "<=", 900, "s"))
        rows.append(("residual personal data", self.quantity("sum(increase(anamnesis_dlp_leak_guard_total[RANGE]))"), "<=", 0, "documents"))
        rows.append(("failed job runs", self.quantity('sum(increase(anamnesis_job_runs_total{outcome="failed"}[RANGE]))'), "<=", 0, "runs"))
        deploy = next(one for one in self.incidents if one.name == "rolling deploy")
        ready = self.probes.between(self.clock.real_of(deploy.start), self.clock.real_of(deploy.end))
        rows.append(("workers ready during the deploy, fewest", min(ready), ">=", 2, "workers"))
        rows.append(("workers ready in the day, fewest", min(count for _, count in self.probes.seen), ">=", None, "workers"))
        for name, drained, _ in self.deploy:
            rows.append((f"drain of {name}", drained, "<=", 10, "real s"))
        for one in self.incidents:
            if one.name in ("provider outage", "broker restart"):
                over = self.clock.real_of(one.end)
                rows.append((f"first message stored after the {one.name}", self.processing(over), "<=", 5, "real s"))
                rows.append((f"intake queues empty after the {one.name}", self.recovered(over, "ingest.+"), "<=", None, "real s"))
                rows.append((f"delay queues empty after the {one.name}", self.recovered(over, "retry.+"), "<=", None, "real s"))
        return rows

    def job_runs(self):
        """Each run of a job that was due in the day: `(job, organisation, due, finished, state)`."""
        seen = {}
        for line in self.stack.run("job", "history", "--limit", "10000", "--output", "json").splitlines():
            one = json.loads(line)
            seen[(one["job"], one["organization_id"], one["as_of"])] = one
        created = self.clock.of(self.began) + 300
        last = self.clock.of(self.ended)
        rows = []
        for path in sorted((ROOT / "jobs").glob("*.toml")):
            minute, hour = map(int, re.search(r'^schedule = "(\d+) (\d+) ', path.read_text(), re.M).groups())
            for org in ORGS:
                zone = zoneinfo.ZoneInfo(org.zone)
                for offset in (-1, 0, 1):
                    day = (datetime.datetime.fromtimestamp(START, zone) + datetime.timedelta(days=offset)).date()
                    due = datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone).timestamp()
                    if not created < due < last - GRACE:
                        continue
                    found = seen.get((path.stem, org.id, str(day)))
                    finished = datetime.datetime.fromisoformat(found["finished_at"]).timestamp() if found and found["finished_at"] else None
                    state = found["state"] if found else "missed"
                    rows.append((path.stem, org.name, due, finished, state))
                    if state != "done" or finished - due > GRACE:
                        self.fault(f"job {path.stem} of {org.name}: {state}")
        return rows

    def judge(self):
        skipped = () if self.kills else ("PoisonMessages",)
        intervals = expectations.fired(self.server, self.clock, self.began, self.ended)
        rows = expectations.judged(intervals, self.incidents, skipped)
        for alert, severity, state, incident, start, _ in rows:
            if state == "missing":
                self.fault(f"alert {alert} did not fire ({incident})")
            if state == "unexpected" and severity == "page":
                self.fault(f"page {alert} at {self.shown(start)} is not explained")
        return rows

    def part(self, what):
        """A part of the report; where it cannot be had the others are."""
        try:
            return what()
        except (Failed, ArithmeticError, LookupError, ValueError, TypeError, OSError) as error:
            self.fault(f"{what.__name__}: {type(error).__name__}: {error}")
            return {} if what == self.messages else []

    def tell(self):
        found, objectives, runs, alerts = (self.part(one) for one in (self.messages, self.objectives, self.job_runs, self.judge))
        print(f"\n## Messages\n\n| what | count |\n|---|--:|")
        for key, value in found.items():
            print(f"| {key.replace('_', ' ')} | {', '.join(f'{k} {v}' for k, v in value.items()) or 0 if isinstance(value, dict) else value} |")
        print("\n## Objectives\n\n| objective | value | target | met |\n|---|--:|--:|---|")
        for name, value, sign, target, unit in objectives:
            shown = "no data" if value is None else f"{value:.4f}" if unit == "ratio" else f"{value:.1f} {unit}"
            met = "" if target is None or value is None else "yes" if (value >= target if sign == ">=" else value <= target) else "no"
            print(f"| {name} | {shown} | {'' if target is None else f'{sign} {target:g}'} | {met} |")
        print("\n## Jobs\n\n| job | runs due | done | latest end after its hour, min |\n|---|--:|--:|--:|")
        for job in sorted({row[0] for row in runs}):
            mine = [row for row in runs if row[0] == job]
            late = [(row[3] - row[2]) / 60 for row in mine if row[3]]
            print(f"| {job} | {len(mine)} | {sum(row[4] == 'done' for row in mine)} | {max(late, default=float('nan')):.1f} |")
        print("\n## Alerts\n\n| alert | severity | from | until | cause | judged |\n|---|---|---|---|---|---|")
        for alert, severity, state, incident, start, end in alerts:
            print(f"| {alert} | {severity} | {self.shown(start) if start else ''} | {self.shown(end) if end else ''} | {incident} | {state} |")
        incidents = [{"name": one.name, "from": self.shown(one.start), "until": self.shown(one.end), "start": one.start, "end": one.end} for one in self.incidents]
        self.report = {
            "minutes": self.args.minutes, "factor": FACTOR, "workers": len(WORKERS), "organizations": len(ORGS), "messages": found,
            "objectives": [{"name": name, "value": value, "target": target, "unit": unit} for name, value, _, target, unit in objectives],
            "jobs": {"due": len(runs), "done": sum(row[4] == "done" for row in runs)},
            "alerts": dict(collections.Counter(row[2] for row in alerts)), "incidents": incidents,
            "worker_restarts": [(self.shown(self.clock.of(at)), name, code) for at, name, code in self.stack.restarts],
            "load_average": os.getloadavg(), "broken": self.broken}
        out = pathlib.Path(self.args.out)
        out.mkdir(parents=True, exist_ok=True)
        (out / "report.json").write_text(json.dumps(self.report, indent=1))
        return self.report

    def pictures(self):
        """From the answers of this day's Prometheus."""
        out = pathlib.Path(self.args.out)
        what = "; ".join(f"{one['from']} {one['name']}" for one in self.report["incidents"])
        (out / "clock.json").write_text(json.dumps({"start": self.clock.start, "real": self.clock.real, "factor": FACTOR, "zone": HOME.key}))
        subprocess.run([sys.executable, ROOT / "scripts/dashboard_pictures.py", "--prometheus", self.server.url, "--from", str(self.began), "--to", str(self.ended),
                        "--clock", str(out / "clock.json"), "--save", str(out / "answers.json"), "--caption", f"Run of {datetime.date.today()}: {what}.", "--out", self.args.pictures or str(out)], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    parser.add_argument("--program", default=f"{target}/debug/anamnesis")
    parser.add_argument("--next", help="another build of the program, which the deploy brings")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--load", type=float, default=1.0, help="multiplies every producer's rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=f"{target}/day", help="folder of the report and of the answers behind the pictures")
    parser.add_argument("--pictures", help="folder of the pictures; without it that of --out")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs")
    args = parser.parse_args()
    if not 2 <= args.minutes <= 1440:
        parser.error("--minutes is 2 to 1440")
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit(130))
    day = None
    try:
        day = Day(args)
        day.run()
        report = day.tell()
        day.pictures()
    except Failed as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if day:
            for one in getattr(day, "producers", {}).values():
                one.over.set()
                one.closed.set()
            day.stack.stop()
    for fault in report["broken"]:
        print(f"error: {fault}")
    print(json.dumps({key: report[key] for key in ("minutes", "factor", "workers", "organizations", "jobs", "alerts", "worker_restarts", "broken")}
                     | {key: report["messages"].get(key) for key in ("sent", "documents", "lost", "stored_twice", "quarantined_without_cause")}))
    return 1 if report["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
