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

from live import messages, producers, prometheus
from live.clock import Clock
from live.expectations import Incident
from live.readers import Readers
from live.report import Report, shown
from live.scenario import FACTOR, HOME, INCIDENTS, ORGS, OUTAGE, SETTINGS, SHAPES, START, WORKERS
from live.stack import ROOT, Failed, Stack, say, wait_for


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
        self.args, self.incidents = args, []
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
        # Each read is a process, which costs more than what it reads: one in some seconds.
        self.readers = Readers(stack, ORGS, 10)
        self.readers.start()
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
        say(f"{shown(one.start)} {name}")
        self.incidents.append(one)
        act()
        one.end = self.clock.now()
        say(f"{shown(one.end)} {name}: over")

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

    def deadly(self):
        before = len(self.stack.restarts)
        self.producers["madrid"].also(self.producers["madrid"].writer.deadly())
        time.sleep(20)
        self.kills = len(self.stack.restarts) - before

    def run(self):
        self.start()
        say(f"{shown(self.clock.now())} the day begins; {self.args.minutes} minutes, {self.args.minutes * FACTOR / 60:g} hours of it")
        self.kills = 0
        self.at(0.2)
        self.readers.refused()
        self.readers.evaluate()
        for name, act in (("forbidden producer", self.forbidden), ("rolling deploy", self.rolling_deploy), ("provider outage", self.outage),
                          ("broker restart", self.broker_restart), ("deadly message", self.deadly)):
            self.incident(name, act)
        self.until(self.ends)
        say(f"{shown(self.clock.now())} the producers end")
        for one in self.producers.values():
            one.stop()
        self.readers.stop()
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

    def pictures(self):
        """From the answers of this day's Prometheus."""
        out = pathlib.Path(self.args.out)
        what = "; ".join(f"{shown(one.start)} {one.name}" for one in self.incidents)
        (out / "clock.json").write_text(json.dumps({"start": self.clock.start, "real": self.clock.real, "factor": FACTOR, "zone": HOME.key}))
        drawn = subprocess.run(
            [sys.executable, ROOT / "scripts/dashboard_pictures.py", "--prometheus", self.server.url, "--from", str(self.began), "--to", str(self.ended),
             "--clock", out / "clock.json", "--save", out / "answers.json", "--caption", f"Run of {datetime.date.today()}: {what}.",
             "--out", self.args.pictures or out], check=False)
        return drawn.returncode == 0


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
    # Workers run in folders of their own.
    args.next = args.next and str(pathlib.Path(args.next).resolve())
    if not 2 <= args.minutes <= 1440:
        parser.error("--minutes is 2 to 1440")
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit(130))
    day = None
    try:
        day = Day(args)
        day.run()
        report = Report(day).write()
        if not day.pictures():
            report["broken"].append("the pictures could not be drawn")
    except Failed as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if day:
            if hasattr(day, "readers"):
                day.readers.over.set()
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
