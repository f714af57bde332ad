"""What is sent: documents of samples/ and tests/data under new ids, commands, signals, profiles and consents; and the ledger of what was
sent, with the outcome that each message must have."""

import dataclasses
import json
import random
import uuid

from .stack import ROOT

SPACE = uuid.UUID("5b1f7f0e-7d0c-4d6a-9d43-0a4d50a1a001")
DOCUMENT = "anamnesis.document.submitted.v1"
COMMAND = "anamnesis.memory.command.v1"
SIGNAL = "anamnesis.health_signal.recorded.v1"
PROFILE = "anamnesis.profile.updated.v1"
CONSENT = "anamnesis.consent.recorded.v1"
REALTIME = {COMMAND, SIGNAL, PROFILE, CONSENT}
# Commands that change nothing and are answered by an event.
QUESTIONS = {"privacy_report", "export", "forget"}
DEADLY = "XYZZY-PLUGH"
# An organisation's two producers, under one user of the broker.
CHAT = {"types": [DOCUMENT, COMMAND, SIGNAL, CONSENT], "document_types": ["chat_message"], "roles": ["patient", "agent", "family"]}
RECORDS = {
    "types": [DOCUMENT, PROFILE, CONSENT, COMMAND],
    "document_types": ["session_transcript", "analysis", "intake_form", "clinical_note", "uploaded_document"],
    "roles": ["clinician", "patient", "family"],
}


@dataclasses.dataclass
class Organization:
    name: str
    zone: str
    language: str
    patients: int

    @property
    def id(self):
        return str(uuid.uuid5(SPACE, self.name))

    def source(self, kind):
        return f"urn:clinic:{self.name}:{kind}"

    def bindings(self):
        return [{"broker_user": self.name, "source": self.source(kind), "organizations": [self.id], **rights}
                for kind, rights in (("chat", CHAT), ("records", RECORDS))]

    def patient(self, at):
        return str(uuid.uuid5(SPACE, f"{self.name}/{at % self.patients}"))


@dataclasses.dataclass
class Message:
    id: str
    source: str
    kind: str
    data: dict
    time: str
    expected: str = "stored"
    body: bytes = b""
    document: str = ""

    def __post_init__(self):
        self.body = self.body or json.dumps(self.data, ensure_ascii=False).encode()
        self.document = self.data.get("document_id", "")

    @property
    def route(self):
        urgent = self.kind in REALTIME or self.data.get("document_type") == "chat_message"
        return f"{'realtime' if urgent else 'bulk'}.{self.kind}"

    @property
    def headers(self):
        given = {"specversion": "1.0", "id": self.id, "source": self.source, "type": self.kind, "time": self.time}
        if self.data.get("patient_id"):
            given["partitionkey"] = self.data["patient_id"]
        return {f"cloudEvents_{name}": value for name, value in given.items()}


