"""Which alerts a day with its incidents must raise, and which it may; what fired, from Prometheus."""

import dataclasses

HOUR, DAY = 3600, 86400


@dataclasses.dataclass
class Incident:
    name: str
    start: float = 0.0
    end: float = 0.0


@dataclasses.dataclass
class Rule:
    """An alert that may fire from the beginning of an incident until `tail` seconds after its end, and must where `must` says so."""

    alert: str
    incident: str
    tail: float
    must: bool


# An increase over an hour keeps an alert on for an hour after its cause.
RULES = [
    Rule("OrganizationMismatch", "forbidden producer", 1.2 * HOUR, True),
    Rule("ProducerNotPermitted", "forbidden producer", 1.2 * HOUR, True),
    Rule("EmbeddingErrorBudgetFast", "provider outage", 7 * HOUR, True),
    Rule("EmbeddingErrorBudgetSlow", "provider outage", 3 * DAY, False),
    Rule("EmbeddingCircuitOpen", "provider outage", 0.5 * HOUR, True),
    # The last delay queue holds a message for an hour.
    Rule("IngestLagHigh", "provider outage", 2 * HOUR, True),
    Rule("IngestStalled", "provider outage", 0.5 * HOUR, False),
    Rule("RealtimeWaiting", "provider outage", 0.5 * HOUR, False),
    Rule("IngestLagHigh", "broker restart", 1 * HOUR, False),
    Rule("IngestStalled", "broker restart", 0.5 * HOUR, False),
    Rule("RealtimeWaiting", "broker restart", 0.5 * HOUR, False),
    Rule("ConsumersMissing", "broker restart", 0.5 * HOUR, False),
    Rule("EventUndelivered", "broker restart", 0.5 * HOUR, False),
    Rule("PoisonMessages", "deadly message", 1.2 * HOUR, True),
    Rule("MessagesDeadLettered", "deadly message", 0.5 * HOUR, False),
    Rule("IngestLagHigh", "deadly message", 1 * HOUR, False),
    Rule("IngestLagHigh", "rolling deploy", 1 * HOUR, False),
]


def fired(server, clock, start, end, step=1.0):
    """`[(alert, severity, from, until)]` in the day's clock. The same alert of several workers or queues is one; so is one that rests
    for less than a quarter of an hour."""
    seen = {}
    for metric, points in server.range('ALERTS{alertstate="firing"}', start, end, step):
        key = metric["alertname"].removeprefix("Anamnesis"), metric.get("severity", "")
        seen.setdefault(key, set()).update(clock.instant_at(at) for at, _ in points)
    found = []
    for (name, severity), instants in seen.items():
        began = last = None
        for at in sorted(instants):
            if last is not None and at - last > HOUR / 4:
                found.append((name, severity, began, last))
                began = None
            began = at if began is None else began
            last = at
        found.append((name, severity, began, last))
    return sorted(found, key=lambda one: one[2])


def judged(intervals, incidents, skipped=()):
    """Rows `(alert, severity, state, incident, from, until)`: expected, allowed, unexpected or missing."""
    happened = {incident.name: incident for incident in incidents}
    rows, met = [], set()
    for alert, severity, start, end in intervals:
        fits = [rule for rule in RULES if rule.alert == alert and rule.incident in happened
                and happened[rule.incident].start - 60 <= start <= happened[rule.incident].end + rule.tail]
        fits.sort(key=lambda rule: not rule.must)
        if fits:
            met.add((alert, fits[0].incident))
        state = ("expected" if fits[0].must else "allowed") if fits else "unexpected"
        rows.append((alert, severity, state, fits[0].incident if fits else "", start, end))
    for rule in RULES:
        if rule.must and rule.incident in happened and (rule.alert, rule.incident) not in met and rule.alert not in skipped:
            rows.append((rule.alert, "", "missing", rule.incident, None, None))
    return rows
