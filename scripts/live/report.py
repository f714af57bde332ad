"""What became of a day: the ledger against the store, the objectives, the jobs, the alerts; as tables and as one object."""

import collections
import datetime
import json
import os
import pathlib
import re
import zoneinfo

from . import expectations, messages, producers, prometheus
from .scenario import FACTOR, GRACE, HOME, ORGS, START, WORKERS
from .stack import ROOT, Failed


def shown(instant):
    """Hour and minute where the day is at home."""
    return datetime.datetime.fromtimestamp(instant, HOME).strftime("%H:%M")


class Report:
    def __init__(self, day):
        self.day, self.broken = day, []
        self.stack, self.server, self.clock, self.ledger = day.stack, day.server, day.clock, day.ledger
        self.subscriber, self.incidents, self.began, self.ended = day.subscriber, day.incidents, day.began, day.ended

    def fault(self, text):
        self.broken.append(text)

    def messages(self):
        """The ledger of what was sent against what the store holds."""
        sent = self.ledger.sent.values()
        expected = self.ledger.expected()
        stored = collections.Counter()
        for document, _, rows in self.stack.sql("SELECT document_id, revision, count(*) FROM documents GROUP BY 1, 2"):
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
        found["documents_without_event"] = sum(document not in self.subscriber.indexed for document in documents)
        if found["documents_without_event"]:
            self.fault(f"{found['documents_without_event']} documents without an event")
        return found

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

    def quantity(self, expression):
        answer = prometheus.finite(self.server.instant(expression.replace("RANGE", prometheus.duration(self.ended - self.began)), self.ended))
        return answer[0][1][0][1] if answer else None

    def objectives(self):
        """Service level objectives of the overview over the whole run: name, value, objective, met."""
        lag = lambda q, queue: f'histogram_quantile({q}, sum by (le) (increase(anamnesis_queue_lag_seconds_bucket{{queue="{queue}"}}[RANGE])))'
        processed = 'sum(increase(anamnesis_messages_processed_total{%s}[RANGE]))'
        accepted = self.quantity(processed % 'outcome=~"stored|duplicate|ephemeral"' + " / " + processed % 'outcome!="retried"')
        failed = 'sum(increase(anamnesis_embedding_requests_total{outcome=~"transient|rate_limited|misconfigured|invalid_response"}[RANGE]))'
        embedded = self.quantity(f'1 - {failed} / sum(increase(anamnesis_embedding_requests_total{{outcome!="circuit_open"}}[RANGE]))')
        rows = [("messages accepted", accepted, ">=", 0.99, "ratio")]
        for queue in ("realtime", "bulk"):
            for q in (0.5, 0.95, 0.99):
                objective = 60 if (queue, q) == ("realtime", 0.95) else None
                rows.append((f"lag, {queue}, p{q * 100:g}", self.quantity(lag(q, queue)), "<=", objective, "s"))
        rows.append(("embedding requests that succeed", embedded, ">=", 0.99, "ratio"))
        rows.append(("oldest waiting event, most", self.quantity("max(max_over_time(anamnesis_outbox_oldest_seconds[RANGE]))"), "<=", 900, "s"))
        rows.append(("residual personal data", self.quantity("sum(increase(anamnesis_redaction_residual_pii_total[RANGE]))"), "<=", 0, "documents"))
        rows.append(("failed job runs", self.quantity('sum(sum_over_time(max by (job_name) (increase(anamnesis_job_runs_total{outcome="failed"}[1m]))[RANGE:1m]))'), "<=", 0, "runs"))
        deploy = next(one for one in self.incidents if one.name == "rolling deploy")
        ready = self.day.probes.between(self.clock.real_of(deploy.start), self.clock.real_of(deploy.end))
        rows.append(("workers ready during the deploy, fewest", min(ready), ">=", 2, "workers"))
        rows.append(("workers ready in the day, fewest", min(count for _, count in self.day.probes.seen), ">=", None, "workers"))
        for name, drained, _ in self.day.deploy:
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
        created = self.clock.instant_at(self.began) + 300
        last = self.clock.instant_at(self.ended)
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
        skipped = () if self.day.kills else ("PoisonMessages",)
        intervals = expectations.fired(self.server, self.clock, self.began, self.ended)
        rows = expectations.judged(intervals, self.incidents, skipped)
        for alert, severity, state, incident, start, _ in rows:
            if state == "missing":
                self.fault(f"alert {alert} did not fire ({incident})")
            if state == "unexpected" and severity == "page":
                self.fault(f"page {alert} at {shown(start)} is not explained")
        return rows

    def part(self, what):
        """A part of the report; where it cannot be had the others are."""
        try:
            return what()
        except (Failed, ArithmeticError, LookupError, ValueError, TypeError, OSError) as error:
            self.fault(f"{what.__name__}: {type(error).__name__}: {error}")
            return {} if what == self.messages else []

    def write(self):
        """Prints the tables and keeps everything in report.json."""
        found, objectives, runs, alerts = (self.part(one) for one in (self.messages, self.objectives, self.job_runs, self.judge))
        print("\n## Messages\n\n| what | count |\n|---|--:|")
        for key, value in found.items():
            print(f"| {key.replace('_', ' ')} | {', '.join(f'{k} {v}' for k, v in value.items()) or 0 if isinstance(value, dict) else value} |")
        print("\n## Objectives\n\n| objective | value | target | met |\n|---|--:|--:|---|")
        for name, value, sign, target, unit in objectives:
            text = "no data" if value is None else f"{value:.4f}" if unit == "ratio" else f"{value:.1f} {unit}"
            met = "" if target is None or value is None else "yes" if (value >= target if sign == ">=" else value <= target) else "no"
            print(f"| {name} | {text} | {'' if target is None else f'{sign} {target:g}'} | {met} |")
        print("\n## Jobs\n\n| job | runs due | done | latest end after its hour, min |\n|---|--:|--:|--:|")
        for job in sorted({row[0] for row in runs}):
            mine = [row for row in runs if row[0] == job]
            late = [(row[3] - row[2]) / 60 for row in mine if row[3]]
            print(f"| {job} | {len(mine)} | {sum(row[4] == 'done' for row in mine)} | {max(late, default=float('nan')):.1f} |")
        print("\n## Alerts\n\n| alert | severity | from | until | cause | judged |\n|---|---|---|---|---|---|")
        for alert, severity, state, incident, start, end in alerts:
            print(f"| {alert} | {severity} | {shown(start) if start else ''} | {shown(end) if end else ''} | {incident} | {state} |")
        incidents = [{"name": one.name, "from": shown(one.start), "until": shown(one.end), "start": one.start, "end": one.end} for one in self.incidents]
        whole = {
            "minutes": self.day.args.minutes, "factor": FACTOR, "workers": len(WORKERS), "organizations": len(ORGS), "messages": found,
            "objectives": [{"name": name, "value": value, "target": target, "unit": unit} for name, value, _, target, unit in objectives],
            "jobs": {"due": len(runs), "done": sum(row[4] == "done" for row in runs)},
            "alerts": dict(collections.Counter(row[2] for row in alerts)), "incidents": incidents,
            "worker_restarts": [(shown(self.clock.instant_at(at)), name, code) for at, name, code in self.stack.restarts],
            "load_average": os.getloadavg(), "broken": self.broken}
        out = pathlib.Path(self.day.args.out)
        out.mkdir(parents=True, exist_ok=True)
        (out / "report.json").write_text(json.dumps(whole, indent=1))
        return whole