def templates():
    """Documents by language (es, en) and type, without ids."""
    found = {}
    for path in sorted((ROOT / "samples").glob("*.ndjson")):
        for line in path.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            if "document_type" in data:
                found.setdefault((data["language"][:2], data["document_type"]), []).append(data)
    for path in [*sorted((ROOT / "tests/data/facts").glob("*.jsonl")), *sorted((ROOT / "tests/data/cold").glob("?.jsonl"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            given = json.loads(line)
            kind = given.get("type")
            if kind and (given.get("turns") or given.get("text")) and given.get("lang") in ("es", "en"):
                words = {"turns": given["turns"]} if given.get("turns") else {"text": given["text"]}
                found.setdefault((given["lang"], kind), []).append({"document_type": kind, "language": given["lang"], **words})
    return found


class Writer:
    """Makes messages of one organisation."""

    def __init__(self, org, clock, seed, known=None):
        self.org, self.clock, self.known = org, clock, known or templates()
        self.random = random.Random(f"{seed}/{org.name}")
        self.count = 0

    def identify(self, what):
        self.count += 1
        return str(uuid.uuid5(SPACE, f"{self.org.name}/{what}/{self.count}/{self.random.random()}"))

    def event(self, source, kind, data, expected="stored", **more):
        whole = {"organization_id": self.org.id, "patient_id": self.org.patient(self.random.randrange(self.org.patients)), **data}
        return Message(self.identify("event"), self.org.source(source), kind, whole, self.clock.text(), expected, **more)

    def document(self, kind):
        choices = self.known.get((self.org.language, kind)) or self.known[(self.org.language, "clinical_note")]
        chosen = self.random.choice(choices)
        data = {key: chosen[key] for key in ("text", "turns", "participants", "provenance", "file") if key in chosen}
        data |= {"document_id": self.identify("document"), "revision": 1, "document_type": kind, "language": self.org.language,
                 "occurred_at": self.clock.text()}
        # A number of the day, so that not every passage was seen before.
        note = {"es": f"Nota {self.count} del día.", "en": f"Note {self.count} of the day."}[self.org.language]
        if "text" in data:
            data["text"] += f"\n{note}"
        elif data["turns"]:
            data["turns"] = [*data["turns"], {"speaker": data["turns"][-1]["speaker"], "text": note}]
        return self.event("chat" if kind == "chat_message" else "records", DOCUMENT, data)

    def chat(self):
        """A message of a patient: one or two turns of a sample."""
        message = self.document("chat_message")
        turns = message.data.get("turns", [])
        if len(turns) > 2:
            start = self.random.randrange(len(turns) - 1)
            message.data["turns"] = [turns[start], turns[-1]]
            message.body = json.dumps(message.data, ensure_ascii=False).encode()
        return message

    def signal(self):
        return self.event("chat", SIGNAL, {"metric": self.random.choice(["sleep_hours", "resting_heart_rate"]), "unit": "h",
                                           "value": round(self.random.uniform(4, 9), 1), "trend": "stable", "device": "watch",
                                           "synced_at": self.clock.text()})

    def command(self, name=None):
        name = name or self.random.choice(["privacy_report", "export", "add", "forget"])
        data = {"actor": {"id": str(uuid.uuid5(SPACE, "actor")), "role": "patient"}, "command": name}
        if name == "add":
            data |= {"text": {"es": "Prefiero las citas por la tarde.", "en": "I prefer appointments in the afternoon."}[self.org.language]}
        if name == "forget":
            data |= {"topic": {"es": "trabajo", "en": "work"}[self.org.language], "preview": True}
        return self.event("chat", COMMAND, data)

    def consent(self):
        # Of research only: a denial of memory would change what must be stored.
        return self.event("chat", CONSENT, {"scope": "research", "provision": self.random.choice(["permit", "deny"]), "from": self.clock.text(),
                                            "recorded_by": str(uuid.uuid5(SPACE, "actor"))})

    def profile(self):
        return self.event("records", PROFILE, {
            "actor": str(uuid.uuid5(SPACE, "actor")), "recorded_at": self.clock.text(), "cognitive_state": self.random.randrange(60, 100),
            "conditions": [{"name": self.random.choice(["asthma", "migraine", "hypothyroidism"])}],
            "medications": [{"name": self.random.choice(["sertraline", "levothyroxine"]), "dose": "50 mg", "frequency": "daily"}]})

    # What must be refused

    def malformed(self):
        return self.event("records", DOCUMENT, {}, "malformed", body=b'{"broken": ')

    def unknown_type(self):
        return self.event("records", "anamnesis.unheard.of.v7", {}, "schema_unknown")

    def of_another(self, other):
        """Under this organisation's producer, for another organisation."""
        message = self.document("clinical_note")
        data = message.data | {"organization_id": other.id, "patient_id": other.patient(0)}
        return Message(message.id, message.source, message.kind, data, message.time, "organization_mismatch")

    def not_permitted(self):
        """A clinical note under the producer of chats."""
        message = self.document("clinical_note")
        return Message(message.id, self.org.source("chat"), message.kind, message.data, message.time, "not_permitted")

    def deadly(self):
        """Ends the process that works on it, where the program was built with its failpoints."""
        message = self.document("clinical_note")
        data = message.data | {"text": f"Una palabra que mata: {DEADLY}."}
        data.pop("turns", None)
        return Message(message.id, message.source, message.kind, data, message.time, "crash_suspect")
